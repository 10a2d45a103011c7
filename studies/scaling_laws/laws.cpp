// A point's step, and the closed forms that it obeys.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "gpu/kernels/gemm/gemm_shape.hpp"
#include "studies/scaling_laws/parts.hpp"
#include "workloads/analysis/projection.hpp"

namespace c3 { inline namespace studies {
namespace {

constexpr int kReplicas = 2;
constexpr std::int64_t kHead = 128;
constexpr double kNumber = 2.0;  // bytes in fp16

bool is_product_with_weights(const std::string& name) {
  return name == "attn.qkv" || name == "attn.out" || name == "mlp.gate_up" || name == "mlp.down";
}

}  // namespace

Experiment experiment_of(const LawPoint& point) {
  const auto set = [](std::string_view key, auto value) { return fmt::format("{}={}", key, value); };
  std::vector<std::string> sets = {
      set("model.hidden", point.hidden),
      set("model.ffn", 4 * point.hidden),
      set("model.heads", point.hidden / kHead),
      set("model.kv_heads", point.hidden / kHead),
      set("training.sequence", point.sequence),
      set("training.micro_batch", point.batch),
      set("training.tensor_parallel", point.tensor_parallel),
      set("node.gpus", kReplicas * point.tensor_parallel),
  };
  if (point.faster > 1) {
    sets.push_back(set("+gpu.flops_scale", point.faster));
    sets.push_back(set("+gpu.hbm_scale", point.faster));
  }
  return ExperimentFile::load(experiment_of_study("scaling_laws", "layer.toml"), sets).make(std::nullopt);
}

// A layer forward: 2 T (12 H^2 + 2 SL H) / t flops, twice as many backward; four all-reduces of T H numbers. A
// product's two gradients: 4 T k n flops for k n numbers.
LawDeviations deviations_of(const LawPoint& point, const Experiment& step) {
  double flops = 0.0, bytes = 0.0, backward = 0.0, weights = 0.0, buckets = 0.0;
  const auto& script = step.program.scripts.front();
  for (const ProfiledOperator& op : profile(step.program, script, step.cluster)) {
    const bool is_of_layer = op.name.starts_with("attn.") || op.name.starts_with("mlp.");
    if (op.name.starts_with("bucket") && op.is_collective()) buckets += op.bytes.value;
    if (!is_of_layer) continue;
    if (op.is_product()) flops += op.flops.value;
    if (op.is_collective()) bytes += op.bytes.value;
    if (!op.is_product() || !is_product_with_weights(op.name)) continue;
    if (op.range.starts_with("backward")) {
      backward += op.flops.value;
      continue;
    }
    const auto* gemm = shape_of<GemmShape>(script.streams[op.place.stream][op.place.operation]);
    weights += kNumber * static_cast<double>(gemm->n * gemm->k);
  }
  const auto tokens = static_cast<double>(point.sequence * point.batch);
  const auto hidden = static_cast<double>(point.hidden), sequence = static_cast<double>(point.sequence);
  const double edge = 3.0 * (6.0 * hidden + sequence) / (static_cast<double>(point.tensor_parallel) * kNumber);
  const double slack = 4.0 * tokens / kNumber;
  return {.edge = std::abs(flops / bytes / edge - 1.0),
          .slack = std::abs(backward / weights / slack - 1.0),
          .buckets = buckets / weights - 1.0};
}

}}  // namespace c3::studies
