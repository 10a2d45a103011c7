#include "studies/jitq/step.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "configs/jobs/experiment_reader.hpp"
#include "configs/presets/model_reader.hpp"
#include "configs/presets/preset_store.hpp"
#include "gpu/kernels/attention/attention_shape.hpp"
#include "gpu/kernels/gemm/gemm_shape.hpp"
#include "gpu/kernels/operator_table.hpp"
#include "gpu/pim.hpp"
#include "workloads/program/written_streams.hpp"

namespace c3 { inline namespace studies {
namespace {

constexpr DType kWide = DType::bf16;  // of activations
constexpr std::array<std::string_view, 4> kProducts = {"attn.qkv", "attn.out", "mlp.gate_up", "mlp.down"};

VectorOp format_of(const JitStep& step) {
  return step.is_mx6 ? VectorOp::quantize_mx6 : VectorOp::quantize_mx9;
}

bool is_just_in_time(const JitStep& step) {
  return step.copies == WeightCopies::by_gpu || step.copies == WeightCopies::in_memory;
}

/// Writes streams: "compute", "copies" where they are made just in time, "gradients" where there are replicas.
class StepAuthor {
 public:
  StepAuthor(const JitStep& step, const ClusterSpec& cluster)
      : step_(step), hbm_(cluster.gpu.hbm), model_(load_model(step.model)) {}

  std::vector<WrittenStream> write() {
    for (std::int64_t layer = 0; layer < step_.layers; ++layer)
      forward();
    for (std::int64_t layer = step_.layers; layer-- > 0;)
      backward();
    update();
    std::vector<WrittenStream> streams{std::move(compute_)};
    if (is_just_in_time(step_)) streams.push_back(std::move(copies_));
    if (step_.gpus > 1) streams.push_back(std::move(gradients_));
    return streams;
  }

 private:
  std::int64_t tokens() const { return step_.sequences * step_.sequence; }
  static WeightShape shape_of(const ModelDimensions& model, std::string_view product) {
    return weight_of(model, product).value();
  }
  WeightShape weight(std::string_view product) const { return shape_of(model_, product); }

  void run(std::string name, Operator op) { compute_.operations.push_back({std::move(name), std::move(op)}); }
  void vector(std::string name, VectorOp op, std::int64_t cols, Pass pass = Pass::forward) {
    run(std::move(name),
        VectorShape{.chain = op, .rows = tokens(), .cols = cols, .dtype = kWide, .pass = pass});
  }
  void wait(WrittenStream& stream, const std::string& event) {
    stream.operations.push_back({"wait " + event, WrittenWait{event}});
  }
  void record(WrittenStream& stream, const std::string& event) {
    stream.operations.push_back({"record " + event, WrittenRecord{event}});
  }

  /// Makes the copy that the next product reads as soon as a buffer is free, and lets that product wait for it.
  void need_copy(std::string_view product) {
    if (!is_just_in_time(step_)) return;
    const WeightShape matrix = weight(product);
    const VectorShape cast{
        .chain = format_of(step_), .rows = matrix.outputs, .cols = matrix.inputs, .dtype = DType::fp32};
    if (used_ >= step_.buffers) wait(copies_, fmt::format("used {}", used_ - step_.buffers));
    const std::string name = fmt::format("copy of {}", product);
    if (step_.copies == WeightCopies::in_memory) {
      copies_.operations.push_back({name, in_memory(cast, hbm_)});
    } else {
      copies_.operations.push_back({name, cast});
    }
    record(copies_, fmt::format("copy {}", used_));
    wait(compute_, fmt::format("copy {}", used_));
  }
  void used_copy() {
    if (is_just_in_time(step_)) record(compute_, fmt::format("used {}", used_++));
  }

  GemmShape gemm(std::string_view product) const {
    const WeightShape matrix = weight(product);
    return {.m = tokens(), .n = matrix.outputs, .k = matrix.inputs, .dtype = DType::fp8};
  }

  void product(std::string_view name) {
    vector(fmt::format("cast input of {}", name), VectorOp::quantize_mx, weight(name).inputs);
    need_copy(name);
    run(std::string(name), gemm(name));
    used_copy();
  }

  // One copy of the output's gradient serves the gradient of the input, the other that of the weight.
  void gradients(std::string_view name) {
    const auto [of_input, of_weight] = c3::backward(gemm(name));
    vector(fmt::format("cast gradient of {}", name), VectorOp::quantize_mx_both, weight(name).outputs);
    need_copy(name);
    run(fmt::format("{} input gradient", name), of_input);
    used_copy();
    run(fmt::format("{} weight gradient", name), of_weight);
    if (step_.gpus == 1) return;
    const std::string made = fmt::format("gradient {}", reduced_++);
    record(compute_, made);
    wait(gradients_, made);
    const Bytes bytes = element_size(kWide) * numbers(name);
    gradients_.operations.push_back(
        {fmt::format("sum gradient of {}", name),
         CollectiveCall{.kind = CollectiveKind::all_reduce, .bytes = bytes, .dtype = kWide}});
  }

  AttentionShape attention(Pass pass) const {
    return {.batch = step_.sequences,
            .heads = model_.heads,
            .kv_heads = model_.kv_heads,
            .queries = step_.sequence,
            .keys = step_.sequence,
            .head_dim = model_.head_dim(),
            .causal = model_.structure == Structure::decoder,
            .dtype = kWide,
            .pass = pass};
  }
  VectorOp norm() const { return model_.norm == Norm::rmsnorm ? VectorOp::rmsnorm : VectorOp::layernorm; }
  void activation(Pass pass) {
    vector("activation", VectorOp::gelu, weight("mlp.down").inputs, pass);
    if (model_.gated) vector("gate", VectorOp::mul, weight("mlp.down").inputs, pass);
  }

  void forward() {
    vector("norm of attention", norm(), model_.hidden);
    product("attn.qkv");
    run("attention", attention(Pass::forward));
    product("attn.out");
    vector("residual", VectorOp::add, model_.hidden);
    vector("norm of mlp", norm(), model_.hidden);
    product("mlp.gate_up");
    activation(Pass::forward);
    product("mlp.down");
    vector("residual", VectorOp::add, model_.hidden);
  }

  void backward() {
    gradients("mlp.down");
    activation(Pass::backward);
    gradients("mlp.gate_up");
    vector("norm of mlp", norm(), model_.hidden, Pass::backward);
    vector("residual", VectorOp::add, model_.hidden);
    gradients("attn.out");
    run("attention", attention(Pass::backward));
    gradients("attn.qkv");
    vector("norm of attention", norm(), model_.hidden, Pass::backward);
    vector("residual", VectorOp::add, model_.hidden);
  }

  double numbers(std::string_view product) const {
    const WeightShape matrix = weight(product);
    return static_cast<double>(matrix.outputs) * static_cast<double>(matrix.inputs);
  }

  // All ranks have all parameters.
  void update() {
    if (step_.gpus > 1) {
      record(gradients_, "gradients summed");
      wait(compute_, "gradients summed");
    }
    for (std::int64_t layer = 0; layer < step_.layers; ++layer) {
      for (const std::string_view product : kProducts) {
        const WeightShape matrix = weight(product);
        VectorShape shape{
            .chain = VectorOp::adam, .rows = matrix.outputs, .cols = matrix.inputs, .dtype = DType::fp32};
        run(fmt::format("update {}", product), shape);
        if (step_.copies != WeightCopies::updated) continue;
        shape.chain = step_.is_mx6 ? VectorOp::quantize_mx6_both : VectorOp::quantize_mx9_both;
        run(fmt::format("copies of {}", product), shape);
      }
    }
  }

  const JitStep& step_;
  const HbmSpec& hbm_;
  ModelDimensions model_;
  WrittenStream compute_{.name = "compute", .operations = {}};
  WrittenStream copies_{.name = "copies", .operations = {}};
  WrittenStream gradients_{.name = "gradients", .operations = {}};
  int used_ = 0;     ///< copies
  int reduced_ = 0;  ///< gradients
};

}  // namespace

Experiment experiment_of(const JitStep& step) {
  const std::vector<std::string> sets = {fmt::format("+node.gpus={}", step.gpus),
                                         fmt::format("+gpu.pim_units={}", step.amplification)};
  Experiment experiment;
  experiment.name = "jitq";
  experiment.cluster = load_cluster("mi300x-8", sets);
  experiment.program = program_of(StepAuthor(step, experiment.cluster).write(), experiment.cluster.ranks());
  experiment.strategies = {{.name = "default", .order = {}, .streams = {}}};
  experiment.measure.kernel_grain = experiment.measure.vector_grain = KernelGrain::fluid;
  experiment.measure.collective_grain = CollectiveGrain::gang;
  return experiment;
}

double held_bytes_of_copies(const JitStep& step) {
  const ModelDimensions model = load_model(step.model);
  double all = 0.0, largest = 0.0;
  for (const std::string_view product : kProducts) {
    const WeightShape matrix = weight_of(model, product).value();
    const VectorShape cast{
        .chain = format_of(step), .rows = matrix.outputs, .cols = matrix.inputs, .dtype = DType::fp32};
    const double bytes = output_bytes(cast).value;
    all += 2.0 * bytes;  // along rows and along columns
    largest = std::max(largest, bytes);
  }
  return is_just_in_time(step) ? step.buffers * largest : all * static_cast<double>(model.layers);
}

}}  // namespace c3::studies
