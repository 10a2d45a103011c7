// Programs that look alike on all ranks and are not, and the same program on nodes numbered otherwise.

#include <doctest/doctest.h>

#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/folded_runs.hpp"
#include "tests/support/random_programs.hpp"

namespace c3::workloads_folding_traps_test {

using namespace literals;
using namespace test;

namespace {

/// What looks alike on all ranks and is not.
struct Trap {
  std::string name;
  ClusterSpec cluster;
  Program program;
  Strategy strategy = kStrategy;
};

Program calls_of(const ClusterSpec& cluster, const std::vector<CollectiveCall>& calls,
                 const std::vector<int>& slow = {}) {
  std::vector<WrittenOperation> operations{{"work", TimedKernel{.duration = 20.0_us}}};
  if (!slow.empty()) operations.push_back({"extra", TimedKernel{.duration = 50.0_us}, slow});
  for (const CollectiveCall& call : calls)
    operations.push_back({std::string(name_of(call.kind)), call});
  return program_of({{"s", operations}}, cluster.ranks());
}

FabricSpec tree_with(int nics, int leaf_nics, double oversubscription, FabricRouting routing) {
  FabricSpec fabric = tree_of(FabricTopology::fat_tree, leaf_nics, oversubscription);
  fabric.nics_per_node = nics;
  fabric.routing = routing;
  return fabric;
}

Program ring_of_messages(const ClusterSpec& cluster, bool together) {
  const Message give{1, 4.0_MiB, true}, take{-1, 4.0_MiB, false};
  std::vector<WrittenOperation> operations;
  if (together) operations = {{"both", WrittenExchange{"all", {give, take}}}};
  std::vector<int> all(static_cast<std::size_t>(cluster.ranks()));
  std::iota(all.begin(), all.end(), 0);
  return program_of({{"", all, {{"s", operations}}}}, {{"all", RankGroups{cluster.ranks(), 1}}},
                    cluster.ranks());
}

std::vector<Trap> traps() {
  std::vector<Trap> traps;
  const auto add = [&](std::string name, ClusterSpec cluster, const std::vector<CollectiveCall>& calls,
                       const std::vector<int>& slow = {}) {
    Program program = calls_of(cluster, calls, slow);
    traps.push_back({std::move(name), std::move(cluster), std::move(program)});
  };
  for (const bool mesh : {false, true}) {
    const auto nodes = [&](int count, FabricSpec fabric) {
      return nodes_of_eight(count, mesh, std::move(fabric));
    };
    for (const int root : {0, 3, 9, 31})
      add("root", nodes(4, one_switch(8)), {[&] {
            CollectiveCall broadcast = call(CollectiveKind::broadcast, 8.0_MiB);
            broadcast.root = root;
            return broadcast;
          }()});
    add("tree", nodes(4, one_switch(8)), {call(CollectiveKind::all_reduce, 512.0_KiB)});
    StreamPolicy by_tree;
    by_tree.method.algorithm = Algorithm::tree;
    traps.back().strategy.streams.emplace("s", by_tree);
    add("leaf of one node and a half", nodes(3, tree_with(8, 16, 16.0, FabricRouting::adaptive)),
        {call(CollectiveKind::send_receive, 32.0_MiB)});
    add("border of a leaf", nodes(4, tree_with(8, 16, 16.0, FabricRouting::adaptive)),
        {call(CollectiveKind::all_gather, 32.0_MiB)});
    add("hash", nodes(4, tree_with(8, 8, 1.0, FabricRouting::ecmp)),
        {call(CollectiveKind::all_gather, 32.0_MiB)});
    add("straggler among four", nodes(2, one_switch(8)),
        {call(CollectiveKind::all_reduce, 8.0_MiB, RankGroups{4, 1}),
         call(CollectiveKind::all_gather, 8.0_MiB)},
        {5});
    add("straggler among nodes", nodes(4, one_switch(8)),
        {call(CollectiveKind::all_reduce, 8.0_MiB, RankGroups{4, 8})}, {0, 17});
    add("three NICs for eight GPUs", nodes(2, one_switch(3)), {call(CollectiveKind::all_gather, 32.0_MiB)});
    add("six NICs for eight GPUs", nodes(4, one_switch(6)),
        {call(CollectiveKind::all_to_all, 32.0_MiB), call(CollectiveKind::send_receive, 8.0_MiB)});
    add("groups across nodes", nodes(3, one_switch(8)),
        {call(CollectiveKind::all_gather, 8.0_MiB, RankGroups{6, 1})});
    CollectiveCall in_turn = call(CollectiveKind::send_receive, 8.0_MiB);
    in_turn.ranks = {0, 8, 1, 9, 2, 10, 3, 11};
    add("every second on another node", nodes(2, one_switch(8)), {in_turn});
    const ClusterSpec two = nodes(2, one_switch(8));
    traps.push_back(
        {"ranks of a class that send to each other", two, ring_of_messages(two, /*together=*/true)});
  }
  return traps;
}

}  // namespace

TEST_CASE("thirty programs that look alike on all ranks split, say what they average, or are not folded") {
  const std::vector<Trap> all = traps();
  CHECK(all.size() >= 30);
  for (const Trap& trap : all) {
    CAPTURE(trap.name);
    const Experiment experiment = experiment_of(trap.cluster, trap.program);
    const RunResult mean = run(experiment, Fold::mean, trap.strategy);
    const bool is_split = mean.classes.size() > 1;
    CHECK((is_split || mean.inequity > 0.0));
    check_folded(experiment, run(experiment, Fold::none, trap.strategy), mean, trap.strategy);
  }
}

TEST_CASE("whatever is folded, numbering nodes otherwise changes nothing") {
  for (std::uint32_t seed = 3000; seed < 3020; ++seed) {
    CAPTURE(seed);
    RandomPrograms random(seed);
    const ClusterSpec cluster = random.cluster();
    const auto time_of = [&](int first) {
      const std::vector<int> slow{first, first + 2};
      const CollectiveCall sum{
          .kind = CollectiveKind::all_reduce, .bytes = 8.0_MiB, .groups = RankGroups{8, 1}};
      const CollectiveCall gather{
          .kind = CollectiveKind::all_gather, .bytes = 8.0_MiB, .groups = RankGroups{cluster.nodes, 8}};
      return run(experiment_of(cluster, calls_of(cluster, {sum, gather}, slow)), Fold::mean);
    };
    const RunResult first = time_of(0), last = time_of(8 * (cluster.nodes - 1));
    CHECK(first.time.value == near(last.time.value, 1e-9));
    CHECK(first.classes.size() == last.classes.size());
    CHECK(first.classes.size() > 1);
  }
}

}  // namespace c3::workloads_folding_traps_test
