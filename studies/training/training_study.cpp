#include "studies/study_table.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/statistics.hpp"
#include "configs/jobs/experiment_reader.hpp"
#include "studies/training/gpt_pieces.hpp"
#include "studies/training/interference.hpp"
#include "studies/training/measured_gpts.hpp"
#include "studies/training/mechanisms.hpp"
#include "studies/training/memory_verdicts.hpp"
#include "studies/training/published_steps.hpp"
#include "studies/training/step_numbers.hpp"
#include "studies/training/step_scores.hpp"

namespace c3 { inline namespace studies {
namespace {

constexpr std::string_view kGpts = "training/gpt_one_node_a100_2_and_4_gpus.csv";
constexpr std::string_view kGptsOf8 = "training/vtrain_8gpu_h1024_l12.csv";

/// The experiment with every host time at the high end of what is assumed: the host's times and the framework's
/// multiples of them.
Experiment with_slow_host(const std::filesystem::path& path) {
  std::vector<std::string> sets;
  for (const auto& [key, range, whole] : ExperimentFile::load(path).ranges()) {
    if (key.starts_with("host.")) sets.push_back(fmt::format("{}={} s", key, range.high));
    if (key.starts_with("framework.host_")) sets.push_back(fmt::format("{}={}", key, range.high));
  }
  return ExperimentFile::load(path, sets).make(std::nullopt);
}

/// \param slow the same steps with slow hosts, where there are such
std::string rows_of(const std::vector<SimulatedStep>& steps, const std::vector<SimulatedStep>& slow = {}) {
  std::string text;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const SimulatedStep& step = steps[i];
    std::array<std::optional<Seconds>, 6> times;
    if (step.now) times = {step.now->here, step.now->p5, step.now->p95};
    if (i < slow.size() && slow[i].now) times[3] = slow[i].now->here;
    if (step.now && step.reference.gpt) {
      times[4] = step.sample.kernels;
      times[5] = step.sample.exposed;
    }
    text += step_csv(step.reference.set, step.reference.row, step.reference.measured, times);
  }
  return text;
}

std::string rows_of(const std::vector<GptPiece>& pieces) {
  std::string text;
  for (const GptPiece& piece : pieces)
    text += step_csv("pieces", piece.name, piece.measured, {piece.here});
  return text;
}

/// The median of \p seconds, each of a step on one node.
StudySection cost_section(const std::vector<double>& seconds, const PublishedFigures& published) {
  StudyLine line{.figure = {.reference = published.find("cpu.step")},
                 .label = "median, a step on one node",
                 .rows = seconds.size()};
  if (!seconds.empty()) line.figure.simulated = lower_median(seconds);
  return {.heading = "CPU time of a simulated step, this machine",
          .lines = {std::move(line)},
          .notes = {},
          .value = "now",
          .decimals = 3};
}

}  // namespace

StudyOutcome reproduce_training(const StudyInput& input, const PublishedFigures& published,
                                const StudyProgress& progress) {
  StudyOutcome outcome;
  const FirstTable first(study_file("training", "first.csv"));
  const std::filesystem::path file = experiment_of_study("training", "gpt_a100.toml");
  const auto frame = std::make_shared<const Experiment>(ExperimentFile::load(file).make(std::nullopt));
  const auto slow_frame = std::make_shared<const Experiment>(with_slow_host(file));
  std::vector<std::string> broken_again;  // of the table that is read twice
  const std::vector<MeasuredStep> gpt_rows = read_measured_gpts(input.data / kGpts, frame, outcome.broken),
                                  rows_of_8 = read_measured_gpts(input.data / kGptsOf8, frame, outcome.broken),
                                  slow_rows = read_measured_gpts(input.data / kGpts, slow_frame, broken_again);
  const std::vector<MeasuredStep> other_rows =
      read_measured_steps("training", input.data, first, outcome.broken);
  std::vector<MeasuredStep> all_rows = published_steps(published, first);
  std::ranges::copy(other_rows, std::back_inserter(all_rows));
  std::vector<MeasuredStep> ran = other_rows;
  for (const auto* rows : {&gpt_rows, &rows_of_8})
    std::ranges::copy(*rows, std::back_inserter(ran));
  MeasuredStepsPart measured(all_rows), gpts(gpt_rows), gpts_of_8(rows_of_8), slow_gpts(slow_rows);
  MechanismsPart mechanisms(all_rows);
  InterferencePart interference;
  SimulationJobs jobs;
  interference.plan(jobs);
  measured.plan(jobs);
  mechanisms.plan(jobs);
  for (MeasuredStepsPart* part : {&gpts, &gpts_of_8, &slow_gpts})
    part->plan(jobs);
  run_simulations(jobs, progress, input.processes);

  const std::vector<SimulatedStep> steps = measured.results();
  const std::vector<SimulatedStep> on_2_and_4 = gpts.results(), on_8 = gpts_of_8.results(),
                                   slow = slow_gpts.results();
  std::vector<SimulatedStep> all_gpts = on_2_and_4;
  std::ranges::copy(on_8, std::back_inserter(all_gpts));
  const std::vector<GptPiece> pieces = gpt_pieces(all_gpts);
  std::vector<double> costs = mechanisms.costs();
  for (const SimulatedStep& step : all_gpts)
    if (step.now) costs.push_back(step.sample.cpu);
  outcome.report = {published_section(steps, published),
                    groups_section(steps, published),
                    gain_section(steps, published),
                    pieces_section(pieces, first, published),
                    mechanisms.section(published),
                    intervals_section(steps, published),
                    rows_section(steps, published),
                    memory_verdicts(ran, published),
                    gpts_section(on_2_and_4, slow, published),
                    worst_gpts(on_2_and_4, published),
                    interference.section(published),
                    cost_section(costs, published)};
  if (input.wants_rows)
    outcome.rows_csv = std::string(kStepCsvHeader) + rows_of(steps) + rows_of(pieces) +
                       rows_of(on_2_and_4, slow) + rows_of(on_8);
  return outcome;
}

}}  // namespace c3::studies
