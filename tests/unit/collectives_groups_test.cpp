// All ranks in groups: who is in which, what is refused, and when one rank stands for all.

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "collectives/algorithms/algorithm.hpp"
#include "collectives/backends/entry.hpp"
#include "collectives/library/tuner.hpp"
#include "configs/jobs/experiment_reader.hpp"
#include "engine/errors.hpp"
#include "tests/support/bytes_sent.hpp"
#include "tests/support/clusters.hpp"

namespace c3::collectives_groups_test {

using namespace literals;

namespace {

using Ranks = std::vector<int>;

CollectiveCall call_in(RankGroups groups, CollectiveKind kind = CollectiveKind::all_reduce) {
  CollectiveCall call{.kind = kind, .bytes = 64.0_MiB};
  call.groups = groups;
  return call;
}

std::string refusal(const CollectiveCall& call) {
  try {
    calls_by_group(call, 8);
  } catch (const InfeasibleError& error) {
    return error.what();
  }
  return "accepted";
}

}  // namespace

TEST_CASE("members of a group are a stride apart, within a block of size x stride ranks") {
  CHECK(group_of({4, 1}, 0) == Ranks{0, 1, 2, 3});
  CHECK(group_of({4, 1}, 5) == Ranks{4, 5, 6, 7});
  CHECK(group_of({2, 4}, 5) == Ranks{1, 5});
  CHECK(group_of({4, 2}, 3) == Ranks{1, 3, 5, 7});
  CHECK(group_of({2, 2}, 6) == Ranks{4, 6});  // the second block is 4 .. 7
  CHECK(group_of({2, 2}, 3) == Ranks{1, 3});
}

TEST_CASE("groups of a call: every rank is in one, the one of its number") {
  std::vector<Ranks> groups;
  for (const CollectiveCall& call : calls_by_group(call_in({2, 2}), 8)) {
    CHECK_FALSE(call.groups);
    groups.push_back(call.ranks);
  }
  CHECK(groups == std::vector<Ranks>{{0, 2}, {1, 3}, {4, 6}, {5, 7}});
  for (const RankGroups shape : {RankGroups{2, 1}, RankGroups{3, 1}, RankGroups{3, 4}, RankGroups{2, 6},
                                 RankGroups{6, 2}, RankGroups{24, 1}}) {
    const std::vector<CollectiveCall> calls = calls_by_group(call_in(shape), 24);
    CHECK(static_cast<int>(calls.size()) == 24 / shape.size);
    for (int rank = 0; rank < 24; ++rank)
      CHECK(calls.at(static_cast<std::size_t>(group_number(shape, rank))).ranks == group_of(shape, rank));
  }
}

TEST_CASE("a call without groups is itself, and one in groups has as many members as a group") {
  CollectiveCall call{.kind = CollectiveKind::all_reduce, .bytes = 1.0_MiB};
  CHECK(calls_by_group(call, 8) == std::vector<CollectiveCall>{call});
  CHECK(member_count(call, 8) == 8);
  call.ranks = {3, 1, 2};
  CHECK(calls_by_group(call, 8) == std::vector<CollectiveCall>{call});
  CHECK(member_count(call, 8) == 3);
  CHECK(member_count(call_in({4, 2}), 8) == 4);
  CHECK(members_of(call_in({4, 2}), 8) == Ranks{0, 2, 4, 6});
}

TEST_CASE("groups with a mistake are refused with what is wrong") {
  CHECK(refusal(call_in({4, 2})) == "accepted");
  CHECK(refusal(call_in({3, 1})) == "all_reduce: groups of 3 ranks that are 1 apart do not divide 8 ranks");
  CHECK(refusal(call_in({4, 4})) == "all_reduce: groups of 4 ranks that are 4 apart do not divide 8 ranks");
  constexpr int kMost = std::numeric_limits<int>::max();
  CHECK(refusal(call_in({kMost, kMost})).starts_with("all_reduce: groups of 2147483647 ranks"));
  CHECK(refusal(call_in({1, 1})) == "all_reduce: a group needs at least two ranks, not 1");
  CHECK(refusal(call_in({2, 0})) == "all_reduce: members of a group are at least 1 apart, not 0");
  CHECK(refusal(call_in({4, 1}, CollectiveKind::broadcast)) ==
        "broadcast: has one root and supports one group (ranks), not several (groups)");
  CollectiveCall both = call_in({4, 1});
  both.ranks = {0, 1, 2, 3};
  CHECK(refusal(both) == "all_reduce: takes either one group (ranks) or several (groups), not both");
}

TEST_CASE("groups are alike on one mesh or switch: directly, along rings, in the switch") {
  for (const NodeTopology topology : {NodeTopology::full_mesh, NodeTopology::switched}) {
    const ClusterSpec node = test::nodes_of(topology, 1, 8);
    for (const RankGroups groups : {RankGroups{2, 1}, RankGroups{4, 1}, RankGroups{4, 2}, RankGroups{2, 4}}) {
      CHECK(is_symmetric(call_in(groups), Algorithm::direct, node));
      CHECK(is_symmetric(call_in(groups), Algorithm::ring, node));
      CHECK(is_symmetric(call_in(groups), Algorithm::nvls, node));
      CHECK_FALSE(is_symmetric(call_in(groups), Algorithm::tree, node));
      const bool switched = topology == NodeTopology::switched;
      CHECK(is_symmetric(call_in(groups), Algorithm::halving_doubling, node) == switched);
    }
    CollectiveCall uneven = call_in({4, 1}, CollectiveKind::all_to_all_v);
    uneven.sends.assign(16, 1.0_MiB);
    CHECK_FALSE(is_symmetric(uneven, Algorithm::direct, node));
  }
}

TEST_CASE("groups over nodes are alike where each is within a node, or has a GPU of every so many nodes") {
  const ClusterSpec nodes = test::nodes_of(NodeTopology::switched, 4, 8);
  const auto folds = [&](RankGroups groups, Algorithm algorithm) {
    return is_symmetric(call_in(groups), algorithm, nodes);
  };
  for (const RankGroups groups : {RankGroups{8, 1}, RankGroups{2, 4}, RankGroups{4, 8}, RankGroups{2, 16}}) {
    CHECK(folds(groups, Algorithm::direct));
    CHECK(folds(groups, Algorithm::ring));
  }
  for (const RankGroups groups : {RankGroups{16, 1}, RankGroups{8, 4}, RankGroups{2, 8}, RankGroups{16, 2}}) {
    CHECK_FALSE(folds(groups, Algorithm::direct));
    CHECK_FALSE(folds(groups, Algorithm::ring));
  }
  CHECK(folds({4, 8}, Algorithm::pat));
  CHECK_FALSE(folds({8, 1}, Algorithm::pat));
  CHECK(folds({8, 1}, Algorithm::nvls));
  CHECK_FALSE(folds({4, 8}, Algorithm::nvls));
  CHECK(folds({32, 1}, Algorithm::direct));  // one group of all
  CHECK_FALSE(folds({32, 1}, Algorithm::ring));
}

TEST_CASE("a library chooses for as many ranks as a group has") {
  const ClusterSpec cluster = load_cluster("h100-sxm-8");
  CollectiveCall alone = call_in({4, 2});
  alone.groups.reset();
  for (const RankGroups groups : {RankGroups{2, 4}, RankGroups{4, 2}, RankGroups{8, 1}}) {
    alone.ranks = group_of(groups, 0);
    for (const Backend backend : {Backend::cu, Backend::dma})
      CHECK(default_algorithm(call_in(groups), backend, cluster) == default_algorithm(alone, backend, cluster));
    for (const Protocol protocol : kProtocols) {
      const auto expected = expected_time(alone, Algorithm::ring, protocol, cluster);
      REQUIRE(expected);
      CHECK(expected_time(call_in(groups), Algorithm::ring, protocol, cluster) == expected);
    }
  }
  CHECK(choose_method(call_in({2, 4}), cluster).algorithm == Algorithm::ring);  // in the switch never with two
  CHECK(choose_method(call_in({8, 1}), cluster).algorithm == Algorithm::nvls);
}

TEST_CASE("the graph of a rank that stands for all has its own group's transfers") {
  const ClusterSpec cluster = test::nodes_of(NodeTopology::full_mesh, 1, 8);
  for (const Algorithm algorithm : {Algorithm::direct, Algorithm::ring}) {
    const TransferGraph graph = make_transfer_graph(call_in({4, 2}), algorithm, cluster, {.folded = true});
    CHECK(graph.members == Ranks{0, 2, 4, 6});
    CHECK(bytes_sent(graph, 0) == 64.0_MiB * 2.0 * (3.0 / 4.0));
    for (const Transfer& transfer : graph.transfers) {
      CHECK(transfer.src == 0);
      CHECK(std::ranges::count(graph.members, transfer.dst) == 1);
    }
  }
}

}  // namespace c3::collectives_groups_test
