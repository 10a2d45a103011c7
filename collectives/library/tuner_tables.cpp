#include "collectives/library/tuner_tables.hpp"

#include <algorithm>

#include "collectives/library/rccl_tables.hpp"

namespace c3 { inline namespace collectives {
namespace {

constexpr TunerTable kNccl = {.ring_base = {6.6, 14.0, 8.4},
                              .tree_base = {6.8, 14.0, 8.4},
                              .ring_hop = {0.6, 1.9, 3.4},
                              .tree_hop = {0.6, 1.25, 4.0},
                              .ring_pcie = {1.0, 2.5, 5.7},
                              .tree_pcie = {1.0, 1.9, 4.0},
                              .ring_network = {2.7, 4.0, 14.0},
                              .tree_network = {5.0, 8.5, 14.0},
                              .nvls = 25.0,
                              .nvls_network = 18.0,
                              .nvls_tree_network = 20.9,
                              .collnet_hop = 3.7,
                              .collnet_network = 31.0,
                              .shares = nullptr};

/// A release from which on rules are as told; before it they were others.
constexpr LibraryVersion since(int minor, int patch = 0) { return {2, minor, patch}; }

/// kNccl as \p version had it.
TunerTable nccl_table(const LibraryVersion& version) {
  TunerTable table = kNccl;
  if (version < since(28, 9)) table.nvls_tree_network = 14.0;
  if (version < since(23)) {
    const bool slow_trees = version >= since(19);
    table.tree_base[2] = 0.0;
    table.tree_hop[2] = slow_trees ? 28.0 : 4.0;
    table.tree_pcie[2] = slow_trees ? 28.0 : 6.0;
    table.tree_network[2] = slow_trees ? 28.0 : 14.0;
  }
  if (version < since(21)) table.nvls = 23.0;
  if (version < since(19)) {
    table.nvls_tree_network = 19.0;
    table.collnet_hop = 8.0;
    table.collnet_network = 10.7;
  }
  return table;
}

constexpr ChannelCaps kVoltaCaps = {
    {26.5, 18.5, 10.0}, {20.0, 20.0, 20.0}, {20.0, 20.0, 20.0}, {0.0, 0.0, 0.0}, 39.0};
constexpr ChannelCaps kAmpereCaps = {
    {24.0, 23.6, 17.8}, {20.0, 20.0, 20.0}, {20.0, 20.0, 20.0}, {0.0, 0.0, 0.0}, 87.7};
constexpr ChannelCaps kHopperCaps = {
    {38.7, 41.4, 36.0}, {36.7, 36.7, 29.0}, {36.7, 36.7, 36.7}, {0.0, 57.7, 45.5}, 141.0};
constexpr ChannelCaps kBlackwellCaps = {
    {70.0, 42.8, 24.0}, {55.6, 31.67, 20.0}, {40.0, 40.0, 40.0}, {0.0, 96.0, 80.0}, 282.0};
constexpr ChannelCaps kNoCaps = {{1e9, 1e9, 1e9}, {1e9, 1e9, 1e9}, {1e9, 1e9, 1e9}, {0.0, 0.0, 0.0}, 1e9};

/// Before 2.25 Blackwell had Hopper's; then twice those, until parts were measured.
ChannelCaps blackwell_caps(const LibraryVersion& version) {
  if (version < since(25)) return kHopperCaps;
  ChannelCaps caps = kBlackwellCaps;
  if (version < since(30)) caps.nvls_tree[2] = version < since(28, 9) ? 43.1 : 43.8;
  if (version < since(29, 7)) caps.ring_ll128 = {34.5, 34.6, 34.5};
  if (version < since(29)) caps.ring_ll128 = {73.4, 34.6, 73.4};
  if (version < since(28, 7)) caps.ring_ll128 = {73.4, 73.4, 73.4};
  if (version < since(28)) {
    caps.tree = {77.4, 82.8, 72.0};
    caps.tree_ll128 = {73.4, 73.4, 58.0};
  }
  return caps;
}

ChannelCaps nccl_caps(const LibraryVersion& version, TunedGpu gpu) {
  ChannelCaps caps = gpu == TunedGpu::hopper      ? kHopperCaps
                     : gpu == TunedGpu::blackwell ? blackwell_caps(version)
                     : gpu == TunedGpu::ampere    ? kAmpereCaps
                                                  : kVoltaCaps;
  if (version < since(21)) caps.ll = std::min(caps.ll, 87.7);
  return caps;
}

constexpr std::size_t kCorrected = 23;
constexpr std::array<std::array<double, kCorrected>, 3> kTreeCorrection = {
    {{1.0, 1.0, 1.0, 1.0, .9, .8, .7, .7, .7, .7, .6, .5, .4, .4, .5, .6, .7, .8, .9, 1.0, 1.0, 1.0, 1.0},
     {1.0, 1.0, 1.0, 1.0, 1.0, .9, .8, .8, .8, .7, .6, .6, .6, .6, .6, .6, .8, .9, .9, .9, .9, 1.0, 1.0},
     {.9, .9, .9, .9, .9, .9, .9, .8, .7, .6, .6, .5, .5, .5, .5, .6, .7, .8, .7, .7, .8, .9, .9}}};

}  // namespace

TunerTable tuner_table(const CollectiveLibrarySpec& library, TunedGpu gpu) {
  return library.rules == TunerRules::nccl ? nccl_table(library.version) : rccl_table(library.version, gpu);
}

ChannelCaps channel_caps(const CollectiveLibrarySpec& library, TunedGpu gpu) {
  return library.rules == TunerRules::rccl ? kNoCaps : nccl_caps(library.version, gpu);
}

ChannelCaps measured_caps(const CollectiveLibrarySpec& library, TunedGpu gpu) {
  return library.rules == TunerRules::rccl ? kNoCaps : nccl_caps(std::max(library.version, since(28)), gpu);
}

double nvls_efficiency(TunedGpu gpu) {
  if (gpu == TunedGpu::hopper) return 0.85;
  return gpu == TunedGpu::blackwell ? 0.74 : 0.0;
}

double tree_correction(Protocol protocol, int log_size) {
  const auto& shares = kTreeCorrection[static_cast<std::size_t>(protocol)];
  const bool corrected = log_size >= 0 && log_size < static_cast<int>(shares.size());
  return corrected ? shares[static_cast<std::size_t>(log_size)] : 1.0;
}

double nvls_tree_correction(int log_size) {
  return log_size == static_cast<int>(kCorrected) ? 0.9 : tree_correction(Protocol::simple, log_size);
}

}}  // namespace c3::collectives
