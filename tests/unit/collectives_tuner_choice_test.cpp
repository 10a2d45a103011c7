// Which method NCCL chooses: a table of its choices by release, hardware and size.
//
// The table was worked out apart from the code under test, by a script of the rules in ncclTopoTuneModel and
// ncclTopoGetAlgoTime (src/graph/tuning.cc of NCCL 2.18.6, 2.21.5, 2.26.2, 2.27.3, 2.28.9 and 2.30.7) and the
// graphs of collectives_topology_search_test.cpp. As an example, eight H100, 2.30.7, all-reduce of 2 MiB: ring
// LL 6.6 + 14 x 0.6 + 2097152 B / (141 x 8/14 GB/s) = 41.0 us, NVLS 25 + 2097152 B / (8 x 59.5 x 8/14 GB/s)
// = 32.7 us, so NVLS; of 1 MiB 28.0 and 28.9 us, so ring LL.

#include <doctest/doctest.h>
#include "collectives/library/tuner.hpp"

#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/fabrics.hpp"
#include "tests/support/gpu_families.hpp"

using namespace c3;
using namespace c3::literals;
using namespace c3::test;

namespace {

struct Choice {
  int up_to;  ///< log2 of the largest size
  std::string_view method;
};

struct Row {
  std::string_view system;
  LibraryVersion version;
  int nodes;
  CollectiveKind kind;
  std::vector<Choice> choices;  ///< from 1 KiB on
};

// clang-format off
const std::vector<Row> kRows{
    {"hopper", {2, 18, 6}, 2, CollectiveKind::all_reduce, {{17, "tree ll"}, {20, "tree ll128"}, {32, "nvls_tree simple"}}},
    {"hopper", {2, 21, 5}, 1, CollectiveKind::all_reduce, {{20, "ring ll"}, {32, "nvls simple"}}},
    {"hopper", {2, 21, 5}, 2, CollectiveKind::all_reduce, {{17, "tree ll"}, {19, "tree ll128"}, {32, "nvls_tree simple"}}},
    {"hopper", {2, 26, 2}, 2, CollectiveKind::all_reduce, {{17, "tree ll"}, {19, "tree ll128"}, {32, "nvls_tree simple"}}},
    {"hopper", {2, 26, 2}, 4, CollectiveKind::all_reduce, {{17, "tree ll"}, {20, "tree ll128"}, {28, "nvls_tree simple"}, {32, "ring simple"}}},
    {"hopper", {2, 30, 7}, 1, CollectiveKind::all_reduce, {{20, "ring ll"}, {32, "nvls simple"}}},
    {"hopper", {2, 30, 7}, 1, CollectiveKind::all_gather, {{22, "ring ll"}, {24, "ring ll128"}, {32, "ring simple"}}},
    {"hopper", {2, 30, 7}, 1, CollectiveKind::broadcast, {{20, "ring ll"}, {32, "ring simple"}}},
    {"hopper", {2, 30, 7}, 2, CollectiveKind::all_reduce, {{17, "tree ll"}, {21, "tree ll128"}, {32, "nvls_tree simple"}}},
    {"hopper", {2, 30, 7}, 2, CollectiveKind::all_gather, {{19, "ring ll"}, {25, "ring ll128"}, {32, "ring simple"}}},
    {"hopper", {2, 30, 7}, 2, CollectiveKind::broadcast, {{18, "ring ll"}, {22, "ring ll128"}, {32, "ring simple"}}},
    {"hopper", {2, 30, 7}, 4, CollectiveKind::all_reduce, {{17, "tree ll"}, {23, "tree ll128"}, {32, "nvls_tree simple"}}},
    {"hopper", {2, 30, 7}, 4, CollectiveKind::all_gather, {{19, "ring ll"}, {26, "ring ll128"}, {32, "ring simple"}}},
    {"hopper", {2, 30, 7}, 4, CollectiveKind::broadcast, {{17, "ring ll"}, {22, "ring ll128"}, {32, "ring simple"}}},
    {"blackwell", {2, 27, 3}, 1, CollectiveKind::all_reduce, {{21, "ring ll"}, {32, "nvls simple"}}},
    {"blackwell", {2, 27, 3}, 1, CollectiveKind::all_gather, {{23, "ring ll"}, {25, "ring ll128"}, {32, "ring simple"}}},
    {"blackwell", {2, 27, 3}, 1, CollectiveKind::broadcast, {{21, "ring ll"}, {32, "ring simple"}}},
    {"blackwell", {2, 28, 9}, 2, CollectiveKind::all_reduce, {{17, "tree ll"}, {20, "tree ll128"}, {32, "nvls_tree simple"}}},
    {"blackwell", {2, 30, 7}, 1, CollectiveKind::all_reduce, {{21, "ring ll"}, {32, "nvls simple"}}},
    {"blackwell", {2, 30, 7}, 1, CollectiveKind::all_gather, {{23, "ring ll"}, {24, "ring ll128"}, {32, "ring simple"}}},
    {"blackwell", {2, 30, 7}, 1, CollectiveKind::broadcast, {{21, "ring ll"}, {32, "ring simple"}}},
    {"blackwell", {2, 30, 7}, 2, CollectiveKind::all_reduce, {{17, "tree ll"}, {21, "tree ll128"}, {32, "nvls_tree simple"}}},
    {"blackwell", {2, 30, 7}, 2, CollectiveKind::all_gather, {{19, "ring ll"}, {25, "ring ll128"}, {32, "ring simple"}}},
    {"blackwell", {2, 30, 7}, 2, CollectiveKind::broadcast, {{18, "ring ll"}, {23, "ring ll128"}, {32, "ring simple"}}},
    {"ampere", {2, 30, 7}, 1, CollectiveKind::all_reduce, {{21, "ring ll"}, {24, "ring ll128"}, {32, "ring simple"}}},
    {"ampere", {2, 30, 7}, 1, CollectiveKind::all_gather, {{21, "ring ll"}, {23, "ring ll128"}, {32, "ring simple"}}},
    {"ampere", {2, 30, 7}, 1, CollectiveKind::broadcast, {{19, "ring ll"}, {32, "ring simple"}}},
    {"rack", {2, 30, 7}, 20, CollectiveKind::all_reduce, {{17, "tree ll"}, {32, "nvls_tree simple"}}},
    {"rack", {2, 30, 7}, 20, CollectiveKind::all_gather, {{24, "ring ll"}, {32, "ring ll128"}}},
    {"rack", {2, 30, 7}, 20, CollectiveKind::broadcast, {{17, "ring ll"}, {24, "ring ll128"}, {32, "ring simple"}}},
};
// clang-format on

ClusterSpec cluster_of(const Row& row) {
  const bool is_rack = row.system == "rack";
  const bool is_ampere = row.system == "ampere";
  const int gpus = is_rack ? 72 : 8;
  ClusterSpec cluster = mi300x_like_cluster();
  cluster.gpu.family = is_ampere ? ampere() : row.system == "hopper" ? hopper() : blackwell();
  cluster.node = switched(gpus);
  cluster.node.switch_reduces = !is_ampere;
  cluster.node.nic_slots = gpus;
  cluster.node.pcie = node_of_four().pcie;
  cluster.node.pcie.raw = 63.0_GBps;
  cluster.nodes = row.nodes;
  cluster.fabric = one_switch(gpus);
  cluster.fabric->nic.raw = 50.0_GBps;
  CollectiveLibrarySpec& library = cluster.library;
  library.rules = TunerRules::nccl;
  library.version = row.version;
  library.host_processor = is_rack ? HostProcessor::arm : HostProcessor::intel;
  library.ring_plateau = 1.4;
  library.tuner_bandwidth = is_ampere ? 240.0_GBps : row.system == "hopper" ? 370.8_GBps : 721.8_GBps;
  library.channels = is_ampere || row.system == "hopper" ? 24 : 32;
  library.nvls_channels = is_ampere ? 0 : 16;
  library.ll = library.ll128 = library.simple;
  return cluster;
}

}  // namespace

TEST_CASE("NCCL's choice is that of the tuning source of its release") {
  for (const Row& row : kRows) {
    const ClusterSpec cluster = cluster_of(row);
    auto choice = row.choices.begin();
    for (int power = 10; power <= 32; ++power) {
      if (power > choice->up_to) ++choice;
      CollectiveCall call{.kind = row.kind, .bytes = Bytes{std::exp2(power)}};
      const CollectiveMethod method = choose_method(call, cluster);
      CAPTURE(row.system);
      CAPTURE(name_of(row.version));
      CAPTURE(row.nodes);
      CAPTURE(name_of(row.kind));
      CAPTURE(power);
      CHECK(std::string(name_of(method.algorithm)) + " " + std::string(name_of(method.protocol)) ==
            choice->method);
    }
  }
}
