#include <cmath>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "configs/tables/timed_table.hpp"
#include "studies/sampling/parts.hpp"
#include "workloads/sampling/seq_points.hpp"

namespace c3 { inline namespace studies {
namespace {

constexpr double kPercent = 100.0;

/// GNMT on one system: ten runs, every tenth iteration, without the first of each epoch.
struct Log {
  std::vector<Iteration> iterations;
  double sentences = 0.0;  ///< of an iteration, of all GPUs

  Seconds mean() const {
    Seconds sum;
    for (const Iteration& iteration : iterations)
      sum += iteration.time;
    return sum / static_cast<double>(iterations.size());
  }
};

/// How many times less time a sentence takes.
double speedup(Seconds slow, double slow_sentences, Seconds fast, double fast_sentences) {
  return slow / slow_sentences / (fast / fast_sentences);
}

}  // namespace

StudyReport length_sections(const std::filesystem::path& folder, const PublishedFigures& published) {
  constexpr double kV100Batch = 256.0, kA100Batch = 384.0;
  const Log v100{read_iterations(folder / "gnmt_dgx1_v100.csv", {}).iterations, kV100Batch};
  const Log a100{read_iterations(folder / "gnmt_dgxa100.csv", {}).iterations, kA100Batch};
  StudySection self{
      .heading = "GNMT logs: error of the epoch's time from the chosen iterations",
      .lines = {},
      .notes = {"Ten runs of each system, every tenth iteration; the first of each epoch is left out."},
      .value = "error [%]",
      .decimals = 3};
  StudySection other{
      .heading = "GNMT: speedup of a DGX A100 over a DGX-1 from the iterations chosen on the DGX-1",
      .lines = {},
      .notes = {fmt::format("Of the whole logs, by sentence: {:.4f}. Times have a resolution of 1 ms.",
                            speedup(v100.mean(), v100.sentences, a100.mean(), a100.sentences))},
      .value = "off [%]",
      .decimals = 3};
  const double whole = speedup(v100.mean(), v100.sentences, a100.mean(), a100.sentences);
  for (const LengthMethod& method : length_methods()) {
    for (const auto& [name, log] : {std::pair("v100", &v100), {"a100", &a100}}) {
      const EpochSample sample = method.choose(log->iterations, {});
      StudyLine line{.figure = {.of = published.find(fmt::format("lengths.self.{}.{}", method.name, name))},
                     .label = fmt::format("{}, {}", name, method.name)};
      line.figure.simulated = kPercent * sample.error();
      line.rows = log->iterations.size();
      line.beside = {{"iterations [count]", static_cast<double>(sample.points.size())},
                     {"fewer [times]", sample.fewer()}};
      self.lines.push_back(std::move(line));
    }
    const EpochSample sample = method.choose(v100.iterations, {});
    const auto count = static_cast<double>(sample.iterations());
    const double here = speedup(sample.estimate() / count, v100.sentences,
                                projected(sample.points, a100.iterations) / count, a100.sentences);
    StudyLine line{.figure = {.of = published.find(fmt::format("lengths.speedup.{}", method.name))},
                   .label = std::string(method.name)};
    line.figure.simulated = kPercent * (here / whole - 1.0);
    line.beside = {{"speedup [times]", here},
                   {"iterations [count]", static_cast<double>(sample.points.size())}};
    other.lines.push_back(std::move(line));
  }
  return {self, other};
}

}}  // namespace c3::studies
