#pragma once
/// What is asked of one collective: the call, who moves its bytes and how, and on whose stream.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "collectives/backends/dma/dma_commands.hpp"
#include "collectives/buffered_message.hpp"
#include "collectives/call.hpp"
#include "collectives/library/method.hpp"
#include "collectives/spec.hpp"
#include "gpu/kernel_launch.hpp"

namespace c3 { inline namespace collectives {

struct CollectivePlan {
  std::string name;  ///< spelled as in the experiment
  CollectiveCall call;
  /// With classes of ranks: all groups for which the call's stands, its own first; nullptr: itself alone.
  std::shared_ptr<const std::vector<std::vector<int>>> groups = nullptr;
  /// For a message, a call of two ranks: which end this is. `buffered` is null when it is both.
  PairEnd end = PairEnd::both;
  BufferedMessage* buffered = nullptr;
  Backend backend = Backend::cu;
  CollectiveMethod method = {};
  CollectiveGrain grain = CollectiveGrain::edge;
  int ring_chunks = 1;  ///< chunks into which a ring divides the data of a step, for passing on
  DmaOptions dma;       ///< only with backend dma
  FusedReduction reduction = FusedReduction::near_memory;  ///< only with backend fused
  int stream = 0;
  int priority = 0;
  int order = 0;           ///< the queue's, see Launch::order
  CuRange range;           ///< CUs of each XCD for its channels
  std::uint64_t draw = 0;  ///< key of its random draws, see Launch::draw
};

}}  // namespace c3::collectives
