// Which method NCCL chooses: a table of its choices by release, hardware and size.
//
// The table was worked out apart from the code under test, by a script of the rules in ncclTopoTuneModel and
// ncclTopoGetAlgoTime (src/graph/tuning.cc of NCCL 2.18.6, 2.21.5, 2.26.2, 2.27.3, 2.28.9 and 2.30.7) and the
// graphs of collectives_topology_search_test.cpp. As an example, eight H100, 2.30.7, all-reduce of 2 MiB: ring
// LL 6.6 + 14 x 0.6 + 2097152 B / (141 x 8/14 GB/s) = 41.0 us, NVLS 25 + 2097152 B / (8 x 59.5 x 8/14 GB/s)
// = 32.7 us, so NVLS; of 1 MiB 28.0 and 28.9 us, so ring LL.

#include <doctest/doctest.h>
#include "collectives/library/tuner.hpp"

#include <string_view>
#include <vector>

#include "tests/support/fabrics.hpp"
#include "tests/support/gpu_families.hpp"
#include "tests/support/method_choices.hpp"

namespace c3::collectives_tuner_choice_test {

using namespace literals;
using namespace test;

namespace {

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
    CAPTURE(row.system);
    CAPTURE(name_of(row.version));
    CAPTURE(row.nodes);
    check_choices(cluster, row.kind, row.choices);
  }
}

TEST_CASE("from 2.24 on NCCL puts rings of fp8 over more than eight GPUs last") {
  // Four nodes of H100, 4 GiB: 2.26.2 takes a ring, then a tree; the switch does not add fp8.
  const auto chosen = [](LibraryVersion version, int nodes, std::optional<DType> dtype, CollectiveKind kind) {
    const ClusterSpec cluster = cluster_of({"hopper", version, nodes, kind, {}});
    return chosen_method(cluster, {.kind = kind, .bytes = 4.0_GiB, .dtype = dtype});
  };
  const auto sum = CollectiveKind::all_reduce;
  CHECK(chosen({2, 26, 2}, 4, DType::bf16, sum) == "ring simple");
  CHECK(chosen({2, 26, 2}, 4, DType::fp8, sum) == "tree simple");
  CHECK(chosen({2, 23, 4}, 4, DType::fp8, sum) == chosen({2, 23, 4}, 4, DType::bf16, sum));
  CHECK(chosen({2, 26, 2}, 4, DType::fp8, CollectiveKind::all_gather) == "ring simple");  // it has no other
  CHECK(chosen({2, 26, 2}, 1, DType::fp8, CollectiveKind::all_gather) == "ring simple");
}

TEST_CASE("NCCL has LL128 on Blackwell from 2.25 on") {
  const auto has_ll128 = [](std::string_view system, LibraryVersion version) {
    const CollectiveKind kind = CollectiveKind::all_gather;
    const ClusterSpec cluster = cluster_of({system, version, 1, kind, {}});
    return expected_time({.kind = kind, .bytes = 8.0_MiB}, Algorithm::ring, Protocol::ll128, cluster)
        .has_value();
  };
  CHECK_FALSE(has_ll128("blackwell", {2, 24, 3}));
  CHECK(has_ll128("blackwell", {2, 25, 1}));
  CHECK(has_ll128("hopper", {2, 24, 3}));
}

}  // namespace c3::collectives_tuner_choice_test
