#pragma once
/// What copy engines are told: the commands that make up a collective.

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/enum_names.hpp"
#include "collectives/algorithms/algorithm.hpp"
#include "collectives/call.hpp"
#include "collectives/planned_flows.hpp"
#include "collectives/spec.hpp"

namespace c3 { inline namespace collectives {

/// Source: variants and names of DMA-Latte (arXiv 2511.06605).
enum class DmaVariant {
  pcpy,  ///< a copy for each transfer, each lane on an engine of its own, each with its signal
  bcst,  ///< commands that write what they read to two peers
  swap,  ///< commands that exchange two ranks' pieces: one rank of each pair sends both
  b2b,   ///< all copies of a rank back to back on one engine, one signal
};
constexpr auto enum_names(DmaVariant) {
  return std::to_array<EnumName<DmaVariant>>({{"pcpy", DmaVariant::pcpy},
                                              {"bcst", DmaVariant::bcst},
                                              {"swap", DmaVariant::swap},
                                              {"b2b", DmaVariant::b2b}});
}
inline constexpr auto kDmaVariants = enum_values<DmaVariant>();

/// Which host threads create commands and watch signals.
enum class DmaHost {
  gpu,   ///< one for each GPU
  node,  ///< one for all GPUs of the node, as in a single-process benchmark
};
constexpr auto enum_names(DmaHost) {
  return std::to_array<EnumName<DmaHost>>({{"gpu", DmaHost::gpu}, {"node", DmaHost::node}});
}
inline constexpr auto kDmaHosts = enum_values<DmaHost>();

/// How a collective uses copy engines.
struct DmaOptions {
  DmaVariant variant = DmaVariant::pcpy;
  bool prelaunch = false;  ///< commands are queued before the collective begins; engines poll for a trigger
  DmaHost host = DmaHost::gpu;

  bool operator==(const DmaOptions&) const = default;
};

/// Whether ranks of a symmetric collective stay alike.
bool is_symmetric(const DmaOptions& options);

/// Whether one rank of a symmetric collective may stand for all. A host thread of the node makes commands
/// lane by lane, for one rank after another, a few microseconds apart; the last rank stands for all. This does
/// not hold where engines start by themselves: signals then come all at once to the one who sees them.
bool may_fold(const DmaOptions& options);

/// Legs that one command serves at the same time: 1 of a copy, 2 of a broadcast or a swap.
using DmaCommand = std::vector<Leg>;

/// What one doorbell gives an engine of one rank.
struct DmaSubmission {
  int rank = 0;
  int lane = 0;  ///< the rank's engine, before lanes share one
  std::vector<DmaCommand> commands;
};

/// Submissions that are one in the simulation: one, or all of a gang.
struct DmaJob {
  std::vector<DmaSubmission> submissions;
  int hops = 1;
  std::vector<std::uint32_t> after = {};  ///< positions of jobs, all smaller than this one's
};

/// pcpy follows \p flows; the others need a graph of one step, and make of it ceil(k/2) commands for the k
/// peers of a rank (bcst), one command for each pair of ranks (swap), or one submission of k copies (b2b).
std::vector<DmaJob> make_dma_jobs(const TransferGraph& graph, const std::vector<PlannedFlow>& flows,
                                  DmaVariant variant, CollectiveGrain grain);

/// \throws InfeasibleError that begins with \p name when copy engines of \p gpu cannot run \p call so.
void check_dma(std::string_view name, const CollectiveCall& call, Algorithm algorithm, DmaVariant variant,
               const GpuSpec& gpu);

}}  // namespace c3::collectives
