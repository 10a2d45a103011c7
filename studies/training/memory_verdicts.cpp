#include "studies/training/memory_verdicts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "studies/training/step_numbers.hpp"

namespace c3 { inline namespace studies {
namespace {

struct RanStep {
  MeasuredStep reference;
  StepFacts facts;  ///< unsimulated
};

StudyLine refused_ones(const std::vector<RanStep>& ran, const PublishedFigures& published) {
  StudyLine line{.figure = {.reference = published.find("memory.ran_refused")},
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

/// The largest error of memory that was measured, and where it is.
StudyLine largest_error(const std::vector<RanStep>& ran, PublishedFigure reference, std::string label,
                        Bytes MemoryPeak::*here, std::optional<Bytes> MeasuredStep::*measured) {
  StudyLine line{.figure = {.reference = std::move(reference)}, .label = std::move(label)};
  std::string where;
  for (const RanStep& step : ran) {
    if (!(step.reference.*measured)) continue;
    ++line.rows;
    const Bytes is = step.facts.memory.*here, was = *(step.reference.*measured);
    const double error = kPercent * std::abs(is / was - 1.0);
    if (line.figure.simulated && error <= *line.figure.simulated) continue;
    line.figure.simulated = error;
    line.beside = {{"here [GiB]", is.value / kGiB}, {"measured [GiB]", was.value / kGiB}};
    where = fmt::format("{} {}", step.reference.set, step.reference.row);
  }
  if (!where.empty()) line.label += fmt::format(" ({})", where);
  return line;
}

}  // namespace

StudySection memory_verdicts(const std::vector<MeasuredStep>& steps, const PublishedFigures& published) {
  std::vector<RanStep> ran;
  for (const MeasuredStep& step : steps)
    ran.push_back({step, step.make(std::nullopt).step.value()});
  return {.heading = "Memory of steps that ran",
          .lines = {refused_ones(ran, published),
                    largest_error(ran, published.find("memory.in_use"), "largest error of memory in use, %",
                                  &MemoryPeak::bytes, &MeasuredStep::in_use),
                    largest_error(ran, published.find("memory.reserved"), "largest error of memory reserved, %",
                                  &MemoryPeak::reserved, &MeasuredStep::reserved)},
          .notes = {"Needed: what the allocator cannot free, of what the framework leaves of a GPU's memory. A "
                    "step that reserves more than there is runs, and frees its cache on the way."},
          .decimals = 2};
}

}}  // namespace c3::studies
