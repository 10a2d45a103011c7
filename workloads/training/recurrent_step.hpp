#pragma once
/// One training step of a recurrent network, on every rank of a cluster.

#include <cstdint>

#include "gpu/spec.hpp"
#include "workloads/models/recurrent_networks.hpp"
#include "workloads/program/program.hpp"

namespace c3 { inline namespace workloads {

struct RecurrentJob {
  RecurrentNetwork network;
  std::int64_t batch = 1;     ///< sequences of a rank
  std::int64_t sequence = 1;  ///< tokens of source and target together, or frames
  DType dtype = DType::fp16;

  bool operator==(const RecurrentJob&) const = default;
};

/// Stream `compute` runs recurrent_step; where there are several ranks, stream `gradients` sums the
/// gradients of all weights over them in one all-reduce, between the last kernel of the backward pass and the
/// optimizer. Hosts are never late: a library launches a whole layer in one call. Wrong when: gradients are
/// summed while the backward pass goes on.
Program recurrent_program(const RecurrentJob& job, int ranks);

}}  // namespace c3::workloads
