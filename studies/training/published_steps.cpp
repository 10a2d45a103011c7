#include "studies/training/published_steps.hpp"

#include <fmt/format.h>

#include <string>

#include "studies/training/step_numbers.hpp"

namespace c3 { inline namespace studies {
namespace {

constexpr const char* kSet = "titan8";

/// Tokens a second of one GPU. Its inverse is itself.
double speed_of(const Experiment& experiment, Seconds time) {
  return static_cast<double>(experiment.step->tokens) / experiment.cluster.ranks() / time.value;
}

StudyLine speed_line(const SimulatedStep& step, const Experiment& experiment,
                     const PublishedFigures& published) {
  const StepSample& sample = step.sample;
  StudyLine line{.figure = {.reference = published.find(fmt::format("titan.{}.speed", step.reference.row)),
                            .simulated = speed_of(experiment, step.now->here)},
                 .label = fmt::format("{}, tokens/s", step.reference.row)};
  if (step.now->p5) {
    line.figure.p5 = speed_of(experiment, *step.now->p95);
    line.figure.p95 = speed_of(experiment, *step.now->p5);
  }
  if (step.reference.first) line.beside.emplace_back("first", speed_of(experiment, step.reference.first->here));
  line.beside.emplace_back("MFU [%]", kPercent * (experiment.step->model_at_peak() / sample.time));
  line.beside.emplace_back("exposed [%]", kPercent * (sample.exposed / sample.time));
  line.beside.emplace_back("idle [%]", kPercent * (sample.idle / sample.time));
  return line;
}

}  // namespace

std::vector<MeasuredStep> published_steps(const PublishedFigures& published, const FirstTable& first) {
  std::vector<MeasuredStep> steps;
  for (const std::string row : {"eager", "compiled"}) {
    MeasuredStep step{.set = kSet,
                      .group = kSet,
                      .row = row,
                      .measured = {},
                      .first = first.find(kSet, row),
                      .frame = "llama3_8b_fsdp8.toml",
                      .sets = {"training.framework=pytorch-" + row},
                      .is_seeded = true};
    make_of_frame(step);
    const double speed = published.find(fmt::format("titan.{}.speed", row)).published.value();
    step.measured = Seconds{speed_of(step.make(std::nullopt), Seconds{speed})};
    steps.push_back(std::move(step));
  }
  return steps;
}

StudySection published_section(const std::vector<SimulatedStep>& steps, const PublishedFigures& published) {
  StudySection section{
      .heading = "LLaMA 3.1 8B, FSDP over 8 H100 (96 GB, 500 W): tokens/s a GPU; memory",
      .lines = {},
      .notes = {"MFU: flops of all products and of unmasked attention, three times forward, over 989 TFLOP/s.",
                "p5..p95: over 10 draws of everything that is a range."},
      .value = "now"};
  for (const SimulatedStep& step : steps) {
    if (step.reference.set != kSet || !step.now) continue;
    const Experiment experiment = step.reference.make(std::nullopt);
    const MemoryPeak& memory = experiment.step->memory;
    section.lines.push_back(speed_line(step, experiment, published));
    section.lines.push_back(
        {.figure = {.reference = published.find(fmt::format("titan.{}.memory", step.reference.row)),
                    .simulated = memory.reserved.value / kGiB},
         .label = fmt::format("{}, GiB reserved", step.reference.row),
         .beside = {{"in use at most [GiB]", memory.bytes.value / kGiB}}});
  }
  return section;
}

}}  // namespace c3::studies
