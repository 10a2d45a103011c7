#pragma once
/// Programs of several nodes, drawn from a number: what folding ranks must not change.

#include <array>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "tests/support/fabrics.hpp"
#include "workloads/experiment.hpp"
#include "workloads/program/written_streams.hpp"

namespace c3::test {

/// Nodes of eight GPUs, on a switch or a mesh.
inline ClusterSpec nodes_of_eight(int nodes, bool mesh, FabricSpec fabric) {
  ClusterSpec cluster = mi300x_like_cluster(8);
  NodeSpec node = mesh ? full_mesh(8) : switched(8);
  const NodeSpec like = node_of_four();
  node.nic_slots = 8;
  node.pcie = like.pcie;
  cluster.node = node;
  if (!mesh) cluster.library.link_payload = node.link.both_ways * 0.9;
  cluster.nodes = nodes;
  cluster.fabric = std::move(fabric);
  return cluster;
}

class RandomPrograms {
 public:
  explicit RandomPrograms(std::uint32_t seed) : random_(seed) {}

  int below(int count) { return static_cast<int>(random_() % static_cast<std::uint32_t>(count)); }
  bool coin() { return below(2) == 0; }

  /// Two or four nodes on one switch, all of whose GPUs have a NIC.
  ClusterSpec cluster() { return nodes_of_eight(coin() ? 2 : 4, coin(), one_switch(8)); }

  Bytes bytes() { return Bytes{std::exp2(16 + below(12))}; }
  TimedKernel kernel() { return {.duration = Seconds{1e-6 * (1 + below(400))}}; }

  /// Over all ranks, within nodes or parts of them, or between GPUs of one position on their nodes.
  CollectiveCall call(const ClusterSpec& cluster) {
    constexpr std::array kDrawnKinds{CollectiveKind::all_reduce, CollectiveKind::all_gather,
                                     CollectiveKind::reduce_scatter, CollectiveKind::all_to_all,
                                     CollectiveKind::send_receive};
    CollectiveCall call{.kind = kDrawnKinds[static_cast<std::size_t>(below(kDrawnKinds.size()))],
                        .bytes = bytes()};
    const std::array<std::optional<RankGroups>, 4> groups{std::nullopt, RankGroups{8, 1}, RankGroups{4, 1},
                                                          RankGroups{cluster.nodes, 8}};
    call.groups = groups[static_cast<std::size_t>(below(groups.size()))];
    return call;
  }

  /// A stream of kernels and one of collectives, of all ranks.
  std::vector<WrittenStream> symmetric(const ClusterSpec& cluster) {
    std::vector<WrittenStream> streams{{"compute", {}}, {"talk", {}}};
    for (int i = 0; i < 2 + below(3); ++i) {
      streams[0].operations.push_back({"work" + std::to_string(i), kernel()});
      streams[1].operations.push_back({"call" + std::to_string(i), call(cluster)});
    }
    return streams;
  }

  /// The same where nodes do different things, and hand on what they have made: each of \p cluster's nodes is a
  /// stage.
  Program stages(const ClusterSpec& cluster) {
    const Bytes handed = bytes();
    const CollectiveCall within{
        .kind = CollectiveKind::all_reduce, .bytes = bytes(), .groups = RankGroups{8, 1}};
    const CollectiveCall between{.kind = CollectiveKind::all_gather, .bytes = bytes()};
    const int rounds = 1 + below(3);
    std::vector<WrittenRanks> written;
    for (int stage = 0; stage < cluster.nodes; ++stage) {
      std::vector<int> ranks(8);
      std::iota(ranks.begin(), ranks.end(), 8 * stage);
      std::vector<WrittenOperation> operations;
      const TimedKernel work = kernel();
      for (int round = 0; round < rounds; ++round) {
        if (stage > 0) operations.push_back({"take", WrittenExchange{"pp", {{-1, handed, false}}}});
        operations.push_back({"work", work});
        operations.push_back({"sum", within});
        if (stage + 1 < cluster.nodes)
          operations.push_back({"give", WrittenExchange{"pp", {{1, handed, true}}}});
      }
      operations.push_back({"gather", between});
      written.push_back({"stage", ranks, {{"s", operations}}});
    }
    return program_of(written, {{"pp", RankGroups{cluster.nodes, 8}}}, cluster.ranks());
  }

  /// An all-to-all of \p groups, or of all ranks, with a size for each pair; some pairs send nothing.
  CollectiveCall uneven_all_to_all(const ClusterSpec& cluster, std::optional<RankGroups> groups) {
    CollectiveCall call{.kind = CollectiveKind::all_to_all_v, .groups = groups};
    const int size = groups ? groups->size : cluster.ranks();
    const int kinds = 1 + below(3);  // of members, which send alike
    std::vector<Bytes> sizes;
    for (int kind = 0; kind < kinds * kinds; ++kind)
      sizes.push_back(kind > 0 && below(4) == 0 ? Bytes{} : bytes());
    for (int from = 0; from < size; ++from) {
      for (int to = 0; to < size; ++to)
        call.sends.push_back(sizes[static_cast<std::size_t>(from % kinds * kinds + to % kinds)]);
    }
    return call;
  }

  /// Stages that hand on what they make, each with a stream of collectives beside: over all ranks or within
  /// nodes, all-to-alls with unlike sizes among them.
  Program mixed(const ClusterSpec& cluster) {
    const std::optional<RankGroups> node = RankGroups{8, 1};
    const auto any_call = [&]() -> CollectiveCall {
      return coin() ? uneven_all_to_all(cluster, coin() ? node : std::nullopt) : call(cluster);
    };
    const Bytes handed = bytes();
    const CollectiveCall within = uneven_all_to_all(cluster, node), beside = any_call(), last = any_call();
    const TimedKernel other = kernel();
    const int rounds = 1 + below(3);
    const bool hands_on = coin();
    std::vector<WrittenRanks> written;
    for (int stage = 0; stage < cluster.nodes; ++stage) {
      std::vector<int> ranks(8);
      std::iota(ranks.begin(), ranks.end(), 8 * stage);
      std::vector<WrittenOperation> operations;
      const TimedKernel work = kernel();
      for (int round = 0; round < rounds; ++round) {
        if (hands_on && stage > 0) operations.push_back({"take", WrittenExchange{"pp", {{-1, handed, false}}}});
        operations.push_back({"work", work});
        operations.push_back({"exchange", within});
        if (hands_on && stage + 1 < cluster.nodes)
          operations.push_back({"give", WrittenExchange{"pp", {{1, handed, true}}}});
      }
      operations.push_back({"last", last});
      written.push_back(
          {"stage", ranks, {{"s", operations}, {"beside", {{"other", other}, {"call", beside}}}}});
    }
    return program_of(written, {{"pp", RankGroups{cluster.nodes, 8}}}, cluster.ranks());
  }

  /// A pipeline with a stage on each of \p cluster's nodes, tensor-parallel groups of two or four ranks, and a
  /// rank or two that have more to do in their passes; ranks of a group may wait for one another before they
  /// send, or not.
  Program pipeline(const ClusterSpec& cluster) {
    const int tensor = coin() ? 2 : 4;
    const auto sum_in = [this](RankGroups groups) {
      return CollectiveCall{.kind = CollectiveKind::all_reduce, .bytes = bytes(), .groups = groups};
    };
    const CollectiveCall sum = sum_in({tensor, 1}), reduce = sum_in({8 / tensor, tensor});
    const Pass forward{kernel(), bytes(), below(4) > 0}, backward{kernel(), bytes(), coin()};
    const Seconds more{5e-5 * (1 + below(8))};
    const bool slow_forward = coin(), slow_backward = !slow_forward || coin(), reduces = coin();
    const int micro_batches = 1 + below(3), slow = below(cluster.ranks()), also_slow = below(cluster.ranks());
    std::vector<WrittenRanks> written;
    for (int stage = 0; stage < cluster.nodes; ++stage) {
      const auto pass = [&](std::vector<WrittenOperation>& operations, Pass written_pass, int from) {
        const auto exists = [&](int other) { return other >= 0 && other < cluster.nodes; };
        if (exists(stage + from))
          operations.push_back({"take", WrittenExchange{"pp", {{from, written_pass.handed, false}}}});
        operations.push_back({"work", written_pass.work});
        if (written_pass.waits) operations.push_back({"sum", sum});
        if (exists(stage - from))
          operations.push_back({"give", WrittenExchange{"pp", {{-from, written_pass.handed, true}}}});
      };
      for (const bool is_slow : {false, true}) {
        std::vector<int> ranks;
        for (int rank = 8 * stage; rank < 8 * (stage + 1); ++rank) {
          if ((rank == slow || rank == also_slow) == is_slow) ranks.push_back(rank);
        }
        if (ranks.empty()) continue;
        Pass down = forward, up = backward;
        if (is_slow && slow_forward) down.work.duration += more;
        if (is_slow && slow_backward) up.work.duration += more;
        std::vector<WrittenOperation> operations;
        for (int i = 0; i < micro_batches; ++i)
          pass(operations, down, -1);
        for (int i = 0; i < micro_batches; ++i)
          pass(operations, up, 1);
        if (reduces) operations.push_back({"reduce", reduce});
        written.push_back({is_slow ? "slow" : "stage", ranks, {{"s", operations}}});
      }
    }
    return program_of(written, {{"pp", RankGroups{cluster.nodes, 8}}}, cluster.ranks());
  }

  /// All ranks' streams with operations that only some run: a kernel, a reduction within some nodes.
  std::vector<WrittenStream> uneven(const ClusterSpec& cluster) {
    std::vector<WrittenStream> streams = symmetric(cluster);
    std::vector<int> some;
    const int every = 2 + below(7);
    for (int rank = below(every); rank < cluster.ranks(); rank += every)
      some.push_back(rank);
    streams[0].operations.insert(streams[0].operations.begin() + below(2), {"extra", kernel(), some});
    CollectiveCall rooted{.kind = CollectiveKind::broadcast, .bytes = bytes(), .root = below(cluster.ranks())};
    if (coin()) streams[1].operations.push_back({"spread", rooted});
    return streams;
  }

  /// One to three ranks of \p cluster in unlike conditions, sound ones among them.
  std::vector<Straggler> stragglers(const ClusterSpec& cluster) {
    std::vector<Straggler> stragglers;
    const int first = below(cluster.ranks());
    for (int i = 0; i < 1 + below(3); ++i) {
      RankCondition condition;
      if (coin()) condition.factor = 1.0 + 0.1 * below(6);
      if (coin()) condition.links = 1.0 - 0.1 * below(6);
      if (coin()) condition.nics = 1.0 - 0.1 * below(6);
      if (coin()) condition.late = Seconds{1e-5 * below(6)};
      stragglers.push_back({"slow" + std::to_string(i), {(first + 5 * i) % cluster.ranks()}, condition});
    }
    return stragglers;
  }

 private:
  struct Pass {
    TimedKernel work;
    Bytes handed;  ///< to the next stage
    bool waits;    ///< for its tensor-parallel group, before it hands on
  };

  std::mt19937 random_;
};

}  // namespace c3::test
