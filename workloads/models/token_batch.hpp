#pragma once
/// The tokens that one GPU runs at once in a training step.

#include <cstdint>

#include "gpu/spec.hpp"
#include "workloads/models/context_split.hpp"
#include "workloads/models/precision/precision_setup.hpp"

namespace c3::inline workloads {

struct TokenBatch {
  std::int64_t sequences = 1;
  std::int64_t length = 0;   ///< tokens of a sequence, of which this GPU has a part with context parallelism
  std::int64_t between = 0;  ///< tokens that run past the blocks here: all, or this GPU's part of them
  DType dtype = DType::bf16;
  ContextSplit context = {};
  PrecisionSetup precision = {};
  bool weights_stay = true;  ///< between passes: else they are gathered for each, and cast for each

  std::int64_t tokens() const { return sequences * length; }
};

}  // namespace c3::workloads
