#pragma once
/// How the experts of a model are spread over ranks, and how tokens come to them.

#include <cstdint>
#include <vector>

#include "base/enum_names.hpp"

#include "workloads/models/token_batch.hpp"

namespace c3 { inline namespace workloads {

/// How tokens are spread over experts.
enum class Routing : std::uint8_t {
  balanced,   ///< each gets as many
  dirichlet,  ///< shares are drawn, of each layer and replica by themselves
  histogram,  ///< shares are given, as somebody measured them
};
constexpr auto enum_names(Routing) {
  return std::to_array<EnumName<Routing>>(
      {{"balanced", Routing::balanced}, {"dirichlet", Routing::dirichlet}, {"histogram", Routing::histogram}});
}

struct ExpertSetup {
  int ranks = 1;   ///< among which experts are divided (EP)
  int tensor = 0;  ///< ranks that share each weight of an expert (ETP); 0: as many as share the others'
  Dispatch dispatch = Dispatch::alltoall;
  bool fp8_dispatch = false;     ///< tokens travel to their experts in FP8, each 128 numbers with an fp32 scale
  double capacity_factor = 0.0;  ///< tokens of an expert over an even share, the others pass by; 0: all
  bool shared_overlap = false;   ///< shared experts run beside tokens that travel
  bool micro_batch_overlap = false;  ///< so do kernels of another micro-batch
  /// With that, gradients of weights are made after gradients of tokens have left (Megatron-Core:
  /// delay_wgrad_compute).
  bool delayed_weight_gradients = false;
  std::int64_t padding = 1;  ///< to a multiple of which the tokens of each expert are filled up
  Routing routing = Routing::balanced;
  double concentration = 10.0;      ///< of Routing::dirichlet, of each expert: the smaller, the less even
  std::int64_t routing_seed = 1;    ///< of Routing::dirichlet
  std::vector<double> shares = {};  ///< of Routing::histogram: of each expert, in any unit
  int node_ranks = 0;               ///< of a node, which share its links; 0: one node has all

  bool operator==(const ExpertSetup&) const = default;
};

}}  // namespace c3::workloads
