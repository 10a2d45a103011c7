// Four ranks with unlike loads; lookups beside an exchange.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "collectives/measure.hpp"
#include "configs/jobs/experiment_reader.hpp"
#include "studies/dlrm/parts.hpp"
#include "studies/training/step_cost.hpp"
#include "workloads/execute/run.hpp"

namespace c3 { inline namespace studies {
namespace {

constexpr double kPercent = 100.0;
constexpr int kTasks = 8;

/// The longest rank's kernels, or all collectives one after another each alone, whichever is longer.
double without_waits(const Experiment& step, const RunResult& result) {
  double longest = 0.0, collectives = 0.0;
  for (const SimulatedClass& rank : result.classes)
    longest = std::max(longest, rank.times.kernels.value);
  for (const Call& call : step.program.calls)
    collectives += measure_collective(step.cluster, call.what, {}).time.value;
  return std::max(longest, collectives);
}

}  // namespace

RanksPart::RanksPart() {
  const auto frame = experiment_of_study(dlrm_name(), "unbalanced_4xa100.toml");
  for (int task = 0; task < kTasks; ++task) {
    // Ever more of the 12 tables on rank 0, twice as many samples in every second task.
    std::vector<std::string> sets = {fmt::format("recommendation.batch={}", task % 2 == 0 ? 1024 : 2048)};
    for (int table = 0; table <= task + 1; ++table)
      sets.push_back(fmt::format("recommendation.table.{}.ranks=[0]", table));
    tasks_.push_back({.step = ExperimentFile::load(frame, sets).make(std::nullopt)});
  }
}

void RanksPart::plan(SimulationJobs& jobs) {
  for (Task& task : tasks_) {
    jobs.push_back(
        {.run =
             [&task] {
               const double before = cpu_seconds();
               const RunResult result = run_once(task.step, task.step.strategies.front(), {});
               const double cpu = cpu_seconds() - before;
               return SimulatedTime{.time = result.time, .values = {without_waits(task.step, result), cpu}};
             },
         .take =
             [&task](const SimulatedTime& found) {
               task.time = found.time.value().value;
               task.alone = found.values.at(0);
               task.cpu = found.values.at(1);
             }});
  }
}

StudySection RanksPart::section(const PublishedFigures& published) const {
  double error = 0.0;
  std::vector<double> cpu;
  for (const Task& task : tasks_) {
    error += std::abs(task.alone / task.time - 1.0) / kTasks;
    cpu.push_back(task.cpu);
  }
  std::ranges::sort(cpu);
  StudySection section{
      .heading = "Four A100, ranks with unlike tables",
      .lines = {},
      .notes = {"Baseline: the longest rank's kernels or all collectives, each alone, without waits and "
                "hosts, beside our own simulation of the same task."}};
  section.lines.push_back({.figure = {.of = published.find("baseline"), .simulated = kPercent * error},
                           .label = "baseline, mean error",
                           .rows = tasks_.size()});
  section.lines.push_back({.figure = {.of = published.find("cpu"), .simulated = cpu[cpu.size() / 2] * 1e3},
                           .label = "CPU time of one simulated task, median [ms]",
                           .rows = tasks_.size()});
  return section;
}

BesidePart::BesidePart() {
  const auto frame = experiment_of_study(dlrm_name(), "lookups_beside_exchange.toml");
  for (const char* system : {"v100-sxm2-8", "h100-sxm-8", "mi300x-8"}) {
    const std::vector<std::string> sets = {fmt::format("system=\"{}\"", system)};
    const Experiment pair = ExperimentFile::load(frame, sets).make(std::nullopt);
    for (const Strategy& strategy : pair.strategies)
      cases_.push_back({.system = system, .strategy = strategy.name, .pair = pair});
  }
}

void BesidePart::plan(SimulationJobs& jobs) {
  for (Case& each : cases_) {
    jobs.push_back(
        {.run =
             [&each] {
               const auto strategy = std::ranges::find(each.pair.strategies, each.strategy, &Strategy::name);
               const auto run = [&](OperationFilter filter) {
                 return run_once(each.pair, *strategy, {.filter = filter});
               };
               const RunResult both = run(OperationFilter::all);
               return SimulatedTime{.values = {run(OperationFilter::kernels).kernels.duration().value,
                                               both.kernels.duration().value,
                                               run(OperationFilter::collectives).collectives.duration().value,
                                               both.collectives.duration().value}};
             },
         .take =
             [&each](const SimulatedTime& found) {
               each.lookups_alone = found.values.at(0);
               each.lookups = found.values.at(1);
               each.exchange_alone = found.values.at(2);
               each.exchange = found.values.at(3);
             }});
  }
}

StudySection BesidePart::section(const PublishedFigures& published) const {
  StudySection section{
      .heading = "Lookups beside the exchange of sums: longer than alone",
      .lines = {},
      .notes = {"The same lookups and the same bytes on each system; nobody has published such a pair."}};
  for (const Case& each : cases_) {
    StudyLine line{.figure = {.of = published.find(fmt::format("beside.{}.{}", each.system, each.strategy)),
                              .simulated = kPercent * (each.lookups / each.lookups_alone - 1.0)},
                   .label = fmt::format("{}, {}", each.system, each.strategy),
                   .rows = 1};
    line.beside = {{"exchange longer [%]", kPercent * (each.exchange / each.exchange_alone - 1.0)},
                   {"lookups [us]", each.lookups_alone * 1e6},
                   {"exchange [us]", each.exchange_alone * 1e6}};
    section.lines.push_back(std::move(line));
  }
  return section;
}

}}  // namespace c3::studies
