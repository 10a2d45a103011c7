#include "studies/training/mechanisms.hpp"

#include <array>
#include <string>
#include <string_view>
#include <utility>

namespace c3 { inline namespace studies {
namespace {

struct Mechanism {
  std::string_view name;
  std::array<std::string_view, 7>
      off;  ///< overrides without it; '+' where no experiment of the study has the key
};
constexpr std::array kMechanisms = {
    Mechanism{"clock", {R"(+gpu.clock_state="burst")"}},
    Mechanism{"hosts",
              {"+framework.host_forward=0", "+framework.host_backward=0", "+framework.host_collective=0",
               "+framework.host_event=0", "+framework.host_layer_forward=0", "+framework.host_layer_backward=0",
               "+framework.host_optimizer=0"}},
    Mechanism{"stalls", {R"(+host.stall="0 s")"}}, Mechanism{"unlike GPUs", {"+gpu.speed_spread=0"}}};
/// Variants of a step: without any, with each alone, with all.
constexpr std::size_t kVariants = kMechanisms.size() + 2, kAll = kVariants - 1;

MeasuredStep variant_of(MeasuredStep step, std::size_t variant) {
  for (std::size_t i = 0; i < kMechanisms.size(); ++i) {
    if (variant == kAll || variant == i + 1) continue;
    for (const std::string_view off : kMechanisms[i].off)
      if (!off.empty()) step.sets.emplace_back(off);
  }
  step.draws = 0;
  step.is_seeded = false;
  make_of_frame(step);
  return step;
}

std::string_view name_of_variant(std::size_t variant) {
  return variant == 0 ? "none" : kMechanisms[variant - 1].name;
}

}  // namespace

MechanismsPart::MechanismsPart(const std::vector<MeasuredStep>& steps) {
  for (std::size_t variant = 0; variant < kVariants; ++variant) {
    std::vector<MeasuredStep> varied;
    for (const MeasuredStep& step : steps)
      varied.push_back(variant_of(step, variant));
    variants_.emplace_back(varied);
  }
}

void MechanismsPart::plan(SimulationJobs& jobs) {
  for (MeasuredStepsPart& variant : variants_)
    variant.plan(jobs);
}

StudySection MechanismsPart::section(const PublishedFigures& published) const {
  StudySection section{
      .heading = "Mean absolute error with each mechanism alone",
      .lines = {},
      .notes =
          {"none: clocks that only the limit on bursts holds, hosts that take no time, GPUs that are alike. "
           "Each mechanism alone is none and that one."},
      .value = "all"};
  std::vector<std::vector<SimulatedStep>> results;
  for (const MeasuredStepsPart& variant : variants_)
    results.push_back(variant.results());
  for (const std::string& group : names_of(results[kAll], &MeasuredStep::group)) {
    const auto errors_with = [&](std::size_t variant) {
      return errors_of(results[variant],
                       [&](const SimulatedStep& step) { return step.reference.group == group; })
          .line(published.find("mechanisms." + group), FigureKind::predicted, group);
    };
    const StudyLine all = errors_with(kAll);
    StudyLine line{.figure = {.reference = all.figure.reference, .simulated = all.figure.simulated},
                   .label = group,
                   .rows = all.rows};
    for (std::size_t variant = 0; variant < kAll; ++variant)
      if (const auto error = errors_with(variant).figure.simulated)
        line.beside.emplace_back(name_of_variant(variant), *error);
    section.lines.push_back(std::move(line));
  }
  return section;
}

std::vector<double> MechanismsPart::costs() const {
  std::vector<double> seconds;
  for (const SimulatedStep& step : variants_[kAll].results())
    if (step.now && step.reference.make(std::nullopt).cluster.nodes == 1) seconds.push_back(step.sample.cpu);
  return seconds;
}

}}  // namespace c3::studies
