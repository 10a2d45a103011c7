#include "studies/training/published_steps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "studies/training/step_numbers.hpp"
#include "workloads/analysis/steady_state.hpp"

namespace c3 { inline namespace studies {
namespace {

constexpr std::uint64_t kDraws = 10;

double tokens_per_second_per_gpu(const Experiment& experiment, Seconds time) {
  return static_cast<double>(experiment.step->tokens) / experiment.cluster.ranks() / time.value;
}

constexpr const char* kSet = "titan8";
constexpr const char* kFrame = "llama3_8b_fsdp8.toml";

std::vector<std::string> sets_of(std::string_view variant) {
  return {fmt::format("training.framework=\"pytorch-{}\"", variant)};
}

/// The inverse of tokens_per_second_per_gpu is itself.
Seconds measured_time(const PublishedFigures& published, std::string_view variant,
                      const Experiment& experiment) {
  const double speed = published.find(fmt::format("titan.{}.speed", variant)).published.value();
  return Seconds{tokens_per_second_per_gpu(experiment, Seconds{speed})};
}

}  // namespace

PublishedStepsPart::PublishedStepsPart() {
  const std::filesystem::path file = experiment_of_study("training", kFrame);
  for (const std::string_view name : {"eager", "compiled"}) {
    const ExperimentFile variant = ExperimentFile::load(file, sets_of(name));
    variants_.push_back({.name = name, .file = variant, .experiment = variant.make(std::nullopt)});
  }
}

void PublishedStepsPart::plan_draws(Variant& variant, SimulationJobs& jobs) {
  for (std::uint64_t draw = 0; draw < kDraws; ++draw) {
    const auto run = [&variant, draw] {
      const Experiment experiment = variant.file.make(draw);
      return SimulatedTime{.time = run_step(experiment, experiment.strategies.front(), {}).time};
    };
    jobs.push_back(
        {run, [&variant](const SimulatedTime& found) { variant.drawn.push_back(found.time.value().value); }});
  }
}

void PublishedStepsPart::plan(SimulationJobs& jobs) {
  for (Variant& variant : variants_) {
    plan_draws(variant, jobs);
    for (int seed = 0; seed < variant.experiment.measure.seeds; ++seed) {
      const auto run = [&variant, seed] {
        const RunSetup setup{.seed = static_cast<std::uint64_t>(seed)};
        const RunResult result = run_step(variant.experiment, variant.experiment.strategies.front(), setup);
        return SimulatedTime{
            .time = result.time,
            .values = {result.classes.front().times.exposed.value, result.classes.front().times.idle.value}};
      };
      jobs.push_back({run, [&variant](const SimulatedTime& found) {
                        variant.samples.push_back({.time = found.time.value(),
                                                   .exposed = Seconds{found.values.at(0)},
                                                   .idle = Seconds{found.values.at(1)}});
                      }});
    }
  }
}

std::vector<MeasuredStep> PublishedStepsPart::measured(const PublishedFigures& published) const {
  std::vector<MeasuredStep> steps;
  for (const Variant& variant : variants_)
    steps.push_back({.set = kSet,
                     .group = kSet,
                     .row = std::string(variant.name),
                     .measured = measured_time(published, variant.name, variant.experiment),
                     .frame = kFrame,
                     .sets = sets_of(variant.name)});
  return steps;
}

std::vector<SimulatedStep> PublishedStepsPart::results(const PublishedFigures& published,
                                                       const FirstTable& first) const {
  std::vector<SimulatedStep> steps;
  for (const Variant& variant : variants_) {
    const std::string row(variant.name);
    steps.push_back({.set = kSet,
                     .group = kSet,
                     .row = row,
                     .measured = measured_time(published, row, variant.experiment),
                     .now = time_with_interval(median_of(variant.samples, &Sample::time).time, variant.drawn),
                     .first = first.find(kSet, row)});
  }
  return steps;
}

StudySection PublishedStepsPart::section(const PublishedFigures& published, const FirstTable& first) const {
  StudySection section{.heading = "LLaMA 3.1 8B, FSDP over 8 H100 (96 GB, 500 W): tokens/s a GPU; memory",
                       .lines = {},
                       .notes = {}};
  for (const Variant& variant : variants_) {
    const Sample median = median_of(variant.samples, &Sample::time);
    const StepFacts& facts = *variant.experiment.step;
    StudyLine speed{.figure = {.of = published.find(fmt::format("titan.{}.speed", variant.name))},
                    .label = fmt::format("{}, tokens/s", variant.name)};
    speed.figure.simulated = tokens_per_second_per_gpu(variant.experiment, median.time);
    const StepTime interval = time_with_interval(median.time, variant.drawn);
    if (interval.p5) {
      speed.figure.p5 = tokens_per_second_per_gpu(variant.experiment, *interval.p95);
      speed.figure.p95 = tokens_per_second_per_gpu(variant.experiment, *interval.p5);
    }
    if (const auto then = first.find(kSet, std::string(variant.name)))
      speed.beside.emplace_back("first", tokens_per_second_per_gpu(variant.experiment, then->here));
    speed.beside.emplace_back("MFU [%]", kPercent * (facts.model_at_peak() / median.time));
    speed.beside.emplace_back("exposed [%]", kPercent * (median.exposed / median.time));
    speed.beside.emplace_back("idle [%]", kPercent * (median.idle / median.time));
    section.lines.push_back(std::move(speed));
    StudyLine memory{.figure = {.of = published.find(fmt::format("titan.{}.memory", variant.name))},
                     .label = fmt::format("{}, GiB reserved", variant.name)};
    memory.figure.simulated = facts.memory.reserved.value / kGiB;
    memory.beside = {{"in use at most [GiB]", facts.memory.bytes.value / kGiB}};
    section.lines.push_back(std::move(memory));
  }
  section.notes = {
      "MFU: flops of all products and of unmasked attention, three times forward, over 989 TFLOP/s.",
      fmt::format("p5..p95: over {} draws of everything that is a range.", kDraws)};
  section.value = "now";
  return section;
}

}}  // namespace c3::studies
