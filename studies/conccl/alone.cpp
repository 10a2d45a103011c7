#include "studies/conccl/alone.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string_view>

#include "base/percent.hpp"
#include "collectives/library/tuner.hpp"
#include "collectives/measure.hpp"
#include "configs/presets/model_reader.hpp"
#include "configs/presets/preset_store.hpp"
#include "gpu/kernel_time.hpp"
#include "gpu/kernels/describe.hpp"
#include "workloads/execute/run.hpp"
#include "workloads/program/written_streams.hpp"

namespace c3 { inline namespace studies {
namespace {

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
    for (const WeightShape& shape : weights) {
      for (const std::int64_t tokens : kTokens)
        gemms.push_back(projection(shape, tokens));
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

Seconds time_on_cus(const Experiment& experiment, const CollectiveCall& call, Algorithm algorithm, int cus) {
  Experiment alone = experiment;
  alone.cluster.gpu.host.launch_skew = Seconds{};
  const std::string stream = "collective";
  alone.program = program_of({{stream, {{std::string(name_of(call.kind)), call}}}}, alone.cluster.ranks());
  StreamPolicy policy;
  policy.method.algorithm = algorithm;
  const Strategy strategy{.name = "alone", .order = {}, .streams = {{stream, policy}}};
  return run_once(alone, strategy, {.cus = {cus}}).time;
}

CopyTimes copy_times(const ClusterSpec& cluster, const CollectiveCall& call, const DmaOptions& dma) {
  const auto on_channels = [&](const MethodWish& wish) {
    return measure_collective(cluster, call, {.method = choose_method(call, cluster, wish)}).time;
  };
  CopyTimes times;
  times.library = on_channels({});
  const bool has_ring = call.kind == CollectiveKind::all_gather;
  times.ring = has_ring ? on_channels({.algorithm = Algorithm::ring}) : times.library;
  times.engines = measure_collective(cluster, call, {.backend = Backend::dma, .dma = dma}).time;
  return times;
}

DmaOptions dma_options(const Experiment& experiment) {
  for (const Strategy& strategy : experiment.strategies) {
    for (const auto& [stream, policy] : strategy.streams) {
      if (policy.backend == Backend::dma) return policy.dma;
    }
  }
  throw std::logic_error("dma_options: no strategy of '" + experiment.name + "' uses copy engines");
}

}}  // namespace c3::studies
