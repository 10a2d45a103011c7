// Closed forms of the bytes on links and NICs over several nodes, and graphs written in other forms.

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "collectives/algorithms/algorithm.hpp"
#include "collectives/algorithms/node_paths.hpp"
#include "collectives/planned_flows.hpp"
#include "tests/support/bytes_sent.hpp"
#include "tests/support/clusters.hpp"
#include "tests/support/near.hpp"

namespace c3::collectives_traffic_test {

using namespace literals;
using namespace test;

namespace {

constexpr double kBytes = 1e9;

TransferGraph graph_of(CollectiveKind kind, Algorithm algorithm, const ClusterSpec& cluster) {
  return make_transfer_graph({.kind = kind, .bytes = Bytes{kBytes}}, algorithm, cluster);
}

/// Bytes that leave nodes, by node and NIC of the sender, and that come, by those of the receiver.
struct NicBytes {
  NicBytes(const TransferGraph& graph, const ClusterSpec& cluster) {
    const auto nic = [&](int rank) {
      const int gpus = cluster.node.gpus;
      return std::pair(rank / gpus, nics_of(rank % gpus, gpus, cluster.fabric->nics_per_node).first);
    };
    for (const Transfer& t : graph.transfers) {
      if (!graph.crosses(t)) continue;
      out[nic(t.src)] += t.bytes.value;
      in[nic(t.dst)] += t.bytes.value;
      changes_rail = changes_rail || nic(t.src).second != nic(t.dst).second;
    }
  }
  std::map<std::pair<int, int>, double> out, in;
  bool changes_rail = false;

  void check_all(std::size_t nics, double bytes) const {
    CHECK(out.size() == nics);
    CHECK(in.size() == nics);
    for (const auto* side : {&out, &in}) {
      for (const auto& [nic, sum] : *side)
        CHECK(sum == near(bytes));
    }
  }
  double most() const {
    double most = 0.0;
    for (const auto* side : {&out, &in}) {
      for (const auto& [nic, sum] : *side)
        most = std::max(most, sum);
    }
    return most;
  }
};

std::map<std::pair<int, int>, double> bytes_by_link(const TransferGraph& graph) {
  std::map<std::pair<int, int>, double> bytes;
  for (const Transfer& t : graph.transfers) {
    if (!graph.crosses(t)) bytes[{t.src, t.dst}] += t.bytes.value;
  }
  return bytes;
}

}  // namespace

TEST_CASE("paths through a mesh of 2, 4, 6, 8 or 16 GPUs use every link once each way, from and to every GPU") {
  for (const int gpus : {2, 4, 6, 8, 16}) {
    CAPTURE(gpus);
    std::vector<int> members;
    for (int gpu = 0; gpu < gpus; ++gpu)
      members.push_back(gpu);
    const auto paths = node_paths(full_mesh(gpus), members, gpus);
    std::set<std::pair<int, int>> links;
    std::set<int> first, last;
    for (const std::vector<int>& path : paths) {
      CHECK(std::set(path.begin(), path.end()).size() == members.size());
      first.insert(path.front());
      last.insert(path.back());
      for (std::size_t i = 1; i < path.size(); ++i)
        CHECK(links.emplace(path[i - 1], path[i]).second);
    }
    CHECK(static_cast<int>(links.size()) == gpus * (gpus - 1));
    CHECK(static_cast<int>(first.size()) == gpus);
    CHECK(static_cast<int>(last.size()) == gpus);
  }
}

TEST_CASE(
    "rings over meshes: each link and each NIC carries one ring, on one rail for an even number of nodes") {
  // Eight rings of S/8; a ring's edge carries 2(N-1)/N of it in an all-reduce, half of that otherwise.
  for (const int nodes : {2, 3, 4}) {
    const ClusterSpec cluster = nodes_of(NodeTopology::full_mesh, nodes, 8);
    const double n = cluster.ranks();
    for (const CollectiveKind kind :
         {CollectiveKind::all_reduce, CollectiveKind::all_gather, CollectiveKind::reduce_scatter}) {
      CAPTURE(nodes);
      const TransferGraph graph = graph_of(kind, Algorithm::ring, cluster);
      CHECK(graph.lanes == 8);
      const double rounds = kind == CollectiveKind::all_reduce ? 2.0 : 1.0;
      const double ring = rounds * kBytes / 8 * (n - 1) / n;
      const auto links = bytes_by_link(graph);
      CHECK(static_cast<int>(links.size()) == 56 * nodes);
      for (const auto& [link, bytes] : links)
        CHECK(bytes == near(ring));
      const NicBytes nics(graph, cluster);
      nics.check_all(static_cast<std::size_t>(8 * nodes), ring);
      CHECK(nics.changes_rail == (nodes % 2 == 1));
    }
  }
}

TEST_CASE("rings over switched nodes: one for each NIC, or for each GPU where it has several") {
  for (const int nics : {1, 2, 4, 8, 16}) {
    CAPTURE(nics);
    const ClusterSpec cluster = nodes_of(NodeTopology::switched, 4, 8, nics);
    const TransferGraph graph = graph_of(CollectiveKind::all_reduce, Algorithm::ring, cluster);
    const int rings = std::min(nics, 8);
    CHECK(graph.lanes == rings);
    const NicBytes loads(graph, cluster);
    loads.check_all(static_cast<std::size_t>(4 * rings), 2 * kBytes / rings * 31 / 32);
    CHECK_FALSE(loads.changes_rail);
  }
}

TEST_CASE("fewer NICs than GPUs of a mesh share its eight rings alike") {
  const ClusterSpec cluster = nodes_of(NodeTopology::full_mesh, 2, 8, 4);
  const TransferGraph graph = graph_of(CollectiveKind::all_gather, Algorithm::ring, cluster);
  CHECK(graph.lanes == 8);
  NicBytes(graph, cluster).check_all(8, kBytes / 4 * 15 / 16);
}

TEST_CASE("a library of few channels has no more rings, pairs or trees than these") {
  GraphForm form;
  form.most_lanes = 3;
  const ClusterSpec cluster = nodes_of(NodeTopology::full_mesh, 2, 8);
  for (const Algorithm algorithm :
       {Algorithm::ring, Algorithm::direct, Algorithm::tree, Algorithm::hierarchical}) {
    CAPTURE(name_of(algorithm));
    const CollectiveCall call{CollectiveKind::all_reduce, Bytes{kBytes}};
    const TransferGraph few = make_transfer_graph(call, algorithm, cluster, form);
    CHECK(few.lanes == 3);
    std::set<int> lanes;
    Bytes sum, expected;
    for (const Transfer& t : few.transfers) {
      lanes.insert(t.lane);
      sum += t.bytes;
    }
    for (const Transfer& t : make_transfer_graph(call, algorithm, cluster).transfers)
      expected += t.bytes;
    CHECK(lanes == std::set<int>{0, 1, 2});
    CHECK(sum.value == near(expected.value));
  }
}

TEST_CASE("two trees over nodes load a NIC with S/m each way at two nodes, with at most 2S/m at more") {
  // m rails with two trees of S/2m each. Who is inner sends 1 up and 2 down in one tree, 1 in the other.
  for (const int nodes : {2, 3, 4, 5, 8, 16}) {
    CAPTURE(nodes);
    for (const NodeTopology topology : {NodeTopology::full_mesh, NodeTopology::switched}) {
      const ClusterSpec cluster = nodes_of(topology, nodes, 8);
      const TransferGraph graph = graph_of(CollectiveKind::all_reduce, Algorithm::tree, cluster);
      CHECK(graph.lanes == 16);
      const NicBytes nics(graph, cluster);
      CHECK_FALSE(nics.changes_rail);
      CHECK(nics.out.size() == static_cast<std::size_t>(8 * nodes));
      if (nodes == 2) nics.check_all(16, kBytes / 8);
      CHECK(nics.most() <= 2 * kBytes / 8 * (1 + 1e-12));
      if (nodes > 4) CHECK(nics.most() == near(2 * kBytes / 8));
    }
  }
}

TEST_CASE("an NVLS tree loads a NIC with S/g each way at two nodes, with 2S/g at more, a port with S + S/g") {
  for (const int nodes : {2, 5, 8, 16}) {
    CAPTURE(nodes);
    const ClusterSpec cluster = reducing_nodes_of(nodes, 8);
    const TransferGraph graph = graph_of(CollectiveKind::all_reduce, Algorithm::nvls_tree, cluster);
    const NicBytes nics(graph, cluster);
    CHECK_FALSE(nics.changes_rail);
    if (nodes == 2) nics.check_all(16, kBytes / 8);
    CHECK(nics.most() == near(nodes == 2 ? kBytes / 8 : 2 * kBytes / 8));
    std::map<std::pair<int, TransferOp>, double> in_switch;  // by node
    for (const Transfer& t : graph.transfers) {
      if (t.src == t.dst) in_switch[{t.src / 8, t.op}] += t.bytes.value;
    }
    CHECK(static_cast<int>(in_switch.size()) == 2 * nodes);  // all of S is added and multicast in each
    for (const auto& [what, bytes] : in_switch)
      CHECK(bytes == near(kBytes));
  }
}

TEST_CASE("hierarchical: S/g to each peer in each phase, 2S/g (n-1)/n on each NIC") {
  for (const int nodes : {2, 3, 8}) {
    CAPTURE(nodes);
    const ClusterSpec cluster = nodes_of(NodeTopology::full_mesh, nodes, 8);
    for (const CollectiveKind kind :
         {CollectiveKind::all_reduce, CollectiveKind::all_gather, CollectiveKind::reduce_scatter}) {
      const double rounds = kind == CollectiveKind::all_reduce ? 2.0 : 1.0;
      const TransferGraph graph = graph_of(kind, Algorithm::hierarchical, cluster);
      const auto links = bytes_by_link(graph);
      CHECK(static_cast<int>(links.size()) == 56 * nodes);
      for (const auto& [link, bytes] : links)
        CHECK(bytes == near(rounds * kBytes / 8));
      const NicBytes nics(graph, cluster);
      nics.check_all(static_cast<std::size_t>(8 * nodes), rounds * kBytes / 8 * (nodes - 1) / nodes);
      CHECK_FALSE(nics.changes_rail);
    }
  }
}

TEST_CASE("in the fabric an all-reduce takes S/g out of every NIC and into it") {
  const ClusterSpec cluster = reducing_nodes_of(5, 4);
  const TransferGraph graph = graph_of(CollectiveKind::all_reduce, Algorithm::collnet, cluster);
  NicBytes(graph, cluster).check_all(20, kBytes / 4);
}

TEST_CASE("halving and doubling exchange 2S (N-1)/N, the largest pieces with the nearest") {
  const ClusterSpec cluster = nodes_of(NodeTopology::switched, 4, 8);
  const TransferGraph graph = graph_of(CollectiveKind::all_reduce, Algorithm::halving_doubling, cluster);
  CHECK(graph.steps == 10);
  for (const int rank : graph.members)
    CHECK(bytes_sent(graph, rank).value == near(2 * kBytes * 31 / 32));
  // Three steps within the node; S/16 and S/32 go to other nodes, and come back.
  NicBytes(graph, cluster).check_all(32, 2 * (kBytes / 16 + kBytes / 32));
}

TEST_CASE("a direct all-to-all sends S/N to each, most of it over NICs") {
  const ClusterSpec cluster = nodes_of(NodeTopology::full_mesh, 3, 8);
  const TransferGraph graph = graph_of(CollectiveKind::all_to_all, Algorithm::direct, cluster);
  NicBytes(graph, cluster).check_all(24, kBytes / 24 * 16);
  for (const auto& [link, bytes] : bytes_by_link(graph))
    CHECK(bytes == near(kBytes / 24));
}

namespace {

/// Algorithms that are told for rank 0 alone, and those with rings.
template <class Check>
void for_each_form(Check check) {
  const ClusterSpec clusters[] = {nodes_of(NodeTopology::full_mesh, 2, 8), reducing_nodes_of(4, 4),
                                  reducing_nodes_of(8, 1), mi300x_like_cluster(),
                                  nodes_of(NodeTopology::full_mesh, 3, 3)};
  for (const ClusterSpec& cluster : clusters) {
    for (const CollectiveKind kind : {CollectiveKind::all_reduce, CollectiveKind::all_gather,
                                      CollectiveKind::reduce_scatter, CollectiveKind::all_to_all}) {
      for (const Algorithm algorithm : {Algorithm::direct, Algorithm::ring, Algorithm::hierarchical,
                                        Algorithm::collnet, Algorithm::halving_doubling, Algorithm::pat}) {
        const bool one_gpu = cluster.node.gpus == 1;
        const bool over_nodes = algorithm == Algorithm::hierarchical || algorithm == Algorithm::collnet;
        if (!supports(algorithm, kind) || (over_nodes && (cluster.nodes == 1 || one_gpu))) continue;
        if (algorithm == Algorithm::collnet && !cluster.fabric->switch_reduces) continue;
        if (algorithm == Algorithm::pat && !one_gpu) continue;
        if (algorithm == Algorithm::halving_doubling && cluster.ranks() % 2 == 1) continue;
        CAPTURE(cluster.nodes);
        CAPTURE(cluster.node.gpus);
        CAPTURE(name_of(kind));
        CAPTURE(name_of(algorithm));
        check(CollectiveCall{.kind = kind, .bytes = Bytes{kBytes}}, algorithm, cluster);
      }
    }
  }
}

void check_same(const std::vector<PlannedFlow>& a, const std::vector<PlannedFlow>& b) {
  REQUIRE(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    CHECK(a[i].hops == b[i].hops);
    CHECK(a[i].network_hops == b[i].network_hops);
    CHECK(a[i].after == b[i].after);
    CHECK(a[i].behind == b[i].behind);
    REQUIRE(a[i].legs.size() == b[i].legs.size());
    for (std::size_t k = 0; k < a[i].legs.size(); ++k) {
      CHECK(a[i].legs[k].dst == b[i].legs[k].dst);
      CHECK(a[i].legs[k].op == b[i].legs[k].op);
      CHECK(a[i].legs[k].bytes.value == near(b[i].legs[k].bytes.value));
    }
  }
}

}  // namespace

TEST_CASE("steps told as one make the same flows at grains edge and gang, with the same ways' latencies") {
  for_each_form([](const CollectiveCall& call, Algorithm algorithm, const ClusterSpec& cluster) {
    GraphForm told;
    told.every_step = false;
    for (const CollectiveGrain grain : {CollectiveGrain::edge, CollectiveGrain::gang}) {
      for (const int chunks : {1, 5}) {
        check_same(plan_flows(make_transfer_graph(call, algorithm, cluster, told), grain, equal_chunks(chunks)),
                   plan_flows(make_transfer_graph(call, algorithm, cluster), grain, equal_chunks(chunks)));
      }
    }
  });
}

TEST_CASE("what is written for rank 0 alone is what folding the whole graph gives") {
  for_each_form([](const CollectiveCall& call, Algorithm algorithm, const ClusterSpec& cluster) {
    if (!is_symmetric(call, algorithm, cluster)) return;
    GraphForm folded_form;
    folded_form.folded = true;
    const TransferGraph written = make_transfer_graph(call, algorithm, cluster, folded_form);
    const TransferGraph whole = make_transfer_graph(call, algorithm, cluster);
    std::vector<Transfer> of_rank_0;
    for (const Transfer& t : whole.transfers) {
      if (t.src == 0) of_rank_0.push_back(t);
    }
    REQUIRE(written.transfers.size() == of_rank_0.size());
    for (std::size_t i = 0; i < of_rank_0.size(); ++i) {
      const Transfer &a = written.transfers[i], &b = of_rank_0[i];
      CHECK(a.src == 0);
      CHECK(a.dst == b.dst);
      CHECK(a.lane == b.lane);
      CHECK(a.step == b.step);
      CHECK(a.stage == b.stage);
      CHECK(a.op == b.op);
      CHECK(a.bytes == b.bytes);
      // It waits for rank 0's transfers of the lanes and steps that all wait for.
      std::multiset<std::pair<int, int>> waits, waits_whole;
      for (const std::uint32_t before : a.after)
        waits.emplace(written.transfers[before].lane, written.transfers[before].step);
      for (const std::uint32_t before : b.after)
        waits_whole.emplace(whole.transfers[before].lane, whole.transfers[before].step);
      CHECK(waits == waits_whole);
    }
  });
}

TEST_CASE("16,384 GPUs of eight-GPU nodes make a small graph when one stands for all") {
  const ClusterSpec cluster = nodes_of(NodeTopology::full_mesh, 2048, 8);
  const CollectiveCall call{CollectiveKind::all_reduce, Bytes{kBytes}};
  GraphForm form;
  form.folded = true;
  CHECK(make_transfer_graph(call, Algorithm::hierarchical, cluster, form).transfers.size() ==
        7 + 7 * 2 * 2047 + 7);
  form.every_step = false;
  CHECK(make_transfer_graph(call, Algorithm::hierarchical, cluster, form).transfers.size() == 7 + 7 * 2 + 7);
}

}  // namespace c3::collectives_traffic_test
