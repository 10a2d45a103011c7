#include "studies/training/training_study.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "configs/experiment_reader.hpp"
#include "studies/training/measured_gpts.hpp"
#include "studies/training/memory_verdicts.hpp"
#include "studies/training/published_steps.hpp"
#include "studies/training/step_checks.hpp"

namespace c3::inline studies {
namespace {

constexpr std::string_view kGpts = "training/gpt_one_node_a100_2_and_4_gpus.csv";

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

StudyOutcome reproduce_training(const StudyInput& input, const PublishedFigures& published,
                                const StudyProgress& progress) {
  StudyOutcome outcome;
  const std::filesystem::path frame = experiment_of_study("training", "gpt_a100.toml");
  const Experiment gpt = ExperimentFile::load(frame).make(std::nullopt);
  const std::vector<MeasuredGpt> rows = read_measured_gpts(input.data / kGpts, outcome.broken);
  MeasuredGptsPart gpts(rows, gpt, with_slow_host(frame));
  std::vector<Experiment> ran;
  for (const MeasuredGpt& row : rows)
    ran.push_back(step_of(row, gpt));
  PublishedStepsPart steps;
  InterferencePart interference;
  GathersPart gathers;
  SimulationJobs jobs;
  interference.plan(jobs);
  gathers.plan(jobs);
  steps.plan(jobs);
  gpts.plan(jobs);
  run_simulations(jobs, progress, input.processes);
  outcome.report = {steps.section(published),  memory_section(published), memory_verdicts(ran, published),
                    gpts.summary(published),   gpts.worst(published),     interference.section(published),
                    gathers.section(published)};
  if (input.wants_rows) outcome.rows_csv = gpts.rows_csv();
  return outcome;
}

}  // namespace

Study training_study() {
  return {
      .name = "training",
      .about = "Training steps on one node: FSDP on 8 H100, GPTs on 2 and 4 A100, interference, copy engines",
      .files = {{kGpts, "iteration times of GPTs on 2 and 4 A100, Megatron-DeepSpeed"}},
      .run = reproduce_training,
      .has_rows = true};
}

}  // namespace c3::studies
