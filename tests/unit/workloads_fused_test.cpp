// A GEMM fused with the collective of its output: dates and bytes by hand on round-number clusters.

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "collectives/backends/entry.hpp"
#include "engine/errors.hpp"
#include "gpu/kernels/gemm/gemm_shape.hpp"
#include "gpu/kernels/operator_table.hpp"
#include "tests/support/near.hpp"
#include "tests/unit/workloads_pair.hpp"
#include "workloads/analysis/lower_bound.hpp"

namespace c3::workloads_fused_test {

using namespace literals;
using namespace test;

namespace {

constexpr int kRanks = 8;
constexpr double kArrive = 0.3e-6 + 0.4e-6;  // link's latency and memory's
constexpr double kRead = 0.4e-6;
constexpr double kTile = 256 * 256 * 2;  // bytes

/// A GEMM of 24 x 19 tiles on one stream, and \p kind over its output on another.
WrittenExperiment fused_pair(CollectiveKind kind, NodeSpec node = switched(kRanks),
                             const GemmShape& gemm = gemm_of_tiles(24, 19)) {
  WrittenExperiment experiment = pair(gemm);
  ClusterSpec& cluster = experiment.cluster;
  cluster.node = std::move(node);
  cluster.node.link.one_way = cluster.node.link.both_ways = 10.0_GBps;  // far slower than the GEMM
  cluster.gpu.dma.engine_bandwidth = 100.0_GBps;
  cluster.gpu.trigger = {.tracker_entries = 1000, .staging_window = 100.0_MB, .near_memory_update = 1.15};
  const Bytes output = Bytes{2.0} * (static_cast<double>(gemm.m) * static_cast<double>(gemm.n));
  const CollectiveCall call{.kind = kind,
                            .bytes = kind == CollectiveKind::all_gather ? kRanks * output : output};
  experiment.streams = {{"compute", {{"gemm", gemm}, {"record done", WrittenRecord{"done"}}}},
                        {"fsdp", {{"wait done", WrittenWait{"done"}}, {"collective", call}}}};
  return experiment;
}

Strategy fused(std::optional<Algorithm> algorithm = Algorithm::ring) {
  Strategy strategy = in_order();
  StreamPolicy& policy = strategy.streams["fsdp"];
  policy.backend = Backend::fused;
  policy.method.algorithm = algorithm;
  return strategy;
}

struct Ran {
  Seconds time;
  Recording recording;
};

void run(const Experiment& experiment, const Strategy& strategy, Ran& ran, Isolation isolation = {}) {
  RunSetup setup;
  setup.observer = &ran.recording;
  setup.isolation = isolation;
  ran.time = run_once(experiment, strategy, setup).time;
}

std::string refusal(const Experiment& experiment, const Strategy& strategy = fused()) {
  try {
    run_once(experiment, strategy, {});
  } catch (const InfeasibleError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("a ring behind a slow link: the first wave, then every chunk but the last over the link") {
  // 456 tiles are 8 chunks of 57, of which 304 are there after the first wave. Stores of chunk 0 share the link
  // and end together; their tiles arrive and are read before the link goes on, and is busy to the end.
  const Experiment experiment = fused_pair(CollectiveKind::reduce_scatter);
  Ran ran;
  run(experiment, fused(), ran);
  const double link = 7 * 57 * kTile / 10e9;
  CHECK(ran.time.value == near(kLaunch + wave_seconds() + link + kArrive + kRead + kArrive, 1e-5));
}

TEST_CASE("bytes of a fused ring: N-1 chunks over the link, N-2 read, N-1 stored and N-1 updated") {
  Ran ran;
  run(fused_pair(CollectiveKind::reduce_scatter), fused(), ran, Isolation().with(SharedResource::hbm));
  const double chunk = 57 * kTile;
  const auto total = [&](const char* name) { return ran.recording.total(name); };
  CHECK(total("port0.out") == near(7 * chunk));
  double transfers = 0.0;
  for (const auto* transfer : ran.recording.of_kind(ActivityKind::transfer))
    transfers += transfer->bytes.value;
  CHECK(transfers == near(7 * chunk));
  CHECK(total("gpu0.hbm.compute.written") == near(7 * chunk));
  CHECK(total("gpu0.hbm.fsdp.written") == near(7 * chunk));
  const double busy_with_updates = 0.15 * 7 * chunk;
  CHECK(total("gpu0.hbm.fsdp.lost") == near(busy_with_updates));
  CHECK(total("gpu0.hbm.fsdp") == near(6 * chunk + 7 * chunk + busy_with_updates));
  CHECK(total("gpu0.memory_side.fsdp") < 1.0);  // past the caches
}

TEST_CASE("atomics read what they add to") {
  Strategy strategy = fused();
  strategy.streams["fsdp"].reduction = FusedReduction::atomics;
  WrittenExperiment experiment = fused_pair(CollectiveKind::reduce_scatter);
  experiment.cluster.gpu.trigger.near_memory_update = 0.0;
  Ran ran;
  run(experiment, strategy, ran, Isolation().with(SharedResource::hbm));
  CHECK(ran.recording.total("gpu0.hbm.fsdp") == near((6 + 7 + 7) * 57 * kTile));
}

TEST_CASE("work groups that add hold CUs as long as the kernel, and read every part of a sum") {
  Strategy strategy = fused();
  strategy.streams["fsdp"].reduction = FusedReduction::cu;
  strategy.streams["fsdp"].method.channels.most = 8;
  const Experiment experiment = fused_pair(CollectiveKind::reduce_scatter);
  Ran ran;
  run(experiment, strategy, ran, Isolation().with(SharedResource::hbm));
  // seven updates of a chunk are stored, then both parts are read and the sum is written; six sums are copied
  // on
  const double chunk = 57 * kTile;
  CHECK(ran.recording.total("gpu0.hbm.fsdp.written") == near((7 + 7) * chunk));
  CHECK(ran.recording.total("gpu0.hbm.fsdp") == near((7 + 7 + 2 * 7 + 6) * chunk));
  // until the kernel has ended at most all 304 CUs are busy, and then the 8 that add
  const double kernel = ran.recording.of_kind(ActivityKind::kernel).front()->end.value;
  const double cus = ran.recording.total("gpu0.cus");
  CHECK(cus > 8 * (ran.time.value - 2 * kLaunch));
  CHECK(cus < 304 * kernel + 8 * (ran.time.value - kernel) + 1e-9);
}

TEST_CASE("every kind moves its bytes over the links, by ring and directly") {
  const double output = 456 * kTile;
  const auto sent = [](CollectiveKind kind, Algorithm algorithm) {
    Ran ran;
    run(fused_pair(kind), fused(algorithm), ran);
    return ran.recording.total("port0.out");
  };
  for (const Algorithm algorithm : {Algorithm::ring, Algorithm::direct}) {
    CHECK(sent(CollectiveKind::reduce_scatter, algorithm) == near(output * 7 / 8));
    CHECK(sent(CollectiveKind::all_reduce, algorithm) == near(2 * output * 7 / 8));
    CHECK(sent(CollectiveKind::all_gather, algorithm) == near(output * 7));
  }
  CHECK(sent(CollectiveKind::all_to_all, Algorithm::direct) == near(output * 7 / 8));
}

TEST_CASE("one representative and eight GPUs take equally long") {
  for (const CollectiveKind kind : {CollectiveKind::reduce_scatter, CollectiveKind::all_reduce,
                                    CollectiveKind::all_gather, CollectiveKind::all_to_all}) {
    for (const bool mesh : {false, true}) {
      WrittenExperiment experiment = fused_pair(kind, mesh ? full_mesh(kRanks) : switched(kRanks));
      experiment.cluster.gpu.dispatch.work_group_spread = 0.02;
      const Strategy strategy =
          fused(mesh ? Algorithm::direct : default_algorithm(gather(), Backend::fused, experiment.cluster));
      if (kind == CollectiveKind::all_to_all && !mesh) continue;  // no ring
      const Seconds folded = run_once(experiment, strategy, {}).time;
      experiment.measure.fold = Fold::none;
      const Seconds explicitly = run_once(experiment, strategy, {}).time;
      CHECK(explicitly.value == near(folded.value, 0.002));
    }
  }
}

TEST_CASE("a kernel whose tiles do not divide into chunks does the same work in smaller ones") {
  Ran ran;
  run(fused_pair(CollectiveKind::reduce_scatter, switched(kRanks), gemm_of_tiles(25, 18)), fused(),
      ran);  // 450
  CHECK(ran.recording.total("port0.out") == near(450 * kTile * 7 / 8));
  // 57 work groups in every XCD, two waves, each 450/456 of a tile's arithmetic
  const RunResult result = run_once(
      fused_pair(CollectiveKind::reduce_scatter, switched(kRanks), gemm_of_tiles(25, 18)), fused(), {});
  const double arithmetic = wave_seconds() - 0.4e-6;
  CHECK(result.kernels.end.value == near(kLaunch + 2 * (0.4e-6 + arithmetic * 450 / 456) + kStores));
}

TEST_CASE(
    "what a user should know is said: tiles that do not divide, and an arbitration of the strategy's own") {
  Strategy strategy = fused();
  CHECK(run_once(fused_pair(CollectiveKind::reduce_scatter), strategy, {}).notes.empty());
  strategy.hbm_arbitration = HbmArbitration::compute_first;
  const auto notes =
      run_once(fused_pair(CollectiveKind::reduce_scatter, switched(kRanks), gemm_of_tiles(25, 18)), strategy,
               {})
          .notes;
  CHECK(notes ==
        std::vector<std::string>{
            "HBM arbitration compute_first",
            "collective: 450 tiles of 'gemm' do not divide into 8 chunks; it runs with 456 of 98.7 % of their "
            "size"});
}

TEST_CASE("a fused collective is in flight from the first store on") {
  const RunResult result = run_once(fused_pair(CollectiveKind::reduce_scatter), fused(), {});
  REQUIRE(result.records.size() == 1);
  CHECK(result.records.front().backend == Backend::fused);
  CHECK(result.records.front().start.value == near(kLaunch + wave_seconds()));
  CHECK(result.records.front().end == result.time);
}

TEST_CASE("work groups keep their CUs until memory has their stores, where stores come first") {
  // At 1 TB/s the 38 local tiles of the first wave take 5 us, beside the first loads of the second, 20 us.
  WrittenExperiment experiment = fused_pair(CollectiveKind::all_to_all, full_mesh(kRanks));
  HbmSpec& hbm = experiment.cluster.gpu.hbm;
  hbm.peak = hbm.read = hbm.write = hbm.copy = 1.0_TBps;
  const auto kernel_end = [&](StoreOrder order) {
    hbm.store_order = order;
    return run_once(experiment, fused(Algorithm::direct), {}).kernels.end.value;
  };
  const double loads_first = kernel_end(StoreOrder::loads_first);
  const double shared = kernel_end(StoreOrder::shared);
  CHECK(kernel_end(StoreOrder::stores_first) > shared);
  CHECK(shared > loads_first);
}

TEST_CASE("what cannot be fused is refused, with its reason") {
  const auto contains = [](const std::string& text, const char* part) {
    CAPTURE(text);
    CHECK(text.find(part) != std::string::npos);
  };
  WrittenExperiment good = fused_pair(CollectiveKind::reduce_scatter);
  CHECK(refusal(good).empty());

  WrittenExperiment bad = good;
  bad.cluster.gpu.trigger.tracker_entries = 0;
  contains(refusal(bad), "strategy 'strategy', stream 'fsdp': collective: gpu 'mi300x-like' has no tracker");
  bad = good;
  bad.cluster.gpu.trigger.near_memory_update = 0.0;
  contains(refusal(bad), "cannot add (gpu.near_memory_update); choose reduction = \"atomics\"");
  bad = good;
  bad.cluster.gpu.trigger.tracker_entries = 3;
  contains(refusal(bad), "the tracker is too small");
  bad = good;
  bad.measure.kernel_grain = KernelGrain::fluid;
  contains(refusal(bad), "measure.kernel_grain must be \"cohort\" or \"work_group\"");
  bad = good;
  bad.streams[0].operations.erase(bad.streams[0].operations.begin());
  contains(refusal(bad), "needs the kernel that makes its data right before it");
  bad = good;
  std::get<CollectiveCall>(bad.streams[1].operations[1].work).bytes = 1.0_MB;
  contains(refusal(bad), "moves 1000000 B a rank, and 'gemm', with which it is fused, makes 59768832 B");
  bad = fused_pair(CollectiveKind::all_reduce, full_mesh(kRanks));
  bad.cluster.gpu.dma.engines = 6;
  contains(refusal(bad, fused(Algorithm::direct)), "needs 7 copy engines, gpu 'mi300x-like' has 6");
  bad = good;
  bad.streams[1].operations.push_back(bad.streams[1].operations[1]);
  contains(refusal(bad), "needs the kernel");
}

TEST_CASE("ranks outside of the group run the kernel as it is") {
  WrittenExperiment experiment = fused_pair(CollectiveKind::reduce_scatter);
  auto& call = std::get<CollectiveCall>(experiment.streams[1].operations[1].work);
  call.ranks = {2, 3, 5, 7};
  Ran ran;
  run(experiment, fused(), ran);
  CHECK(ran.recording.of_kind(ActivityKind::kernel).size() == kRanks);
  CHECK(ran.recording.total("port0.out") == 0.0);
  CHECK(ran.recording.total("port5.out") == near(456 * kTile * 3 / 4));
}

namespace {

/// The output of each kernel, collected or added up in groups.
WrittenExperiment fused_in_groups(CollectiveKind kind, RankGroups groups, NodeSpec node) {
  WrittenExperiment experiment = fused_pair(kind, std::move(node));
  auto& call = std::get<CollectiveCall>(experiment.streams[1].operations[1].work);
  const Bytes output = Bytes{456 * kTile};
  call.bytes = kind == CollectiveKind::all_gather ? groups.size * output : output;
  call.groups = groups;
  experiment.cluster.node.link.both_ways = 8.0_GBps;  // less than one way: what comes back slows what goes
  return experiment;
}

}  // namespace

TEST_CASE("in groups every kernel stores at its own rank's group, and one rank stands for all") {
  for (const CollectiveKind kind : {CollectiveKind::reduce_scatter, CollectiveKind::all_reduce,
                                    CollectiveKind::all_gather, CollectiveKind::all_to_all}) {
    for (const RankGroups groups : {RankGroups{2, 1}, RankGroups{2, 4}, RankGroups{4, 1}, RankGroups{4, 2}}) {
      CAPTURE(name_of(kind));
      CAPTURE(groups.size);
      CAPTURE(groups.stride);
      WrittenExperiment experiment = fused_in_groups(kind, groups, full_mesh(kRanks));
      Ran folded, whole;
      run(experiment, fused(Algorithm::direct), folded);
      experiment.measure.fold = Fold::none;
      run(experiment, fused(Algorithm::direct), whole);
      CHECK(whole.time.value == near(folded.time.value, 0.002));
      for (int dst = 1; dst < kRanks; ++dst) {
        const std::vector<int> members = group_of(groups, 0);
        const bool is_peer = std::ranges::find(members, dst) != members.end();
        const std::string link = "link0-" + std::to_string(dst);
        CHECK((folded.recording.total(link) > 0.0) == is_peer);
        CHECK((whole.recording.total(link) > 0.0) == is_peer);
        if (is_peer) CHECK(whole.recording.total(link) == near(folded.recording.total(link)));
      }
      CHECK(whole.recording.of_kind(ActivityKind::collective).size() == kRanks);
    }
  }
}

TEST_CASE("a fused ring in groups of four: as many bytes on each port as four GPUs alone") {
  WrittenExperiment experiment = fused_in_groups(CollectiveKind::reduce_scatter, {4, 2}, switched(kRanks));
  experiment.measure.fold = Fold::none;
  Ran ran;
  run(experiment, fused(), ran);
  for (const char* port : {"port0.out", "port5.out", "port7.in"})
    CHECK(ran.recording.total(port) == near(456 * kTile * 3 / 4));
}

TEST_CASE("a kernel of a rank that does not take part in the groups is not fused") {
  WrittenExperiment experiment = fused_in_groups(CollectiveKind::reduce_scatter, {4, 1}, switched(kRanks));
  experiment.streams[1].operations[1].on = {4, 5, 6, 7};
  Ran ran;
  run(experiment, fused(), ran);
  CHECK(ran.recording.of_kind(ActivityKind::kernel).size() == kRanks);
  CHECK(ran.recording.total("port0.out") == 0.0);
  CHECK(ran.recording.total("port4.out") == near(456 * kTile * 3 / 4));
}

TEST_CASE("K that is split cannot be fused") {
  Experiment experiment =
      fused_pair(CollectiveKind::reduce_scatter, switched(kRanks), gemm_of_tiles(2, 4, 65536));
  experiment.cluster.gpu.kernels.matrix_gemm.split_us = 0.0;
  CHECK(refusal(experiment).find("adds up parts of K after it has made them") != std::string::npos);
}

TEST_CASE("the producer is the kernel before, or the one before an event that is waited for") {
  const WrittenOperation kernel{"gemm", gemm_of_tiles(1, 1)};
  const WrittenOperation call{"gather", gather()};
  const WrittenOperation record{"record e", WrittenRecord{"e"}};
  const WrittenOperation wait{"wait e", WrittenWait{"e"}};
  const WrittenOperation wait_too{"wait f", WrittenWait{"f"}};
  const auto producer = [](std::vector<WrittenStream> streams, OperationPlace place) {
    return producer_of(program_of(streams, 8).scripts.front(), place);
  };
  CHECK(producer({{"s", {kernel, call}}}, {0, 1}) == OperationPlace{0, 0});
  CHECK(producer({{"s", {kernel, record, call}}}, {0, 2}) == OperationPlace{0, 0});
  CHECK(producer({{"s", {kernel, record}}, {"t", {wait, call}}}, {1, 1}) == OperationPlace{0, 0});
  CHECK_FALSE(producer({{"s", {kernel, call, call}}}, {0, 2}));
  CHECK_FALSE(producer({{"s", {record}}, {"t", {wait, call}}}, {1, 1}));
  const WrittenOperation record_too{"record f", WrittenRecord{"f"}};
  CHECK_FALSE(producer({{"s", {kernel, record}}, {"t", {wait, record_too}}, {"u", {wait_too, call}}}, {2, 1}));
  CHECK_FALSE(producer({{"s", {kernel, wait_too, record}}, {"t", {wait, call}}}, {1, 1}));
}

TEST_CASE("the bound of a fused strategy counts no bytes at memory that fusing saves") {
  WrittenExperiment experiment = fused_pair(CollectiveKind::reduce_scatter);
  experiment.cluster.gpu.hbm.peak = 0.1_TBps;
  const LowerBound apart = lower_bound(experiment, in_order());
  const LowerBound together = lower_bound(experiment, fused());
  CHECK(together.hbm < apart.hbm);
  CHECK(together.hbm == together.kernels);
  CHECK(together.serial == together.together());
}

}  // namespace c3::workloads_fused_test
