#pragma once
/// How the experts of a model are spread over ranks, and how tokens come to them.

#include <cstdint>

#include "workloads/models/token_batch.hpp"

namespace c3::inline workloads {

struct ExpertSetup {
  int ranks = 1;   ///< among which experts are divided (EP)
  int tensor = 0;  ///< ranks that share each weight of an expert (ETP); 0: as many as share the others'
  Dispatch dispatch = Dispatch::alltoall;
  bool fp8_dispatch = false;     ///< tokens travel to their experts in FP8, each 128 numbers with an fp32 scale
  double capacity_factor = 0.0;  ///< tokens of an expert over an even share, the others pass by; 0: all
  bool shared_overlap = false;   ///< shared experts run beside tokens that travel
  std::int64_t padding = 1;      ///< to a multiple of which the tokens of each expert are filled up

  bool operator==(const ExpertSetup&) const = default;
};

}  // namespace c3::workloads
