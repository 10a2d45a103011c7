#include "studies/training/measured_gpts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "studies/checked_row.hpp"
#include "studies/comparison.hpp"
#include "studies/training/step_numbers.hpp"
#include "workloads/training/training_step.hpp"

namespace c3 { inline namespace studies {
namespace {

constexpr std::int64_t kLargest = 1'000'000;

/// \p frame with the model, ranks and batches of a row.
Experiment step_of(const Experiment& frame, const GptShape& shape, std::int64_t heads, std::int64_t sequence) {
  Experiment step = frame;
  step.cluster.node.gpus = shape.gpus;
  TrainingSetup setup = training_of(frame);
  setup.model.hidden = shape.hidden;
  setup.model.ffn = 4 * shape.hidden;
  setup.model.heads = setup.model.kv_heads = heads;
  setup.model.layers = shape.layers;
  setup.model.positions = sequence;
  setup.model.vocabulary -= setup.model.vocabulary % shape.tensor_parallel;  // words that no rank has
  setup.sequence = sequence;
  setup.tensor_parallel = shape.tensor_parallel;
  setup.micro_batch = shape.micro_batch;
  setup.micro_batches = shape.micro_batches;
  set_training(step, std::move(setup));
  return step;
}

/// The step of a row without a pipeline.
MeasuredStep gpt_of(const CheckedRow& row, const std::shared_ptr<const Experiment>& frame) {
  const auto whole = [&row](std::string_view column) { return row.whole(column, kLargest); };
  GptShape shape{.hidden = whole("hidden size"),
                 .layers = whole("# layers"),
                 .micro_batch = whole("micro batch"),
                 .gpus = static_cast<int>(whole("gpus")),
                 .tensor_parallel = static_cast<int>(whole("tensor parallelism"))};
  const std::int64_t replicas = whole("data parallelism"), batch = whole("global batch");
  if (shape.tensor_parallel * replicas != shape.gpus)
    row.fail("data parallelism", fmt::format("{} times tensor parallelism {} is not {} GPUs", replicas,
                                             shape.tensor_parallel, shape.gpus));
  if (batch % (shape.micro_batch * replicas) != 0)
    row.fail("global batch", fmt::format("{} is not a multiple of micro batch {} times data parallelism {}",
                                         batch, shape.micro_batch, replicas));
  shape.micro_batches = batch / (shape.micro_batch * replicas);
  const auto make = [=, heads = whole("attention heads"),
                     sequence = whole("sequence length")](std::optional<std::uint64_t> /*draw*/) {
    return step_of(*frame, shape, heads, sequence);
  };
  return {.set = "gpt",
          .group = "gpt",
          .row = fmt::format("h{} l{} tp{} dp{} mb{} gb{}", shape.hidden, shape.layers, shape.tensor_parallel,
                             replicas, shape.micro_batch, batch),
          .measured = row.above_0("iteration time (ms)") * 1.0_ms,
          .make = make,
          .draws = 0,
          .gpt = shape};
}

/// The GPU has nothing to do for a tenth of the step.
bool waits_for_host(const SimulatedStep& step) {
  return step.sample.kernels + step.sample.exposed < 0.9 * step.sample.time;
}

}  // namespace

std::vector<MeasuredStep> read_measured_gpts(const std::filesystem::path& file,
                                             const std::shared_ptr<const Experiment>& frame,
                                             std::vector<std::string>& broken) {
  const HeadedTable table(file);
  broken.insert(broken.end(), table.broken().begin(), table.broken().end());
  std::vector<MeasuredStep> rows;
  for (const HeadedTable::Row& cells : table.rows()) {
    try {
      const CheckedRow row(table, cells, "of every step");
      if (row.whole("pipeline parallelism", kLargest) == 1) rows.push_back(gpt_of(row, frame));
    } catch (const ConfigError& error) {
      broken.emplace_back(error.what());
    }
  }
  return rows;
}

StudySection gpts_section(const std::vector<SimulatedStep>& steps, const std::vector<SimulatedStep>& slow,
                          const PublishedFigures& published) {
  StudySection section{
      .heading = "GPTs on 2 and 4 A100 of one node: mean absolute error", .lines = {}, .notes = {}};
  const auto add = [&](const std::string& id, const std::string& label,
                       const std::function<bool(const SimulatedStep&)>& is) {
    Comparison comparison;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const SimulatedStep& step = steps[i];
      if (!step.now || !is(step)) continue;
      std::vector<Comparison::Beside> beside;
      if (slow[i].now) beside.emplace_back("slow hosts", slow[i].now->here);
      comparison.add(
          {step.reference.measured, step.now->here,
           static_cast<std::uint64_t>(step.reference.gpt->hidden * 100 + step.reference.gpt->layers)},
          beside);
    }
    StudyLine line = comparison.line(published.find(id), FigureKind::predicted, label);
    if (const auto mean = comparison.signed_mean()) line.beside.emplace_back("mean of signed errors", *mean);
    section.lines.push_back(std::move(line));
  };
  add("gpt.mean", "all rows", [](const SimulatedStep&) { return true; });
  add("gpt.by.busy", "the GPU is busy for 90 % here", std::not_fn(waits_for_host));
  add("gpt.by.waits", "it waits for its host here", waits_for_host);
  add("gpt.by.dp", "data parallel",
      [](const SimulatedStep& step) { return step.reference.gpt->tensor_parallel == 1; });
  add("gpt.by.tp", "tensor parallel",
      [](const SimulatedStep& step) { return step.reference.gpt->tensor_parallel > 1; });
  for (const std::int64_t micro_batch : {1, 2, 4, 8})
    add(fmt::format("gpt.by.mb{}", micro_batch), fmt::format("micro-batches of {}", micro_batch),
        [micro_batch](const SimulatedStep& step) { return step.reference.gpt->micro_batch == micro_batch; });
  section.notes = {
      "p5..p95: over models (width and depth). Slow hosts: with the longest host times that are assumed; "
      "neither was set from a step."};
  return section;
}

StudySection worst_gpts(const std::vector<SimulatedStep>& steps, const PublishedFigures& published) {
  std::vector<const SimulatedStep*> sorted;
  for (const SimulatedStep& step : steps)
    if (step.now) sorted.push_back(&step);
  const auto error_of = [](const SimulatedStep* step) { return step->error(step->now->here); };
  std::ranges::sort(sorted, std::ranges::greater(),
                    [&](const SimulatedStep* step) { return std::abs(error_of(step)); });
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
    for (const SimulatedStep* step : sorted) {
      const double idle = 1.0 - (step->sample.kernels + step->sample.exposed) / step->sample.time;
      if (idle < low || (idle >= high && bin + 1 < kBins)) continue;
      ++rows;
      error += error_of(step);
    }
    StudyLine line{.figure = {.reference = published.find(fmt::format("gpt.worst.{}", bin))},
                   .label = fmt::format("idle {:.0f} to {:.0f} %", kPercent * low, kPercent * high),
                   .rows = rows};
    if (rows > 0) line.figure.simulated = error / static_cast<double>(rows);
    section.lines.push_back(std::move(line));
  }
  section.notes = {"Mean of signed errors. Idle: the host has not launched what is next."};
  return section;
}

}}  // namespace c3::studies
