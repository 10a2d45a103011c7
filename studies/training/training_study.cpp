#include "studies/training/training_study.hpp"

#include <array>
#include <string>
#include <utility>

#include "configs/experiment_reader.hpp"
#include "studies/training/measured_gpts.hpp"
#include "studies/training/published_steps.hpp"
#include "studies/training/step_checks.hpp"
#include "workloads/training/training_step.hpp"

namespace c3::inline studies {
namespace {

constexpr std::string_view kGpts = "training/gpt_one_node_a100_2_and_4_gpus.csv";

/// With every host time at the high end of what is assumed.
Experiment with_slow_host(const ExperimentFile& file) {
  constexpr std::array<std::pair<std::string_view, Seconds Framework::*>, 6> kTimes = {
      {{"forward_launch", &Framework::forward_launch},
       {"backward_launch", &Framework::backward_launch},
       {"collective_launch", &Framework::collective_launch},
       {"event_launch", &Framework::event_launch},
       {"layer_forward", &Framework::layer_forward},
       {"layer_backward", &Framework::layer_backward}}};
  Experiment slow = file.make(std::nullopt);
  TrainingSetup setup = training_of(slow);
  for (const auto& [key, time] : kTimes) {
    const RangeEnd end{"framework." + std::string(key), true};
    setup.framework.*time = training_of(file.make_at(end)).framework.*time;
  }
  set_training(slow, std::move(setup));
  return slow;
}

StudyOutcome reproduce_training(const StudyInput& input, const PublishedFigures& published,
                                const StudyProgress& progress) {
  StudyOutcome outcome;
  const ExperimentFile frame = ExperimentFile::load(experiment_of_study("training", "gpt_a100.toml"));
  MeasuredGptsPart gpts(read_measured_gpts(input.data / kGpts, outcome.broken), frame.make(std::nullopt),
                        with_slow_host(frame));
  PublishedStepsPart steps;
  InterferencePart interference;
  GathersPart gathers;
  SimulationJobs jobs;
  interference.plan(jobs);
  gathers.plan(jobs);
  steps.plan(jobs);
  gpts.plan(jobs);
  run_simulations(jobs, progress, input.processes);
  outcome.report = {steps.section(published), memory_section(published),       gpts.summary(published),
                    gpts.worst(published),    interference.section(published), gathers.section(published)};
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
