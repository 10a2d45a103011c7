#include "studies/training/measured_gpts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "studies/checked_row.hpp"
#include "studies/comparison.hpp"
#include "studies/training/step_cost.hpp"
#include "studies/training/step_numbers.hpp"
#include "workloads/analysis/steady_state.hpp"
#include "workloads/training/training_step.hpp"

namespace c3 { inline namespace studies {
namespace {

constexpr std::int64_t kLargest = 1'000'000;

/// Of a row without a pipeline.
MeasuredGpt gpt_of(const CheckedRow& row) {
  const MeasuredGpt gpt{.hidden = row.whole("hidden size", kLargest),
                        .heads = row.whole("attention heads", kLargest),
                        .layers = row.whole("# layers", kLargest),
                        .sequence = row.whole("sequence length", kLargest),
                        .global_batch = row.whole("global batch", kLargest),
                        .micro_batch = row.whole("micro batch", kLargest),
                        .gpus = static_cast<int>(row.whole("gpus", kLargest)),
                        .tensor_parallel = static_cast<int>(row.whole("tensor parallelism", kLargest)),
                        .measured = row.above_0("iteration time (ms)") * 1.0_ms};
  const std::int64_t replicas = row.whole("data parallelism", kLargest);
  if (gpt.tensor_parallel * replicas != gpt.gpus)
    row.fail("data parallelism", fmt::format("{} times tensor parallelism {} is not {} GPUs", replicas,
                                             gpt.tensor_parallel, gpt.gpus));
  if (gpt.global_batch % (gpt.micro_batch * replicas) != 0)
    row.fail("global batch", fmt::format("{} is not a multiple of micro batch {} times data parallelism {}",
                                         gpt.global_batch, gpt.micro_batch, replicas));
  return gpt;
}

/// Time, time in which kernels run, communication that no kernel hides, CPU time.
SimulatedTime simulate(const MeasuredGpt& row, const Experiment& frame) {
  const double before = cpu_seconds();
  const Experiment step = step_of(row, frame);
  const RunResult run = run_step(step, step.strategies.front(), {});
  return {.time = run.time,
          .values = {run.classes.front().times.kernels.value, run.classes.front().times.exposed.value,
                     cpu_seconds() - before}};
}

}  // namespace

std::string MeasuredGpt::name() const {
  return fmt::format("h{} l{} tp{} dp{} mb{} gb{}", hidden, layers, tensor_parallel, gpus / tensor_parallel,
                     micro_batch, global_batch);
}

std::vector<MeasuredGpt> read_measured_gpts(const std::filesystem::path& file,
                                            std::vector<std::string>& broken) {
  const HeadedTable table(file);
  broken.insert(broken.end(), table.broken().begin(), table.broken().end());
  std::vector<MeasuredGpt> rows;
  for (const HeadedTable::Row& cells : table.rows()) {
    try {
      const CheckedRow row(table, cells, "of every step");
      if (row.whole("pipeline parallelism", kLargest) == 1) rows.push_back(gpt_of(row));
    } catch (const ConfigError& error) {
      broken.emplace_back(error.what());
    }
  }
  return rows;
}

Experiment step_of(const MeasuredGpt& row, const Experiment& frame) {
  Experiment step = frame;
  step.cluster.node.gpus = row.gpus;
  TrainingSetup setup = training_of(frame);
  setup.model.hidden = row.hidden;
  setup.model.ffn = 4 * row.hidden;
  setup.model.heads = setup.model.kv_heads = row.heads;
  setup.model.layers = row.layers;
  setup.model.positions = row.sequence;
  setup.model.vocabulary -= setup.model.vocabulary % row.tensor_parallel;  // words that no rank has
  setup.sequence = row.sequence;
  setup.tensor_parallel = row.tensor_parallel;
  setup.micro_batch = row.micro_batch;
  setup.micro_batches = row.micro_batches();
  set_training(step, std::move(setup));
  return step;
}

MeasuredGptsPart::MeasuredGptsPart(const std::vector<MeasuredGpt>& rows, Experiment frame,
                                   std::optional<Experiment> slow_host)
    : frame_(std::move(frame)), slow_host_(std::move(slow_host)) {
  for (const MeasuredGpt& row : rows)
    rows_.push_back({.of = row});
}

void MeasuredGptsPart::plan(SimulationJobs& jobs) {
  for (Row& row : rows_) {
    jobs.push_back({[this, &row] { return simulate(row.of, frame_); },
                    [&row](const SimulatedTime& found) {
                      row.here = found.time;
                      if (!found.time) return;
                      row.kernels = Seconds{found.values.at(0)};
                      row.exposed = Seconds{found.values.at(1)};
                      row.cpu = found.values.at(2);
                    }});
    if (!slow_host_) continue;
    jobs.push_back({[this, &row] { return simulate(row.of, *slow_host_); },
                    [&row](const SimulatedTime& found) { row.slow_host = found.time; }});
  }
}

StudySection MeasuredGptsPart::summary(const PublishedFigures& published) const {
  StudySection section{
      .heading = "GPTs on 2 and 4 A100 of one node: mean absolute error", .lines = {}, .notes = {}};
  const auto add = [&](const std::string& id, const std::string& label,
                       const std::function<bool(const Row&)>& is) {
    Comparison comparison;
    double signed_sum = 0.0;
    for (const Row& row : rows_) {
      if (!row.here || !is(row)) continue;
      std::vector<Comparison::Beside> beside;
      if (row.slow_host) beside.emplace_back("slow hosts", *row.slow_host);
      comparison.add(
          {row.of.measured, *row.here, static_cast<std::uint64_t>(row.of.hidden * 100 + row.of.layers)},
          beside);
      signed_sum += row.error();
    }
    StudyLine line = comparison.line(published.find(id), FigureKind::predicted, label);
    if (line.rows > 0)
      line.beside.emplace_back("mean of signed errors", kPercent * signed_sum / static_cast<double>(line.rows));
    section.lines.push_back(std::move(line));
  };
  add("gpt.mean", "all rows", [](const Row&) { return true; });
  add("gpt.by.busy", "the GPU is busy for 90 % here", [](const Row& row) { return !row.waits_for_host(); });
  add("gpt.by.waits", "it waits for its host here", [](const Row& row) { return row.waits_for_host(); });
  add("gpt.by.dp", "data parallel", [](const Row& row) { return row.of.tensor_parallel == 1; });
  add("gpt.by.tp", "tensor parallel", [](const Row& row) { return row.of.tensor_parallel > 1; });
  for (const std::int64_t micro_batch : {1, 2, 4, 8})
    add(fmt::format("gpt.by.mb{}", micro_batch), fmt::format("micro-batches of {}", micro_batch),
        [micro_batch](const Row& row) { return row.of.micro_batch == micro_batch; });
  section.notes = {
      "p5..p95: over models (width and depth). Slow hosts: with the longest host times that are assumed; "
      "neither was set from a step."};
  return section;
}

StudySection MeasuredGptsPart::worst(const PublishedFigures& published) const {
  std::vector<const Row*> sorted;
  for (const Row& row : rows_)
    if (row.here) sorted.push_back(&row);
  std::ranges::sort(sorted, std::ranges::greater(), [](const Row* row) { return std::abs(row->error()); });
  sorted.resize(sorted.size() / 5);
  StudySection section{
      .heading = "The worst fifth, by the share of the step in which the GPU has nothing to do here",
      .lines = {},
      .notes = {}};
  constexpr int kBins = 4;
  for (int bin = 0; bin < kBins; ++bin) {
    std::size_t rows = 0;
    double error = 0.0;
    const double low = 0.1 * bin, high = bin + 1 < kBins ? low + 0.1 : 1.0;
    for (const Row* row : sorted) {
      const double idle = 1.0 - (*row->kernels + *row->exposed) / *row->here;
      if (idle < low || (idle >= high && bin + 1 < kBins)) continue;
      ++rows;
      error += kPercent * row->error();
    }
    StudyLine line{.figure = {.of = published.find(fmt::format("gpt.worst.{}", bin))},
                   .label = fmt::format("idle {:.0f} to {:.0f} %", kPercent * low, kPercent * high),
                   .rows = rows};
    if (rows > 0) line.figure.simulated = error / static_cast<double>(rows);
    section.lines.push_back(std::move(line));
  }
  section.notes = {"Mean of signed errors. Idle: the host has not launched what is next."};
  return section;
}

std::vector<SimulatedGpt> MeasuredGptsPart::results() const {
  std::vector<SimulatedGpt> results;
  for (const Row& row : rows_)
    results.push_back({row.of, row.here});
  return results;
}

std::vector<double> MeasuredGptsPart::costs() const {
  std::vector<double> seconds;
  for (const Row& row : rows_)
    if (row.here) seconds.push_back(row.cpu);
  return seconds;
}

std::string MeasuredGptsPart::rows_csv() const {
  std::string text;
  for (const Row& row : rows_)
    text += step_csv("gpt", row.of.name(), row.of.measured,
                     {row.here, std::nullopt, std::nullopt, row.slow_host, row.kernels, row.exposed});
  return text;
}

}}  // namespace c3::studies
