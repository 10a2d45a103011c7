#include "studies/study_table.hpp"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "configs/jobs/experiment_reader.hpp"
#include "studies/training/gpt_pieces.hpp"
#include "studies/training/measured_gpts.hpp"
#include "studies/training/mechanisms.hpp"
#include "studies/training/memory_verdicts.hpp"
#include "studies/training/published_steps.hpp"
#include "studies/training/step_checks.hpp"
#include "studies/training/step_cost.hpp"
#include "studies/training/step_numbers.hpp"
#include "studies/training/step_scores.hpp"

namespace c3 { inline namespace studies {
namespace {

constexpr std::string_view kGpts = "training/gpt_one_node_a100_2_and_4_gpus.csv";
constexpr std::string_view kGptsOf8 = "training/vtrain_8gpu_h1024_l12.csv";

/// With every host time at the high end of what is assumed: the host's times and the framework's multiples of
/// them.
Experiment with_slow_host(const std::filesystem::path& path) {
  std::vector<std::string> sets;
  for (const auto& [key, range, whole] : ExperimentFile::load(path).ranges()) {
    if (key.starts_with("host.")) sets.push_back(fmt::format("{}={} s", key, range.high));
    if (key.starts_with("framework.host_")) sets.push_back(fmt::format("{}={}", key, range.high));
  }
  return ExperimentFile::load(path, sets).make(std::nullopt);
}

std::string rows_of(const std::vector<SimulatedStep>& steps, const std::vector<GptPiece>& pieces) {
  std::string text;
  for (const SimulatedStep& step : steps) {
    const StepTime time = step.now.value_or(StepTime{});
    const auto here = step.now ? std::optional(time.here) : std::nullopt;
    text += step_csv(step.set, step.row, step.measured, {here, time.p5, time.p95});
  }
  for (const GptPiece& piece : pieces)
    text += step_csv("pieces", piece.name, piece.measured, {piece.here});
  return text;
}

}  // namespace

StudyOutcome reproduce_training(const StudyInput& input, const PublishedFigures& published,
                                const StudyProgress& progress) {
  StudyOutcome outcome;
  const FirstTable first(study_file("training", "first.csv"));
  const std::filesystem::path file = experiment_of_study("training", "gpt_a100.toml");
  const Experiment frame = ExperimentFile::load(file).make(std::nullopt);
  const std::vector<MeasuredGpt> rows = read_measured_gpts(input.data / kGpts, outcome.broken);
  const std::vector<MeasuredGpt> rows_of_8 = read_measured_gpts(input.data / kGptsOf8, outcome.broken);
  const std::vector<MeasuredStep> other_rows = read_measured_steps(input.data, outcome.broken);
  MeasuredGptsPart gpts(rows, frame, with_slow_host(file));
  MeasuredGptsPart gpts_of_8(rows_of_8, frame, std::nullopt);
  MeasuredStepsPart measured(other_rows);
  PublishedStepsPart published_steps;
  std::vector<MeasuredStep> all_rows = published_steps.measured(published);
  all_rows.insert(all_rows.end(), other_rows.begin(), other_rows.end());
  MechanismsPart mechanisms(std::move(all_rows));
  InterferencePart interference;
  GathersPart gathers;
  SimulationJobs jobs;
  interference.plan(jobs);
  gathers.plan(jobs);
  measured.plan(jobs);
  mechanisms.plan(jobs);
  published_steps.plan(jobs);
  gpts.plan(jobs);
  gpts_of_8.plan(jobs);
  run_simulations(jobs, progress, input.processes);

  std::vector<SimulatedStep> steps = published_steps.results(published, first);
  std::ranges::move(measured.results(first), std::back_inserter(steps));
  std::vector<SimulatedGpt> simulated = gpts.results();
  std::ranges::move(gpts_of_8.results(), std::back_inserter(simulated));
  const std::vector<GptPiece> pieces = gpt_pieces(simulated);
  std::vector<double> costs = mechanisms.costs();
  for (const MeasuredGptsPart* part : {&gpts, &gpts_of_8})
    std::ranges::copy(part->costs(), std::back_inserter(costs));
  outcome.report = {published_steps.section(published, first),
                    groups_section(steps, published),
                    gain_section(steps, published),
                    pieces_section(pieces, first, published),
                    mechanisms.section(published),
                    intervals_section(steps, published),
                    rows_section(steps, published),
                    memory_section(published),
                    memory_verdicts(steps_that_ran(other_rows, {&rows, &rows_of_8}, frame), published),
                    gpts.summary(published),
                    gpts.worst(published),
                    interference.section(published),
                    gathers.section(published),
                    cost_section(costs, published)};
  if (input.wants_rows)
    outcome.rows_csv =
        std::string(kStepCsvHeader) + rows_of(steps, pieces) + gpts.rows_csv() + gpts_of_8.rows_csv();
  return outcome;
}

}}  // namespace c3::studies
