#include "collectives/library/rail_kernels.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "collectives/group_layout.hpp"
#include "collectives/library/symmetric_switch.hpp"

namespace c3 { inline namespace collectives {
namespace {

constexpr int kMostChannels = 64;
constexpr double kKiB = 1024.0;
constexpr double kGather = 1024.0 * kKiB;  ///< chunk of a ring's step
constexpr double kScatter = 128.0 * kKiB;  ///< chunk of a rank's sums
constexpr double kGibibyte = 1024.0 * 1024.0 * 1024.0;

/// What the authors count on: GB/s of NVLink, of a NIC, and of one work group that reads; a hop between nodes.
struct Rates {
  double nvlink, nic, by_loads, by_switch;
  double hop;  ///< [us]
};

Rates rates_of(const PublishedFigures& figures) {
  const FabricSpec& fabric = *figures.cluster.fabric;
  const double nic = fabric.nic.raw.value * 1e-9;
  const double hop = figures.table.ring_network[static_cast<std::size_t>(Protocol::simple)];
  if (figures.cluster.gpu.family.tuned_as == TunedGpu::blackwell) return {720.0, nic, 26.6, 8.44, hop};
  return {360.0, nic, 13.7, 4.22, hop};
}

/// Bytes of one rank, rounded up to whole cells.
double bytes_of_rank(const PublishedFigures& figures) {
  return std::ceil(figures.call.bytes.value / figures.ranks / kKiB) * kKiB;
}

int limited(const ChannelLimits& limits, double wanted, double most) {
  if (limits.most > 0) most = std::min(most, static_cast<double>(limits.most));
  return std::max({1, limits.least, static_cast<int>(std::min(wanted, most))});
}

/// An all-gather takes as many work groups as multicast at once within a node.
RailKernel gather_of(const PublishedFigures& figures) {
  const Rates rates = rates_of(figures);
  const double bytes = bytes_of_rank(figures);
  const double gpus = figures.ranks_per_node();
  const bool is_blackwell = figures.cluster.gpu.family.tuned_as == TunedGpu::blackwell;
  const double chunks = std::ceil(bytes / kGather);
  const double others = figures.nodes - 1.0;
  const double on_wires = std::max(bytes * figures.ranks / rates.nvlink, bytes * others / rates.nic) * 1e-3;
  // Stores of a multicast: as those within a node (queryModel_lsa), which reach 0.55 of all peers at once.
  const double of_group = (is_blackwell ? 55.0 : 44.0) * kGibibyte * 0.55 * gpus / (gpus - 1.0);
  return {.time = microseconds(chunks * others * rates.hop + on_wires),
          .channels =
              limited(figures.library.channel_limits, chunks, std::ceil((is_blackwell ? 32.0 : 16.0) / gpus)),
          .by_switch = true,
          .chunk = Bytes{kGather},
          .at_port = BytesPerSecond{of_group},
          .most = BytesPerSecond{std::numeric_limits<double>::infinity()}};
}

/// How often a rank's bytes pass its work groups, its port and its NIC.
struct Passes {
  double groups, port, nic;
};

Passes passes_of(const PublishedFigures& figures, bool by_switch) {
  const double gpus = figures.ranks_per_node();
  const double nodes = figures.nodes;
  const double read = by_switch ? 1.0 : gpus;
  return {read * (nodes - 1.0) + read + nodes - 1.0,
          std::max(by_switch ? gpus : gpus - 1.0, gpus - 1.0) * nodes, nodes - 1.0};
}

RailKernel scatter_of(const PublishedFigures& figures, bool by_switch) {
  const Rates rates = rates_of(figures);
  const Passes passes = passes_of(figures, by_switch);
  const double bytes = bytes_of_rank(figures);
  const double of_group = by_switch ? rates.by_switch : rates.by_loads;
  const double on_wires = std::min(rates.nvlink / passes.port, rates.nic / passes.nic);
  const double enough = std::min(1.0 * kMostChannels, std::ceil(on_wires * passes.groups / of_group));
  const int channels = limited(figures.library.channel_limits, std::ceil(bytes / kScatter), enough);
  const double rate = std::min(channels * of_group / passes.groups, on_wires);
  const double first = std::min(bytes, kScatter * channels);
  const double filling = first * (passes.port / rates.nvlink + passes.nic / rates.nic);
  return {.time = microseconds((bytes / rate + filling) * 1e-3 + rates.hop),
          .channels = channels,
          .by_switch = by_switch,
          .chunk = Bytes{kScatter},
          .at_port = gigabytes(of_group),
          .most = gigabytes(channels * of_group / passes.groups * figures.ranks)};
}

bool has_kernel(const PublishedFigures& figures) {
  if (figures.nodes == 1 || figures.library.rules != TunerRules::nccl || !figures.since(29, 7)) return false;
  const GroupLayout layout =
      layout_of(members_of(figures.call, figures.cluster.ranks()), figures.cluster.node.gpus);
  const TransportSpec& transport = figures.cluster.fabric->transport;
  const bool by_verbs = transport.flag_latency.value <= 0.0 && transport.slice_latency.value <= 0.0 &&
                        figures.passes(Protocol::ll128);
  return layout.is_regular() && layout.members_per_node() > 1 && !figures.over_pcie && by_verbs;
}

}  // namespace

std::optional<RailKernel> rail_kernel(const PublishedFigures& figures) {
  const CollectiveKind kind = figures.call.kind;
  if (!has_kernel(figures)) return std::nullopt;
  const bool in_switch = switch_multicasts(figures);
  if (kind == CollectiveKind::all_gather) return in_switch ? std::optional(gather_of(figures)) : std::nullopt;
  if (kind != CollectiveKind::reduce_scatter) return std::nullopt;
  const RailKernel by_loads = scatter_of(figures, false);
  if (!in_switch || !switch_adds(figures)) return by_loads;
  const RailKernel by_switch = scatter_of(figures, true);
  const auto price = [](const RailKernel& kernel) {
    return kernel.time.value * (1.0 + 0.025 * kernel.channels);
  };
  return price(by_switch) < price(by_loads) ? by_switch : by_loads;
}

}}  // namespace c3::collectives
