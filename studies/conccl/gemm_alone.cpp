#include "studies/conccl/gemm_alone.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "configs/presets/model_reader.hpp"
#include "configs/presets/preset_store.hpp"
#include "gpu/kernel_time.hpp"
#include "gpu/kernels/describe.hpp"
#include "gpu/kernels/gemm/gemm_shape.hpp"

namespace c3 { inline namespace studies {
namespace {

constexpr double kPercent = 100.0;
constexpr std::array<std::string_view, 2> kModels = {"llama-70b", "llama-405b"};
constexpr std::array<std::int64_t, 3> kTokens = {4096, 8192, 16384};

GemmShape projection(const WeightShape& weight, std::int64_t tokens) {
  return {.m = tokens, .n = weight.outputs, .k = weight.inputs, .dtype = DType::bf16};
}

/// Gate and up are one GEMM, or each one of its own.
WeightShape up_of(const WeightShape& gate_up) { return {gate_up.outputs / 2, gate_up.inputs}; }

WeightShape weight(const ModelDimensions& model, std::string_view operation) {
  return weight_of(model, operation).value();
}

}  // namespace

std::vector<GemmShape> compute_bound_gemms() {
  std::vector<GemmShape> gemms;
  for (const std::string_view name : kModels) {
    const ModelDimensions model = load_model(std::string(name));
    std::vector<WeightShape> weights;
    for (const std::string& operation : layer_operations())
      weights.push_back(weight(model, operation));
    weights.push_back(up_of(weight(model, "mlp.gate_up")));
    for (const WeightShape& each : weights) {
      for (const std::int64_t tokens : kTokens)
        gemms.push_back(projection(each, tokens));
    }
  }
  return gemms;
}

GemmShape llama_405b_up() {
  return projection(up_of(weight(load_model("llama-405b"), "mlp.gate_up")), kTokens.front());
}

double slowdown(const GemmShape& gemm, const GpuSpec& gpu, int removed) {
  const auto time_on = [&](int cus) {
    return time_of(gemm, gpu, {.cus = cus, .launch = LaunchCost::device}).time;
  };
  return kPercent * (time_on(gpu.compute.cus() - removed) / time_on(gpu.compute.cus()) - 1.0);
}

Slowdown slowdown(std::span<const GemmShape> gemms, const GpuSpec& gpu, int removed) {
  Slowdown over{.mean = 0.0, .least = slowdown(gemms.front(), gpu, removed)};
  over.greatest = over.least;
  for (const GemmShape& gemm : gemms) {
    const double of_one = slowdown(gemm, gpu, removed);
    over.mean += of_one / static_cast<double>(gemms.size());
    over.least = std::min(over.least, of_one);
    over.greatest = std::max(over.greatest, of_one);
  }
  return over;
}

}}  // namespace c3::studies
