#include "collectives/library/tuner_tables.hpp"

namespace c3::inline collectives {
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
                              .nvls_tree_network = 20.9,
                              .shares = nullptr};

constexpr ChannelCaps kVoltaCaps = {{26.5, 18.5, 10.0}, {20.0, 20.0, 20.0}, {0.0, 0.0, 0.0}};
constexpr ChannelCaps kAmpereCaps = {{24.0, 23.6, 17.8}, {20.0, 20.0, 20.0}, {0.0, 0.0, 0.0}};
constexpr ChannelCaps kHopperCaps = {{38.7, 41.4, 36.0}, {36.7, 36.7, 29.0}, {0.0, 57.7, 45.5}};
constexpr ChannelCaps kBlackwellCaps = {{70.0, 42.8, 24.0}, {55.6, 31.67, 20.0}, {0.0, 96.0, 80.0}};
constexpr ChannelCaps kNoCaps = {{1e9, 1e9, 1e9}, {1e9, 1e9, 1e9}, {0.0, 0.0, 0.0}};

constexpr std::array<std::array<double, 23>, 3> kTreeCorrection = {
    {{1.0, 1.0, 1.0, 1.0, .9, .8, .7, .7, .7, .7, .6, .5, .4, .4, .5, .6, .7, .8, .9, 1.0, 1.0, 1.0, 1.0},
     {1.0, 1.0, 1.0, 1.0, 1.0, .9, .8, .8, .8, .7, .6, .6, .6, .6, .6, .6, .8, .9, .9, .9, .9, 1.0, 1.0},
     {.9, .9, .9, .9, .9, .9, .9, .8, .7, .6, .6, .5, .5, .5, .5, .6, .7, .8, .7, .7, .8, .9, .9}}};

// RCCL's model 3: MI250X with four NICs. It offers no ll128, which its tables hold as 0.
constexpr TunerShares kMi250xShares = {
    .tree = {{{0.20, 0.0, 1.75}, {0.20, 0.0, 0.96}}},
    .ring = {{{0.20, 0.0, 1.0}, {0.20, 0.0, 1.0}}},
    .tree_by_size = {{{.1, .1, .1, .1, .1, .1, 1., 1., .2, 1., .9, 1., .6, .4,
                       .6, .4, .3, .3, .3, .3, .3, .2, .2, .2, .2, .2, .2},
                      {},
                      {1., 1., 1., 1., 1., 1., .1, .1, .1, .2, 1., .8, 1., 1.,
                       1., 1., 1., 1., 1., 1., 1., .8, .7, .8, .9, .7, .7}}},
    .ring_by_size = {{{.1, .1, .1, .1, .1, .3, .1, .2, .1, .4, .4, .2, .2, .3,
                       .7, .5, .4, .3, .3, .3, .3, .2, .2, .2, .2, .2, .2},
                      {},
                      {.1, .1, .1, .1, .1, .1, .1, .5, 1., .1, .3, .1, .1, .1,
                       .2, .2, .2, .3, .4, .7, 1., 1., 1., 1., 1., 1., 1.}}}};

constexpr TunerTable kMi250x = {.ring_base = {12.0, 12.0, 17.0},
                                .tree_base = {12.0, 12.0, 17.0},
                                .ring_hop = {0.8, 0.0, 3.6},
                                .tree_hop = {0.8, 0.0, 2.5},
                                .ring_pcie = {2.2, 2.2, 5.7},
                                .tree_pcie = {2.2, 2.2, 5.7},
                                .ring_network = {9.5, 0.0, 19.8},
                                .tree_network = {12.5, 0.0, 22.4},
                                .nvls = 0.0,
                                .nvls_tree_network = 0.0,
                                .shares = &kMi250xShares};

// Model 5: MI300X.
constexpr TunerShares kMi300xShares = {
    .tree = {{{0.06, 0.06, 0.11}, {0.06, 0.06, 0.59}}},
    .ring = {{{0.08, 0.08, 1.0}, {0.08, 0.08, 1.0}}},
    .tree_by_size = {{{.1, .1, .1, .1, .1, .1, 1., 1., 1., 1., 1., .6, 1., .9,
                       1., 1., .1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1},
                      {.1, .1, .1, .1, .1, .1, 1., 1., 1., 1., 1., .6, 1., .9,
                       1., 1., .1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1},
                      {.1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1,
                       .1, .7, 1., 1., 1., 1., 1., .7, .7, .5, .6, .6, .6}}},
    .ring_by_size = {{{.1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1, 1., .2, 1.,
                       .4, .4, .1, .2, .2, .1, .1, .1, .1, .1, .1, .1, .1},
                      {.1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1, 1., .2, 1.,
                       .4, .4, .1, .2, .2, .1, .1, .1, .1, .1, .1, .1, .1},
                      {.1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1,
                       .1, .1, .1, .1, .1, .1, .1, .1, 1., .8, 1., 1., 1.}}}};

constexpr TunerTable kMi300x = {.ring_base = {12.0, 12.0, 17.0},
                                .tree_base = {12.0, 12.0, 17.0},
                                .ring_hop = {0.8, 0.8, 2.1},
                                .tree_hop = {0.9, 0.9, 2.3},
                                .ring_pcie = {2.2, 2.2, 5.7},
                                .tree_pcie = {2.2, 2.2, 5.7},
                                .ring_network = {9.5, 9.5, 320.0},
                                .tree_network = {10.5, 10.5, 25.0},
                                .nvls = 0.0,
                                .nvls_tree_network = 0.0,
                                .shares = &kMi300xShares};

}  // namespace

// Model 6 (MI350, MI355X) has the latencies of model 5 and other shares from 4 to 256 MiB only; it is not kept.
const TunerTable& tuner_table(TunerRules rules, TunedGpu gpu) {
  if (rules == TunerRules::nccl) return kNccl;
  return gpu == TunedGpu::mi250x ? kMi250x : kMi300x;
}

const ChannelCaps& channel_caps(TunerRules rules, TunedGpu gpu) {
  if (rules == TunerRules::rccl) return kNoCaps;
  switch (gpu) {
    case TunedGpu::hopper:
      return kHopperCaps;
    case TunedGpu::blackwell:
      return kBlackwellCaps;
    case TunedGpu::ampere:
      return kAmpereCaps;
    default:
      return kVoltaCaps;
  }
}

double tree_correction(Protocol protocol, int log_size) {
  const auto& shares = kTreeCorrection[static_cast<std::size_t>(protocol)];
  const bool corrected = log_size >= 0 && log_size < static_cast<int>(shares.size());
  return corrected ? shares[static_cast<std::size_t>(log_size)] : 1.0;
}

}  // namespace c3::collectives
