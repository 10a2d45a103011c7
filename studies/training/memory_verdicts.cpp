#include "studies/training/memory_verdicts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "configs/jobs/experiment_reader.hpp"
#include "studies/training/memory_layouts.hpp"
#include "studies/training/step_numbers.hpp"

namespace c3 { inline namespace studies {
namespace {

StudyLine refused_ones(const std::vector<RanStep>& ran, const PublishedFigures& published) {
  StudyLine line{.figure = {.of = published.find("memory.ran_refused")},
                 .label = "steps that ran and are refused",
                 .rows = ran.size()};
  double refused = 0.0, most = 0.0, tight = 0.0;
  for (const RanStep& step : ran) {
    refused += step.facts.fits() ? 0.0 : 1.0;
    tight += step.facts.is_tight() ? 1.0 : 0.0;
    most = std::max(most, step.facts.memory.held / step.facts.memory_size);
  }
  line.figure.simulated = refused;
  line.beside = {{"most needed [%]", kPercent * most}, {"reserve more than there is", tight}};
  return line;
}

StudyLine large_ones(const PublishedFigures& published) {
  const std::vector<LargeLayout> layouts = layouts_too_large();
  StudyLine line{.figure = {.of = published.find("memory.large_refused")},
                 .label = "layouts 3 to 10 % too large that are refused",
                 .rows = layouts.size()};
  double refused = 0.0;
  for (const LargeLayout& layout : layouts)
    refused += layout.facts.fits() ? 0.0 : 1.0;
  line.figure.simulated = refused;
  return line;
}

/// The largest error of one kind of memory, in percent, and where it is.
class LargestError {
 public:
  LargestError(std::string label, PublishedFigure of)
      : line_{.figure = {.of = std::move(of)}, .label = std::move(label)} {}

  void add(const std::string& step, Bytes here, std::optional<Bytes> measured) {
    if (!measured) return;
    ++line_.rows;
    const double error = kPercent * std::abs(here / *measured - 1.0);
    if (line_.figure.simulated && error <= *line_.figure.simulated) return;
    line_.figure.simulated = error;
    line_.beside = {{"here [GiB]", here.value / kGiB}, {"measured [GiB]", measured->value / kGiB}};
    where_ = step;
  }
  StudyLine line() && {
    if (!where_.empty()) line_.label += fmt::format(" ({})", where_);
    return std::move(line_);
  }

 private:
  StudyLine line_;
  std::string where_;
};

}  // namespace

std::vector<RanStep> steps_that_ran(const std::vector<MeasuredStep>& steps,
                                    std::initializer_list<const std::vector<MeasuredGpt>*> gpts,
                                    const Experiment& frame) {
  std::vector<RanStep> ran;
  for (const MeasuredStep& step : steps) {
    const auto file = ExperimentFile::load(experiment_of_study("training", step.frame), step.sets);
    ran.push_back({.name = fmt::format("{} {}", step.set, step.row),
                   .facts = *file.make(std::nullopt).step,
                   .in_use = step.in_use,
                   .reserved = step.reserved});
  }
  for (const std::vector<MeasuredGpt>* rows : gpts)
    for (const MeasuredGpt& row : *rows)
      ran.push_back({.name = row.name(), .facts = *step_of(row, frame).step});
  return ran;
}

StudySection memory_verdicts(const std::vector<RanStep>& ran, const PublishedFigures& published) {
  StudySection section{
      .heading = "Memory of steps that ran, and of steps that are too large", .lines = {}, .notes = {}};
  section.lines.push_back(refused_ones(ran, published));
  section.lines.push_back(large_ones(published));
  LargestError in_use("largest error of memory in use, %", published.find("memory.in_use"));
  LargestError reserved("largest error of memory reserved, %", published.find("memory.reserved"));
  for (const RanStep& step : ran) {
    in_use.add(step.name, step.facts.memory.bytes, step.in_use);
    reserved.add(step.name, step.facts.memory.reserved, step.reserved);
  }
  section.lines.push_back(std::move(in_use).line());
  section.lines.push_back(std::move(reserved).line());
  section.notes = {
      "Needed: what the allocator cannot free, of what the framework leaves of a GPU's memory. A step that "
      "reserves more than there is runs, and frees its cache on the way.",
      "Too large: thirty layouts of shipped models, GPUs and frameworks, by a count of their tensors."};
  section.decimals = 2;
  return section;
}

}}  // namespace c3::studies
