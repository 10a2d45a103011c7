#pragma once
/// A ring in a few numbers, where its transfers would be as many as its ranks times its steps.

#include <vector>

#include "collectives/transfer_graph.hpp"

namespace c3 { inline namespace collectives {

/// All ranks send at once in every step, and send on in the next what has come. The first steps add, the others
/// store.
struct TurningRing {
  std::vector<int> order;  ///< each sends to the next, the last to the first
  int lane = 0;
  int steps = 0;
  int adding_steps = 0;
  Bytes first;  ///< bytes that a rank sends in step 0
  Bytes less;   ///< how much less it sends in each step than before

  Bytes bytes(int step) const { return first - less * static_cast<double>(step); }
  TransferOp op(int step) const { return step < adding_steps ? TransferOp::update : TransferOp::store; }
};

}}  // namespace c3::collectives
