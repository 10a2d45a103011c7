// What may be asked of a collective, and how its bandwidth is counted.

#include <doctest/doctest.h>

#include <string>

#include "collectives/algorithms/algorithm.hpp"
#include "engine/errors.hpp"
#include "tests/support/bytes_sent.hpp"
#include "tests/support/mi300x_like.hpp"
#include "tests/support/near.hpp"

namespace c3::collectives_call_test {

using namespace literals;

namespace {

std::string refusal(const CollectiveCall& call) {
  try {
    members_of(call, 8);
  } catch (const InfeasibleError& error) {
    return error.what();
  }
  return "accepted";
}

constexpr CollectiveKind kAll[] = {
    CollectiveKind::all_reduce, CollectiveKind::all_gather,   CollectiveKind::reduce_scatter,
    CollectiveKind::all_to_all, CollectiveKind::all_to_all_v, CollectiveKind::broadcast,
    CollectiveKind::reduce,     CollectiveKind::send_receive, CollectiveKind::barrier};

CollectiveCall call_of(CollectiveKind kind, int ranks) {
  CollectiveCall call{.kind = kind, .bytes = 1.0_GB};
  if (kind == CollectiveKind::all_to_all_v) {
    const auto n = static_cast<std::size_t>(ranks);
    for (std::size_t i = 0; i < n * n; ++i)
      call.sends.push_back(Bytes{1e6 * static_cast<double>(i % 7)});
  }
  return call;
}

}  // namespace

TEST_CASE("a group with a mistake is refused with what is wrong") {
  CollectiveCall call{.kind = CollectiveKind::broadcast, .bytes = 1.0_MB};
  CHECK(refusal(call) == "accepted");
  call.ranks = {0, 3, 3};
  CHECK(refusal(call) == "broadcast: rank 3 is in the group twice");
  call.ranks = {0, 8};
  CHECK(refusal(call) == "broadcast: there is no rank 8 of 8");
  call.ranks = {4};
  CHECK(refusal(call) == "broadcast: a collective needs at least two ranks");
  call.ranks = {4, 5};
  CHECK(refusal(call) == "broadcast: root 0 is not in the group");
  call.root = 5;
  CHECK(refusal(call) == "accepted");
  call.bytes = 0.0_MB;
  CHECK(refusal(call) == "broadcast: the size must be positive, it is 0 B");
}

TEST_CASE("sizes of an all_to_all_v must be one for each pair, and move something") {
  CollectiveCall call{.kind = CollectiveKind::all_to_all_v};
  call.ranks = {0, 1};
  call.sends = {1.0_MB};
  CHECK(refusal(call) == "all_to_all_v: 1 sizes for 2 ranks: there must be one for each pair, 2 by 2");
  call.sends = {1.0_MB, 0.0_MB, 0.0_MB, 1.0_MB};
  CHECK(refusal(call) == "all_to_all_v: no rank sends anything to another");
  call.sends[1] = 1.0_MB;
  CHECK(refusal(call) == "accepted");
}

namespace {

ClusterSpec on_switch(int gpus) {
  ClusterSpec cluster = test::mi300x_like_cluster();
  cluster.node = test::switched(gpus);
  return cluster;
}

}  // namespace

TEST_CASE("an algorithm that a collective has not is refused, and so is a switch that does not reduce") {
  const auto refused = [](CollectiveKind kind, Algorithm algorithm) -> std::string {
    try {
      make_transfer_graph(call_of(kind, 8), algorithm, on_switch(8));
    } catch (const InfeasibleError& error) {
      return error.what();
    }
    return "accepted";
  };
  CHECK(refused(CollectiveKind::all_to_all_v, Algorithm::ring) ==
        "all_to_all_v: the ring algorithm does not support it");
  CHECK(refused(CollectiveKind::all_gather, Algorithm::tree) ==
        "all_gather: the tree algorithm does not support it");
  CHECK(refused(CollectiveKind::all_to_all, Algorithm::nvls) ==
        "all_to_all: the nvls algorithm does not support it");
  CHECK(refused(CollectiveKind::all_reduce, Algorithm::nvls) ==
        "all_reduce: nvls needs a switch that reduces, node 'switch' has none");
}

TEST_CASE("bus bandwidth of 8 GB on 8 ranks in 25 ms: 320 GB/s times the factor of nccl-tests") {
  const auto busbw = [](CollectiveKind kind) {
    return bus_bandwidth({.kind = kind, .bytes = 8.0_GB}, 8, 25.0_ms).value;
  };
  CHECK(busbw(CollectiveKind::all_reduce) == near(560e9));
  CHECK(busbw(CollectiveKind::reduce_scatter) == near(280e9));
  for (const CollectiveKind kind :
       {CollectiveKind::broadcast, CollectiveKind::reduce, CollectiveKind::send_receive}) {
    CHECK(busbw(kind) == near(320e9));
  }
}

TEST_CASE("an all_to_all_v is counted by its busiest rank: equal sizes make it an all_to_all") {
  CollectiveCall call{.kind = CollectiveKind::all_to_all_v, .sends = std::vector<Bytes>(64, 1.0_MB)};
  CHECK(counted_bytes(call, 8) == 8.0_MB);
  call.sends[3 * 8 + 1] = 11.0_MB;
  CHECK(counted_bytes(call, 8) == 18.0_MB);
}

TEST_CASE("what a rank holds before and after") {
  const auto in = [](CollectiveKind kind) { return input_bytes({.kind = kind, .bytes = 8.0_MB}, 8); };
  const auto out = [](CollectiveKind kind) { return output_bytes({.kind = kind, .bytes = 8.0_MB}, 8); };
  CHECK(in(CollectiveKind::all_gather) == 1.0_MB);
  CHECK(out(CollectiveKind::all_gather) == 8.0_MB);
  CHECK(in(CollectiveKind::reduce_scatter) == 8.0_MB);
  CHECK(out(CollectiveKind::reduce_scatter) == 1.0_MB);
  CHECK(in(CollectiveKind::all_reduce) == 8.0_MB);
  CHECK(out(CollectiveKind::all_reduce) == 8.0_MB);
}

TEST_CASE("no algorithm sends less than the least, for a rank or for all") {
  for (const CollectiveKind kind : kAll) {
    for (const Algorithm algorithm : {Algorithm::direct, Algorithm::ring, Algorithm::tree, Algorithm::nvls}) {
      if (!supports(algorithm, kind)) continue;
      for (const int ranks : {2, 3, 8}) {
        CAPTURE(name_of(kind));
        CAPTURE(name_of(algorithm));
        CAPTURE(ranks);
        ClusterSpec cluster = on_switch(ranks);
        cluster.node.switch_reduces = algorithm == Algorithm::nvls;
        const CollectiveCall call = call_of(kind, ranks);
        const TransferGraph graph = make_transfer_graph(call, algorithm, cluster);
        Bytes sent;
        for (std::size_t i = 0; i < graph.members.size(); ++i) {
          const Bytes by_member = bytes_sent(graph, graph.members[i]);
          const Bytes least = least_bytes(call, graph.members, i, cluster.node.switch_reduces).out;
          CHECK(by_member.value >= least.value * (1 - 1e-12));
          sent += by_member;
        }
        const Bytes traffic = least_traffic(call, graph.members, cluster.node.switch_reduces);
        CHECK(sent.value >= traffic.value * (1 - 1e-12));
      }
    }
  }
}

}  // namespace c3::collectives_call_test
