#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>

#include "base/percent.hpp"
#include "studies/hypotheses.hpp"
#include "studies/interference/parts.hpp"
#include "workloads/execute/run.hpp"

namespace c3 { inline namespace studies {
namespace {

/// How long each side takes beside the other: the mean of the experiment's seeds.
SimulatedTime together(const Experiment& experiment) {
  const Strategy& strategy = experiment.strategies.at(1);
  const int seeds = experiment.measure.seeds;
  double kernels = 0.0, collectives = 0.0;
  for (int seed = 0; seed < seeds; ++seed) {
    const RunResult run = run_once(experiment, strategy, {.seed = static_cast<std::uint64_t>(seed)});
    kernels += run.kernels.duration().value / seeds;
    collectives += run.collectives.duration().value / seeds;
  }
  return {.values = {kernels, collectives}};
}

}  // namespace

PairHypotheses::PairHypotheses(const PairsPart& pairs)
    : pairs_(pairs), together_(hypotheses().size(), std::vector<Together>(pairs.rows().size())) {}

void PairHypotheses::plan(SimulationJobs& jobs) {
  for (std::size_t i = 0; i < together_.size(); ++i) {
    const Experiment nominal = under(hypotheses()[i], study_file("interference", "pair.toml"));
    for (std::size_t row = 0; row < together_[i].size(); ++row)
      jobs.push_back(
          {.run = [pair = with_channels(nominal, pairs_.rows()[row].channels)] { return together(pair); },
           .take =
               [&times = together_[i][row]](const SimulatedTime& taken) {
                 times = {Seconds{taken.values.at(0)}, Seconds{taken.values.at(1)}};
               }});
  }
}

double PairHypotheses::slowdown(std::size_t hypothesis, std::size_t row, bool of_gemm) const {
  const PairsPart::Row& alone = pairs_.rows()[row];
  const Together& times = together_[hypothesis][row];
  return of_gemm ? times.gemm / alone.our_gemm.alone : times.collective / alone.our_collective.alone;
}

/// Mean error of the slowdown, in percent, of the rows on \p least to \p most channels.
StudyLine PairHypotheses::errors(const PublishedFigures& published, bool of_gemm, int least, int most) const {
  const std::string side = of_gemm ? "gemm" : "collective";
  double off = 0.0;
  std::vector<double> on(together_.size(), 0.0);
  std::size_t count = 0;
  for (std::size_t i = 0; i < pairs_.rows().size(); ++i) {
    const PairsPart::Row& row = pairs_.rows()[i];
    if (row.channels < least || row.channels > most) continue;
    ++count;
    const double measured = row.side(of_gemm).slowdown();
    const auto error = [measured](double ours) { return kPercent * std::abs(ours / measured - 1.0); };
    off += error(row.ours(of_gemm).slowdown());
    for (std::size_t h = 0; h < on.size(); ++h)
      on[h] += error(slowdown(h, i, of_gemm));
  }
  StudyLine line{.figure = {.reference = published.find(fmt::format("hypotheses.{}.error.{}", side, least))},
                 .label = fmt::format("mean error, {} to {} channels [%]", least, most),
                 .rows = count};
  if (count == 0) return line;
  line.figure.simulated = off / static_cast<double>(count);
  for (std::size_t h = 0; h < on.size(); ++h)
    line.beside.emplace_back(hypotheses()[h].label, on[h] / static_cast<double>(count));
  return line;
}

StudySection PairHypotheses::section(const PublishedFigures& published, bool of_gemm) const {
  const std::string side = of_gemm ? "gemm" : "collective";
  StudySection section{
      .heading = of_gemm ? "Hypotheses: the GEMM's time over its time alone" : "The same of the all-reduce",
      .lines = {},
      .notes = {"Off in every figure that is judged. Each at the end of its range that costs most, then all."},
      .value = "all off",
      .decimals = 2};
  for (std::size_t i = 0; i < pairs_.rows().size(); ++i) {
    const PairsPart::Row& row = pairs_.rows()[i];
    StudyLine line{.figure = {.reference = published.find(fmt::format("hypotheses.{}.{}", side, row.channels)),
                              .simulated = row.ours(of_gemm).slowdown()},
                   .label = fmt::format("{} channels", row.channels),
                   .rows = 1,
                   .beside = {{"measured", row.side(of_gemm).slowdown()}}};
    for (std::size_t h = 0; h < together_.size(); ++h)
      line.beside.emplace_back(hypotheses()[h].label, slowdown(h, i, of_gemm));
    section.lines.push_back(std::move(line));
  }
  section.lines.push_back(errors(published, of_gemm, 2, kFewestJudged - 1));
  section.lines.push_back(errors(published, of_gemm, kFewestJudged, kMostChannels));
  std::erase_if(section.lines, [](const StudyLine& line) { return line.rows == 0; });
  return section;
}

StudyReport PairHypotheses::sections(const PublishedFigures& published) const {
  return {section(published, true), section(published, false)};
}

}}  // namespace c3::studies
