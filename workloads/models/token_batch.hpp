#pragma once
/// The tokens that one GPU runs at once in a training step.

#include <cstdint>

#include "base/enum_names.hpp"
#include "gpu/spec.hpp"
#include "workloads/models/context_split.hpp"
#include "workloads/models/precision/precision_setup.hpp"

namespace c3 { inline namespace workloads {

/// How tokens come to experts on other ranks, and back.
enum class Dispatch : std::uint8_t {
  alltoall,   ///< a copy of a token for each of its experts
  allgather,  ///< all tokens come to all ranks of the group; sums of experts' outputs are scattered
  deepep,     ///< a token goes once to each rank that has one of its experts, as with DeepEP
  hybridep,   ///< the same within nodes, once to each other node (NVIDIA's Hybrid-EP)
};
constexpr auto enum_names(Dispatch) {
  return std::to_array<EnumName<Dispatch>>({{"alltoall", Dispatch::alltoall},
                                            {"allgather", Dispatch::allgather},
                                            {"deepep", Dispatch::deepep},
                                            {"hybridep", Dispatch::hybridep}});
}

/// What the experts of one GPU get. "Rows" are tokens, counted once for each expert to which they go.
struct RoutedTokens {
  Dispatch dispatch = Dispatch::alltoall;
  std::int64_t sent = 0;         ///< rows that this GPU's tokens make
  std::int64_t received = 0;     ///< tokens that come, each as often as it is sent here
  std::int64_t rows = 0;         ///< that this GPU's experts run, all together
  std::int64_t multiple_of = 1;  ///< to which the rows of each expert are padded
};

struct TokenBatch {
  std::int64_t sequences = 1;
  std::int64_t length = 0;   ///< tokens of a sequence, of which this GPU has a part with context parallelism
  std::int64_t between = 0;  ///< tokens that run past the blocks here: all, or this GPU's part of them
  DType dtype = DType::bf16;
  ContextSplit context = {};
  std::int64_t packed_keys = 0;  ///< that a query sees on average; 0: those of its whole sequence
  PrecisionSetup precision = {};
  bool weights_stay = true;  ///< between passes: else they are gathered for each, and cast for each
  RoutedTokens routed = {};  ///< of a model with experts

  std::int64_t tokens() const { return sequences * length; }
};

}}  // namespace c3::workloads
