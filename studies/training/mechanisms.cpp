#include "studies/training/mechanisms.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

#include "studies/training/step_cost.hpp"
#include "studies/training/step_numbers.hpp"
#include "workloads/analysis/steady_state.hpp"

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
constexpr std::size_t kVariants = kMechanisms.size() + 2;

bool has(std::size_t variant, std::size_t mechanism) {
  return variant == kVariants - 1 || variant == mechanism + 1;
}

std::vector<std::string> sets_of(const MeasuredStep& step, std::size_t variant) {
  std::vector<std::string> sets = step.sets;
  for (std::size_t i = 0; i < kMechanisms.size(); ++i) {
    if (has(variant, i)) continue;
    for (const std::string_view off : kMechanisms[i].off)
      if (!off.empty()) sets.emplace_back(off);
  }
  return sets;
}

}  // namespace

MechanismsPart::MechanismsPart(std::vector<MeasuredStep> steps) {
  for (MeasuredStep& step : steps) {
    Row row{.of = std::move(step)};
    for (std::size_t variant = 0; variant < kVariants; ++variant)
      row.files.push_back(
          ExperimentFile::load(experiment_of_study("training", row.of.frame), sets_of(row.of, variant)));
    row.times.resize(kVariants);
    rows_.push_back(std::move(row));
  }
}

void MechanismsPart::plan(SimulationJobs& jobs) {
  for (Row& row : rows_) {
    for (std::size_t variant = 0; variant < kVariants; ++variant) {
      const auto run = [&row, variant] {
        const double before = cpu_seconds();
        const Experiment step = row.files[variant].make(std::nullopt);
        SimulatedTime found{.time = run_step(step, step.strategies.front(), {}).time};
        if (variant == kVariants - 1 && step.cluster.nodes == 1) found.values = {cpu_seconds() - before};
        return found;
      };
      jobs.push_back({run, [&row, variant](const SimulatedTime& found) {
                        row.times[variant] = found.time;
                        if (!found.values.empty()) row.cpu = found.values.front();
                      }});
    }
  }
}

StudySection MechanismsPart::section(const PublishedFigures& published) const {
  StudySection section{.heading = "Mean absolute error with each mechanism alone", .lines = {}, .notes = {}};
  std::vector<std::string> groups;
  for (const Row& row : rows_)
    if (std::ranges::find(groups, row.of.group) == groups.end()) groups.push_back(row.of.group);
  for (const std::string& group : groups) {
    StudyLine line{.figure = {.of = published.find("mechanisms." + group)}, .label = group};
    for (std::size_t variant = 0; variant < kVariants; ++variant) {
      double sum = 0.0, rows = 0.0;
      for (const Row& row : rows_) {
        if (row.of.group != group || !row.times[variant]) continue;
        sum += kPercent * std::abs(*row.times[variant] / row.of.measured - 1.0);
        rows += 1.0;
      }
      if (rows == 0.0) continue;
      line.rows = static_cast<std::size_t>(rows);
      if (variant == kVariants - 1) line.figure.simulated = sum / rows;
      if (variant == 0) line.beside.emplace_back("none", sum / rows);
      if (variant > 0 && variant + 1 < kVariants)
        line.beside.emplace_back(kMechanisms[variant - 1].name, sum / rows);
    }
    section.lines.push_back(std::move(line));
  }
  section.value = "all";
  section.notes = {
      "none: clocks that only the limit on bursts holds, hosts that take no time, GPUs that are alike. Each "
      "mechanism alone is none and that one."};
  return section;
}

std::vector<double> MechanismsPart::costs() const {
  std::vector<double> seconds;
  for (const Row& row : rows_)
    if (row.cpu) seconds.push_back(*row.cpu);
  return seconds;
}

}}  // namespace c3::studies
