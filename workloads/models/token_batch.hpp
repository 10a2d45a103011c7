#pragma once
/// The tokens that one GPU runs at once in a training step.

#include <cstdint>

#include "gpu/spec.hpp"
#include "workloads/models/context_split.hpp"

namespace c3::inline workloads {

struct TokenBatch {
  std::int64_t sequences = 1;
  std::int64_t length = 0;   ///< tokens of a sequence, of which this GPU has a part with context parallelism
  std::int64_t between = 0;  ///< tokens that run past the blocks here: all, or this GPU's part of them
  DType dtype = DType::bf16;
  ContextSplit context = {};
  std::int64_t packed_keys = 0;  ///< that a query sees on average; 0: those of its whole sequence

  std::int64_t tokens() const { return sequences * length; }
};

}  // namespace c3::workloads
