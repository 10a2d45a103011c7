// Timed kernels and messages: pipelines by hand, where links are free and dates are sums.

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "engine/errors.hpp"
#include "tests/support/mi300x_like.hpp"
#include "tests/support/near.hpp"
#include "tests/support/recording.hpp"
#include "workloads/analysis/lower_bound.hpp"
#include "workloads/execute/run.hpp"
#include "workloads/program/check_messages.hpp"
#include "workloads/program/common_dates.hpp"
#include "workloads/program/program_builder.hpp"
#include "workloads/program/rank_classes.hpp"

namespace c3::workloads_messages_test {

using namespace literals;
using namespace test;

namespace {

constexpr int kRanks = 16;
constexpr int kStages = 4;
constexpr Seconds kForward{2e-3}, kBackward{4e-3};
const Message kToNext{1, Bytes{1.0}, true}, kFromLast{-1, Bytes{1.0}, false};
const Message kToLast{-1, Bytes{1.0}, true}, kFromNext{1, Bytes{1.0}, false};

/// Launches, links and engines that take no time.
Experiment on_free_links(Program program, int ranks = kRanks) {
  Experiment experiment;
  experiment.name = "pipeline";
  experiment.cluster = mi300x_like_cluster(ranks);
  LinkSpec& link = experiment.cluster.node.link;
  link.raw = link.one_way = link.both_ways = BytesPerSecond{1e20};
  link.latency = Seconds{};
  GpuSpec& gpu = experiment.cluster.gpu;
  gpu.dispatch.launch_latency = gpu.dispatch.dependent_gap = Seconds{};
  gpu.dma = DmaSpec{};
  gpu.dma.engines = 16;
  gpu.dma.engine_bandwidth = BytesPerSecond{1e20};
  gpu.dma.outstanding = Bytes{60e3};
  experiment.program = std::move(program);
  return experiment;
}

Strategy by_engines() {
  StreamPolicy policy;
  policy.backend = Backend::dma;
  return {.name = "engines", .order = {}, .streams = {{"s", policy}}};
}

RunResult run(const Experiment& experiment) { return run_once(experiment, by_engines(), {}); }

std::string refusal(const Experiment& experiment) {
  try {
    run(experiment);
  } catch (const std::exception& error) {
    return error.what();
  }
  return {};
}

struct Passes {
  Seconds forward = kForward, backward = kBackward;
  bool gathers_backward = false;  ///< ranks of a pair wait for each other after a backward pass, too
};

/// Writes the script of one stage of 1F1B (Narayanan et al., SC 2021), as Megatron-LM runs it: as many forward
/// passes ahead as stages follow, then one backward pass for each forward pass.
class StageWriter {
 public:
  StageWriter(ProgramBuilder& builder, CommunicatorId pipeline, int stage, int micro_batches, Passes passes)
      : builder_(builder), stream_(builder.stream("s")), pipeline_(pipeline), stage_(stage), passes_(passes) {
    const int ahead = std::min(kStages - 1 - stage, micro_batches);
    for (int i = 0; i < ahead; ++i) {
      messages({kFromLast});
      forward_pass();
      messages({kToNext});
    }
    const int rest = micro_batches - ahead;
    if (rest > 0) messages({kFromLast});
    for (int i = 0; i < rest; ++i) {
      forward_pass();
      messages({kToNext, kFromNext});
      backward_pass();
      messages(i + 1 < rest ? std::vector{kToLast, kFromLast} : std::vector{kToLast});
    }
    for (int i = 0; i < ahead; ++i) {
      messages({kFromNext});
      backward_pass();
      messages({kToLast});
    }
  }

 private:
  void forward_pass() {
    builder_.timed(stream_, "forward", {passes_.forward});
    gather();
  }
  void backward_pass() {
    builder_.timed(stream_, "backward", {passes_.backward});
    if (passes_.gathers_backward) gather();
  }
  void gather() {
    CollectiveCall call{.kind = CollectiveKind::all_gather, .bytes = Bytes{2.0}};
    call.groups = RankGroups{2, 1};
    builder_.collective(stream_, "tensor", call);
  }

  /// Adds the messages that have a stage at the other end.
  void messages(std::vector<Message> all) {
    std::erase_if(all, [&](const Message& message) {
      return stage_ + message.offset < 0 || stage_ + message.offset >= kStages;
    });
    if (!all.empty()) builder_.exchange(stream_, "pipeline", {pipeline_, all});
  }

  ProgramBuilder& builder_;
  ProgramBuilder::Stream stream_;
  CommunicatorId pipeline_;
  int stage_;
  Passes passes_;
};

/// 4 stages of 4 ranks, of which pairs work together. \param slow ranks of it, whose passes are \p theirs
Program pipeline(int micro_batches, const std::vector<int>& slow = {}, Passes theirs = {}) {
  const Passes usual_passes{.gathers_backward = theirs.gathers_backward};
  ProgramBuilder builder;
  const CommunicatorId stages = builder.communicator("pp", {kStages, kRanks / kStages});
  for (int stage = 0; stage < kStages; ++stage) {
    std::vector<int> usual;
    for (int rank = stage * 4; rank < stage * 4 + 4; ++rank) {
      if (std::ranges::find(slow, rank) == slow.end()) usual.push_back(rank);
    }
    builder.begin_script(usual);
    StageWriter(builder, stages, stage, micro_batches, usual_passes);
    if (std::ssize(usual) == 4) continue;
    builder.begin_script(slow);
    StageWriter(builder, stages, stage, micro_batches, theirs);
  }
  return builder.take(kRanks);
}

/// Every rank sends to the next and receives from the last one: at once, or one after the other.
Program ring(bool at_once, int ranks) {
  ProgramBuilder builder;
  const auto stream = builder.stream("s");
  const CommunicatorId all = builder.communicator("ring", {ranks, 1});
  if (at_once) {
    builder.exchange(stream, "shift", {all, {kToNext, kFromLast}});
  } else {
    builder.exchange(stream, "send", {all, {kToNext}});
    builder.exchange(stream, "receive", {all, {kFromLast}});
  }
  return builder.take();
}

}  // namespace

TEST_CASE("a timed kernel takes its time, and longer where its bytes meet others at HBM") {
  ProgramBuilder builder;
  const TimedKernel kernel{.duration = 1.0_ms, .read = Bytes{3e9}};  // 3 TB/s
  builder.timed(builder.stream("s"), "a", kernel);
  Experiment experiment = on_free_links(builder.take(), 2);
  experiment.cluster.gpu.hbm.read = experiment.cluster.gpu.hbm.copy = experiment.cluster.gpu.hbm.write =
      4.0_TBps;
  experiment.cluster.gpu.cache.llc_size = Bytes{};
  CHECK(run(experiment).time.value == near(1e-3));
  // Two of them ask for 6 of 4 TB/s.
  ProgramBuilder two;
  two.timed(two.stream("s"), "a", kernel);
  two.timed(two.stream("t"), "b", kernel);
  experiment.program = two.take();
  CHECK(run(experiment).time.value == near(1.5e-3, 1e-6));
}

TEST_CASE("1F1B over free links takes (stages - 1 + micro-batches) x (forward + backward)") {
  for (const int micro_batches : {1, 3, 4, 9}) {
    CAPTURE(micro_batches);
    const Experiment experiment = on_free_links(pipeline(micro_batches));
    const double passes = kStages - 1 + micro_batches;
    CHECK(run(experiment).time.value == near(passes * (kForward + kBackward).value, 1e-9));
    CHECK(lower_bound(experiment).serial.value <= run(experiment).time.value);
  }
}

TEST_CASE("a straggler delays its pair, and through it its pipeline, and no other") {
  // Rank 5 (stage 1, pair 4 5; pipelines 0 4 8 12 and 1 5 9 13) needs 1 ms more for each of three forward
  // passes.
  const Experiment slow = on_free_links(pipeline(3, {5}, {.forward = kForward + 1.0_ms}));
  Recording recording;
  run_once(slow, by_engines(), {.observer = &recording});
  const auto end_of = [&](int rank) {
    double end = 0.0;
    for (const auto* activity : recording.of_kind(ActivityKind::kernel)) {
      if (activity->gpu == rank) end = std::max(end, activity->end.value);
    }
    return end;
  };
  const double usual = 6 * (kForward + kBackward).value;
  for (const int rank : {2, 3, 6, 7, 10, 11, 14, 15}) {
    CAPTURE(rank);
    CHECK(end_of(rank) <= usual * (1 + 1e-9));
  }
  // The longest way goes down with the first micro-batch (one of its forward passes), stays on the last stage
  // for all three, and comes back with the last: 1 ms more.
  CHECK(end_of(0) == near(usual + 1e-3, 1e-9));
  CHECK(end_of(1) == near(usual + 1e-3, 1e-9));
  CHECK(end_of(3) == near(usual, 1e-9));
}

TEST_CASE("a straggler in a pipeline makes five classes more: its pair in each stage, and itself") {
  CHECK(rank_classes(pipeline(3), kRanks, 4).classes() == kStages);
  // Classes by whom they meet: in each stage the two ranks of its pipelines differ from each other and from the
  // others; but 4 and 5 gather together before they send.
  const Program slow = pipeline(3, {5}, {.forward = kForward + 1.0_ms});
  const RankPartition met = rank_classes(slow, kRanks, 4);
  CHECK(met.classes() == 3 * kStages);
  const RankPartition classes = merge_common_dates(slow, met, 4);
  CHECK(classes.classes() == kStages + 5);
  CHECK(classes.ranges()[0] == RankRanges{{0, 2}});
  CHECK(classes.ranges()[2] == RankRanges{{4, 5}});
  CHECK(classes.ranges()[3] == RankRanges{{5, 6}});
  // If the kernel before it sends back is the slow one, ranks 0 and 1 differ; stages 2 and 3, which have sent
  // all they had by then, are not concerned.
  const Program slow_backward = pipeline(3, {5}, {.backward = kBackward + 1.0_ms});
  CHECK(merge_common_dates(slow_backward, met, 4).classes() == 3 + 3 + 1 + 1);
}

TEST_CASE("what is stated of a rank keeps its peers apart only where it changes their dates") {
  const Program program = pipeline(3, {}, {.gathers_backward = true});
  std::vector<std::uint32_t> hot(kRanks);
  hot[5] = 1;
  const RankPartition met = rank_classes(program, kRanks, 4, hot);
  CHECK(met.classes() == 3 * kStages);
  const auto merged = [&](const RankDifferences& differences) {
    return merge_common_dates(program, met, 4, differences).classes();
  };
  CHECK(merged({.all = hot, .begins = {}, .kernels = hot, .transfers = {}}) == kStages + 5);
  CHECK(merged({.all = hot, .begins = {}, .kernels = hot, .transfers = hot}) == 3 * kStages);
  // Its first receive is late, so that 1 sends later than 0; 4 and 5 then gather together.
  CHECK(merged({.all = hot, .begins = hot, .kernels = {}, .transfers = {}}) == 3 + 3 + 2 + 2);
}

TEST_CASE("a ring of sends that wait for their receivers is a deadlock that names ranks") {
  const std::string why = refusal(on_free_links(ring(false, 4), 4));
  INFO(why);
  CHECK(why.find("stream 's' of rank 0, at operation 0 (send), waits for stream 's' of rank 1") !=
        std::string::npos);
  CHECK(why.find("stream 's' of rank 3, at operation 0 (send), waits for stream 's' of rank 0") !=
        std::string::npos);
  CHECK(refusal(on_free_links(ring(true, 4), 4)).empty());
}

TEST_CASE("messages move their bytes over the links, at once where they are launched together") {
  Experiment experiment = on_free_links(ring(true, 4), 4);
  LinkSpec& link = experiment.cluster.node.link;
  link.raw = link.one_way = link.both_ways = 1.0_GBps;
  for (std::vector<Operation>& stream : experiment.program.scripts[0].streams) {
    for (Message& message : std::get<Exchange>(stream[0].work).messages)
      message.bytes = 1.0_MB;
  }
  CHECK(run(experiment).time.value == near(1e-3, 1e-6));
  const RunResult result = run(experiment);
  REQUIRE(result.records.size() == 4);
  CHECK(result.records[0].op == CollectiveKind::send_receive);
  CHECK(result.records[0].bytes == 1.0_MB);
  CHECK(lower_bound(experiment).collectives.value == near(1e-3 / 3, 1e-6));  // over all three links of a rank
}

TEST_CASE("what is sent and not received is refused, with both ranks") {
  const auto refused = [](const std::vector<Message>& first, const std::vector<Message>& second,
                          const char* stream) {
    ProgramBuilder builder;
    const CommunicatorId pair = builder.communicator("pair", {2, 1});
    builder.begin_script({0});
    builder.exchange(builder.stream("s"), "a", {pair, first});
    builder.begin_script({1});
    builder.exchange(builder.stream(stream), "b", {pair, second});
    return refusal(on_free_links(builder.take(2), 2));
  };
  CHECK(refused({kToNext}, {kFromLast}, "s").empty());
  CHECK(refused({kToNext, kToNext}, {kFromLast}, "s") ==
        "over 'pair' rank 0 sends 2 messages to rank 1, which receives 1");
  CHECK(refused({kToNext}, {{-1, Bytes{2.0}, false}}, "s") ==
        "over 'pair' rank 0 sends 1 B as message 0 to rank 1, which receives 2 B");
  CHECK(refused({kToNext}, {kFromLast}, "t") ==
        "over 'pair' rank 0 sends message 0 to rank 1 on stream 's', which receives it on stream 't'");
}

TEST_CASE("peers are counted around their group") {
  CHECK(peer_of({4, 2}, 1, 1) == 3);
  CHECK(peer_of({4, 2}, 7, 1) == 1);
  CHECK(peer_of({4, 2}, 8, -1) == 14);
  CHECK(peer_of({2, 1}, 5, 1) == 4);
}

TEST_CASE("scripts join one call where their n-th collectives over the same groups are the same") {
  const CollectiveCall sum{.kind = CollectiveKind::all_reduce, .bytes = 1.0_MiB};
  const CollectiveCall gather{.kind = CollectiveKind::all_gather, .bytes = 1.0_MiB};
  ProgramBuilder builder;
  builder.begin_script({0});
  builder.collective(builder.stream("s"), "sum", sum);
  builder.collective(builder.stream("s"), "gather", gather);
  builder.begin_script({1});
  builder.collective(builder.stream("s"), "sum", sum);
  builder.collective(builder.stream("s"), "sum again", sum);
  const Program program = builder.take(4);
  const auto call = [&](int rank, std::size_t i) {
    return std::get<JoinCall>(program.script_of(rank).streams.at(0).at(i).work).call;
  };
  CHECK(call(0, 0) == call(1, 0));
  CHECK(call(0, 1) != call(1, 1));
  CHECK(program.calls.size() == 3);
  CHECK(program.scripts.size() == 3);  // of ranks 2 and 3, which do nothing
  CHECK(program.script_of(3).streams.at(0).empty());
  CHECK(program.ranks == std::vector<RankSpan>{{0, 1, 0}, {1, 2, 1}, {2, 4, 2}});
}

TEST_CASE("sends that wait for one another in a ring end where all fit into buffers") {
  Experiment experiment = on_free_links(ring(false, 4), 4);
  experiment.cluster.library.pair_buffer = Bytes{1.0};
  CHECK(!refusal(experiment).empty());  // engines write where it belongs
  run_once(experiment, {.name = "channels", .order = {}, .streams = {}}, {});
  experiment.cluster.library.pair_buffer = Bytes{0.5};
  CHECK_THROWS_AS(run_once(experiment, {.name = "channels", .order = {}, .streams = {}}, {}), DeadlockError);
}

}  // namespace c3::workloads_messages_test
