#include "studies/training/step_cost.hpp"

#include <ctime>
#include <utility>

#include "studies/training/step_numbers.hpp"

namespace c3 { inline namespace studies {

double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

StudySection cost_section(const std::vector<double>& seconds, const PublishedFigures& published) {
  StudyLine line{.figure = {.of = published.find("cpu.step")},
                 .label = "median, a step on one node",
                 .rows = seconds.size()};
  if (!seconds.empty()) line.figure.simulated = median_of(seconds);
  return {.heading = "CPU time of a simulated step, this machine",
          .lines = {std::move(line)},
          .notes = {},
          .value = "now",
          .decimals = 3};
}

}}  // namespace c3::studies
