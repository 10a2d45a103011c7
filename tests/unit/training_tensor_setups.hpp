#pragma once
/// A step of two layers over eight ranks, four of them tensor parallel.

#include <cstddef>
#include <string>
#include <vector>

#include "tests/unit/training_setups.hpp"

namespace c3::test {

inline constexpr int kShare = 4, kRanks = 8;
inline constexpr std::size_t kLayers = 2;
inline constexpr Bytes kHidden{2.0 * 256 * 512};  // of all tokens of a micro-batch

inline TrainingSetup parallel(bool sequence, KernelStyle style = KernelStyle::megatron) {
  TrainingSetup setup = gpt_setup(kLayers);
  setup.framework.kernels = style;
  setup.framework.overlaps_tensor = true;
  setup.tensor_parallel = kShare;
  setup.sequence_parallel = sequence;
  return setup;
}

inline std::vector<Placed> in_range(std::vector<Placed> placed, const std::string& range) {
  std::erase_if(placed, [&](const Placed& one) { return one.range != range; });
  return placed;
}

inline double flops(const WrittenStep& step) { return step.facts.hardware_flops().value; }

}  // namespace c3::test
