// Studies: strategies over seeds and draws, against serial, ideal and bound.

#include "workloads/analysis/study.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/support/near.hpp"
#include "tests/support/print_units.hpp"
#include "tests/unit/workloads_pair.hpp"

namespace c3::workloads_study_test {

using namespace literals;
using namespace test;

namespace {

WrittenExperiment drawn_pair(int seeds) {
  WrittenExperiment experiment = pair();
  experiment.cluster.gpu.dispatch.work_group_spread = 0.02;
  experiment.measure.seeds = seeds;
  Strategy serial{.name = "serial", .serial = true, .order = {}, .streams = {}};
  Strategy concurrent{.name = "concurrent", .order = {"compute", "fsdp"}, .streams = {}};
  experiment.strategies = {serial, concurrent};
  return experiment;
}

StudyResult study(const Experiment& experiment) {
  return run_study([&](std::optional<std::uint64_t>) { return experiment; });
}

/// Hears one run of each strategy: a second one would number its activities anew, which Recording refuses.
class Recorder : public StudyRecorder {
 public:
  RunListeners begin(const Strategy& strategy, const Experiment&, const std::string&) override {
    return {&recordings[strategy.name]};
  }
  void finish(const StrategyResult& result, const std::vector<CollectiveRecord>& collectives) override {
    finished.push_back(result.name);
    const Recording& recording = recordings.at(result.name);
    Seconds end;
    for (const Recording::Activity& activity : recording.activities)
      end = std::max(end, activity.end);
    CHECK(end == result.time);
    REQUIRE(collectives.size() == 1);
    CHECK(collectives.front().end <= end);
  }

  std::map<std::string, Recording> recordings;
  std::vector<std::string> finished;
};

/// Times of a strategy over seeds 0.., ascending.
std::vector<Seconds> sorted_times(const Experiment& experiment, const Strategy& strategy) {
  std::vector<Seconds> times;
  for (int seed = 0; seed < experiment.measure.seeds; ++seed) {
    times.push_back(run_once(experiment, strategy, {.cus = {}, .seed = static_cast<std::uint64_t>(seed)}).time);
  }
  std::ranges::sort(times);
  return times;
}

/// Links of 1, 2 and 4 times the speed in draws 0, 1 and 2, nominal as in draw 0.
WrittenExperiment with_links_of(std::optional<std::uint64_t> draw) {
  WrittenExperiment experiment = drawn_pair(1);
  experiment.measure.draws = 3;
  const double faster = static_cast<double>(1U << draw.value_or(0));
  LinkSpec& link = experiment.cluster.node.link;
  link = {link.raw * faster, link.one_way * faster, link.both_ways * faster, link.latency};
  CollectiveLibrarySpec& library = experiment.cluster.library;
  library.link_payload = library.link_payload * faster;
  library.simple.channel_rate = library.simple.channel_rate * faster;
  library.cu_rate = library.cu_rate * faster;
  return experiment;
}

}  // namespace

TEST_CASE("time is the median over seeds by nearest rank, with the 5th and 95th percentile beside it") {
  // Quantiles of 8 sorted times: ranks ceil(0.5 x 8) = 4, ceil(0.05 x 8) = 1 and ceil(0.95 x 8) = 8.
  const Experiment experiment = drawn_pair(8);
  const StudyResult result = study(experiment);
  REQUIRE(result.strategies.size() == 2);
  for (std::size_t i = 0; i < 2; ++i) {
    const auto times = sorted_times(experiment, experiment.strategies[i]);
    CHECK(result.strategies[i].time == times[3]);
    CHECK(result.strategies[i].spread->p5 == times[0]);
    CHECK(result.strategies[i].spread->p95 == times[7]);
  }
}

TEST_CASE("speedup is over serial, ideal is both sides alone over the longer, share is of the gain") {
  const Experiment experiment = drawn_pair(1);
  const StudyResult result = study(experiment);
  const double tg = run_side(experiment, OperationFilter::kernels).time.value;
  const double tc = run_side(experiment, OperationFilter::collectives).time.value;
  const double serial = result.strategies[0].time.value;
  const StrategyResult& concurrent = result.strategies[1];
  CHECK(serial == near(tg + tc + kGap - kLaunch));
  CHECK(*result.strategies[0].speedup == near(1.0));
  CHECK(*concurrent.speedup == near(serial / concurrent.time.value));
  CHECK(*concurrent.ideal_speedup == near((tg + tc) / std::max(tg, tc)));
  REQUIRE(concurrent.share_of_ideal);
  CHECK(*concurrent.share_of_ideal == near((*concurrent.speedup - 1) / (*concurrent.ideal_speedup - 1)));
  REQUIRE(concurrent.kernel);
  REQUIRE(concurrent.collective);
  CHECK(concurrent.kernel->alone.value == tg);
  CHECK(concurrent.collective->alone.value == tc);
  CHECK(concurrent.collective->together > concurrent.collective->alone);
}

TEST_CASE("alone is under a strategy's own channels, backend and partition, ideal under none of them") {
  WrittenExperiment experiment = drawn_pair(3);
  Strategy& concurrent = experiment.strategies[1];
  const StrategyResult by_default = study(experiment).strategies[1];
  concurrent.streams["fsdp"].priority = 1;  // beside nobody it means nothing
  CHECK(study(experiment).strategies[1].collective->alone == by_default.collective->alone);
  const auto with_few = [](StreamPolicy& policy) { policy.method.channels.most = 8; };
  const auto on_engines = [](StreamPolicy& policy) { policy.backend = Backend::dma; };
  const auto on_8_cus = [](StreamPolicy& policy) { policy.cus = {8, 8}; };
  for (const std::function<void(StreamPolicy&)>& change :
       std::vector<std::function<void(StreamPolicy&)>>{with_few, on_engines, on_8_cus}) {
    concurrent.streams = {};
    change(concurrent.streams["fsdp"]);
    const StrategyResult own = study(experiment).strategies[1];
    const auto alone = [&](OperationFilter filter) {
      std::vector<Seconds> times;
      for (std::uint64_t seed = 0; seed < 3; ++seed)
        times.push_back(
            run_once(experiment, concurrent, {.cus = own.cus, .seed = seed, .filter = filter}).time);
      std::ranges::sort(times);
      return times[1];
    };
    CHECK(own.kernel->alone == alone(OperationFilter::kernels));
    CHECK(own.collective->alone == alone(OperationFilter::collectives));
    CHECK(own.collective->alone != by_default.collective->alone);
    CHECK(own.ideal_speedup == by_default.ideal_speedup);
  }
}

TEST_CASE("without a serial strategy, speedup is over both sides alone in turn") {
  WrittenExperiment experiment = drawn_pair(1);
  experiment.strategies.erase(experiment.strategies.begin());
  const StrategyResult result = study(experiment).strategies.front();
  CHECK(*result.speedup == near((result.kernel->alone + result.collective->alone) / result.time));
}

TEST_CASE("without sides alone there is what strategies take, and a speedup over a serial one") {
  WrittenExperiment experiment = drawn_pair(1);
  const StudyResult whole = study(experiment);
  experiment.measure.alone = experiment.measure.loss_split = false;
  const StudyResult result = study(experiment);
  for (std::size_t i = 0; i < result.strategies.size(); ++i) {
    const StrategyResult& strategy = result.strategies[i];
    CHECK(strategy.time == whole.strategies[i].time);
    CHECK(strategy.speedup == whole.strategies[i].speedup);
    CHECK_FALSE((strategy.ideal_speedup || strategy.share_of_ideal || strategy.kernel || strategy.collective));
  }
  experiment.strategies.erase(experiment.strategies.begin());
  CHECK_FALSE(study(experiment).strategies.front().speedup);
}

TEST_CASE("with one side only there is no share of ideal, and the other side is absent") {
  WrittenExperiment experiment = drawn_pair(1);
  experiment.streams.pop_back();
  experiment.strategies = {in_order()};
  const StrategyResult kernels = study(experiment).strategies.front();
  CHECK(kernels.ideal_speedup == 1.0);
  CHECK_FALSE(kernels.share_of_ideal);
  CHECK(kernels.kernel);
  CHECK_FALSE(kernels.collective);
  experiment = drawn_pair(1);
  experiment.streams.erase(experiment.streams.begin());
  experiment.strategies = {in_order()};
  const StrategyResult collectives = study(experiment).strategies.front();
  CHECK_FALSE(collectives.share_of_ideal);
  CHECK_FALSE(collectives.kernel);
  CHECK(collectives.collective);
}

TEST_CASE("a swept partition is the one with the least median, and says which") {
  // All-gather enqueued first, so that the size of its partition decides: few CUs slow it, many the GEMM.
  WrittenExperiment experiment = drawn_pair(3);
  Strategy swept{.name = "swept", .order = {"fsdp", "compute"}, .streams = {}};
  swept.streams["fsdp"].cus = {8, 128};
  experiment.strategies.push_back(swept);
  const StrategyResult result = study(experiment).strategies.back();
  REQUIRE(result.best_cus);
  Seconds least{INFINITY};
  int argmin = 0;
  for (const CuChoice& choice : cu_choices(experiment, swept)) {
    std::vector<Seconds> times;
    for (std::uint64_t seed = 0; seed < 3; ++seed) {
      times.push_back(run_once(experiment, swept, {.cus = choice, .seed = seed}).time);
    }
    std::ranges::sort(times);
    if (times[1] < least) {
      least = times[1];
      argmin = choice[1];
    }
  }
  CHECK(*result.best_cus == argmin);
  CHECK(result.time == least);
  CHECK(result.cus == std::vector<int>{0, argmin});
}

TEST_CASE("a fixed partition is no best one") {
  WrittenExperiment experiment = drawn_pair(1);
  experiment.strategies[1].streams["fsdp"].cus = {24, 24};
  const StudyResult result = study(experiment);
  CHECK(result.strategies[1].cus == std::vector<int>{0, 24});
  CHECK_FALSE(result.strategies[1].best_cus);
  CHECK_FALSE(result.strategies[0].best_cus);
}

TEST_CASE("the loss split's parts and rest are the time beyond the longer side alone") {
  WrittenExperiment experiment = drawn_pair(1);
  experiment.measure.loss_split = true;
  const StudyResult result = study(experiment);
  CHECK_FALSE(result.strategies[0].loss);  // serial
  const StrategyResult& concurrent = result.strategies[1];
  REQUIRE(concurrent.loss);
  const LossSplit& loss = *concurrent.loss;
  const Seconds ideal = std::max(concurrent.kernel->alone, concurrent.collective->alone);
  const Seconds sum = loss.dispatch + loss.cus + loss.cache + loss.hbm + loss.links + loss.interaction;
  CHECK(sum.value == near((concurrent.time - ideal).value));
}

TEST_CASE("the losses add up to the printed time less the longer side's printed time alone") {
  // The GEMM is the longer side: its time alone differs from seed to seed.
  for (const int seeds : {1, 4, 5}) {
    WrittenExperiment experiment = drawn_pair(seeds);
    experiment.streams[0].operations[0].work = gemm_of_tiles(48, 152);
    experiment.measure.loss_split = true;
    const StrategyResult concurrent = study(experiment).strategies[1];
    const Seconds ideal = std::max(concurrent.kernel->alone, concurrent.collective->alone);
    CAPTURE(seeds);
    CHECK(concurrent.loss->total().value == near((concurrent.time - ideal).value));
  }
}

TEST_CASE("a spread is over several runs: seeds, or draws") {
  CHECK_FALSE(study(drawn_pair(1)).strategies[1].spread);
  CHECK(study(drawn_pair(2)).strategies[1].spread);
  CHECK(run_study(with_links_of).strategies[1].spread);
}

TEST_CASE("a time below its lower bound is an internal error") {
  WrittenExperiment experiment = drawn_pair(1);
  experiment.cluster.node.link.raw = 20.0_GBps;  // slower than what is usable
  CHECK_THROWS_AS(study(experiment), std::logic_error);
}

TEST_CASE("the recorded run takes the median's time to the last bit") {
  const Experiment experiment = drawn_pair(4);
  for (const StrategyResult& result : study(experiment).strategies) {
    Recording recording;
    const auto records = record_run(experiment, result, recording);
    REQUIRE(records.size() == 1);
    Seconds end;
    for (const auto& activity : recording.activities)
      end = std::max(end, activity.end);
    CHECK(end == result.time);
    CHECK(result.recorded_seed < 4);
    CHECK_FALSE(result.recorded_draw);
  }
}

TEST_CASE("an only run is written down as it runs, of several the median's runs once more") {
  for (const int seeds : {1, 4}) {
    CAPTURE(seeds);
    const Experiment experiment = drawn_pair(seeds);
    std::size_t runs = 0, planned = 0;
    Recorder recorder;
    const auto progress = [&](const StudyCost& cost) {
      runs = cost.done();
      planned = cost.planned();
    };
    run_study([&](std::optional<std::uint64_t>) { return experiment; },
              {.progress = progress, .recorder = &recorder});
    const std::size_t sides_and_strategies = 4 * static_cast<std::size_t>(seeds);
    CHECK(runs == sides_and_strategies + (seeds > 1 ? 2 : 0));
    CHECK(planned == runs);
    CHECK(recorder.finished == std::vector<std::string>{"serial", "concurrent"});
  }
}

TEST_CASE("draws vary the experiment: percentiles are over them, and the recorded draw is the median's") {
  // All-gathers of 1, 1/2 and 1/4 of the time alone, longer than the GEMM or not. No seed but 0.
  const StudyResult result = run_study(with_links_of);
  const StrategyResult& concurrent = result.strategies.back();
  std::vector<Seconds> times;
  for (std::uint64_t draw = 0; draw < 3; ++draw) {
    const Experiment experiment = with_links_of(draw);
    times.push_back(run_once(experiment, experiment.strategies.back(), {}).time);
  }
  REQUIRE(times[0] > times[1]);
  REQUIRE(times[1] > times[2]);
  CHECK(concurrent.spread->p5 == times[2]);
  CHECK(concurrent.time == times[1]);
  CHECK(concurrent.spread->p95 == times[0]);
  REQUIRE(concurrent.recorded_draw);
  CHECK(*concurrent.recorded_draw == 1);
  Recording recording;
  record_run(with_links_of(concurrent.recorded_draw), concurrent, recording);
  Seconds end;
  for (const auto& activity : recording.activities)
    end = std::max(end, activity.end);
  CHECK(end == concurrent.time);
}

TEST_CASE("with draws each time is held to the bound of its own draw") {
  // Gathers alone: links of four times the speed beat the bound of the median's, which have twice.
  const auto gathers = [](std::optional<std::uint64_t> draw) {
    WrittenExperiment experiment = with_links_of(draw);
    experiment.streams.erase(experiment.streams.begin());
    experiment.strategies = {in_order()};
    return experiment;
  };
  CHECK_NOTHROW(run_study(gathers));
  // Only the fastest draw has links that cannot be: usable 168 GB/s of 32 raw.
  const auto broken = [&](std::optional<std::uint64_t> draw) {
    WrittenExperiment experiment = gathers(draw);
    if (draw == 2U) experiment.cluster.node.link.raw = 32.0_GBps;
    return experiment;
  };
  CHECK_THROWS_AS(run_study(broken), std::logic_error);
}

TEST_CASE("draws and seeds multiply, and without draws the nominal experiment runs") {
  std::vector<std::optional<std::uint64_t>> made;
  std::size_t runs = 0;
  const auto make = [&](std::optional<std::uint64_t> draw) {
    made.push_back(draw);
    WrittenExperiment experiment = with_links_of(draw);
    experiment.measure.seeds = 2;
    return experiment;
  };
  run_study(make, {.progress = [&](const StudyCost& cost) { runs = cost.done(); }});
  CHECK(made == std::vector<std::optional<std::uint64_t>>{std::nullopt, 0, 1, 2});
  CHECK(runs == 4 * 3 * 2);  // both sides alone and two strategies
}

TEST_CASE("progress counts every run, up to a total that is there from the start") {
  WrittenExperiment experiment = drawn_pair(2);
  experiment.measure.loss_split = true;
  std::vector<std::pair<std::size_t, std::size_t>> seen;  // after each run
  run_study([&](std::optional<std::uint64_t>) { return experiment; }, {.progress = [&](const StudyCost& cost) {
              if (cost.done() > seen.size()) seen.emplace_back(cost.done(), cost.planned());
            }});
  // 2 sides and 2 strategies, 2 seeds; 15 subsets of the 4 resources that the concurrent one shares, 2 seeds.
  REQUIRE(seen.size() == 8 + 30);
  std::size_t runs = 0;
  for (const auto& [done, total] : seen) {
    CHECK(done == ++runs);
    CHECK(total == 38);
  }
}

}  // namespace c3::workloads_study_test
