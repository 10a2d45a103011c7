#include "workloads/training/tensor_parallel.hpp"

#include <algorithm>
#include <initializer_list>
#include <string_view>

namespace c3 {
namespace {

bool is_one_of(const std::string& part, std::initializer_list<std::string_view> parts) {
  return std::ranges::find(parts, part) != parts.end();
}

/// Whose weights are split by outputs.
bool by_outputs(const std::string& part) { return is_one_of(part, {"attn.qkv", "mlp.gate_up", "head.logits"}); }
/// Whose weights are split by inputs.
bool by_inputs(const std::string& part) { return is_one_of(part, {"attn.out", "mlp.down"}); }

}  // namespace

PartCollectives collectives_of(const TrainingSetup& setup, const std::string& part, Pass pass) {
  if (setup.tensor_parallel == 1) return {};
  const bool split = setup.sequence_parallel;
  if (pass == Pass::forward)
    return {.gathers = split && by_outputs(part), .reduces = by_inputs(part) || part == "embedding"};
  return {.gathers = split && (by_inputs(part) || part == "embedding"),
          .reduces = by_outputs(part),
          .gathers_input = split && by_outputs(part) && setup.framework.kernels == KernelStyle::megatron};
}

}  // namespace c3
