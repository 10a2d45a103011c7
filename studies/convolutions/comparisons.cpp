#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "base/percent.hpp"
#include "studies/comparison.hpp"
#include "studies/convolutions/parts.hpp"

namespace c3 { inline namespace studies {
namespace {

constexpr std::array kTypes = {DType::fp16, DType::fp32};

using Times = std::map<ConvolutionSolver, Seconds>;

Times::const_iterator least(const Times& times) {
  return std::ranges::min_element(times, {}, [](const auto& entry) { return entry.second; });
}

/// A mean error with its mean sign.
class Errors {
 public:
  void add(const Comparison::Row& row) {
    comparison_.add(row, {});
    signed_sum_ += kPercent * (row.here / row.measured - 1.0);
  }

  StudyLine line(PublishedFigure reference, FigureKind kind, std::string label) const {
    StudyLine line = comparison_.line(std::move(reference), kind, std::move(label));
    if (line.rows > 0) line.beside.emplace_back("signed [%]", signed_sum_ / static_cast<double>(line.rows));
    return line;
  }

 private:
  Comparison comparison_;
  double signed_sum_ = 0.0;
};

std::string label_of(const MeasuredGpu& gpu, DType type) {
  return fmt::format("{} {}", gpu.name, name_of(type));
}

/// The least time that any solver has, there and here.
StudySection best_times(const MeasuredGpu& gpu, const SolverTimes& times, const PublishedFigures& published,
                        const std::string& id, FigureKind kind) {
  StudySection section{.heading = fmt::format("{}, {}: mean error of the best solver's time", gpu.name, id),
                       .lines = {},
                       .notes = {},
                       .value = "error"};
  for (const DType type : kTypes) {
    std::map<ConvolutionPass, Errors> by_pass;
    Errors all;
    Errors shorter;
    for (std::size_t i = 0; i < times.size(); ++i) {
      const FoundConvolution& found = gpu.db.convolutions[i];
      if (found.shape.dtype != type || times[i].empty()) continue;
      const Comparison::Row row{found.best, least(times[i])->second, layer_of(found.shape)};
      if (found.best < kLeastJudged) {
        shorter.add(row);
        continue;
      }
      all.add(row);
      by_pass[found.shape.pass].add(row);
    }
    const std::string figure = fmt::format("{}.best.{}.{}", id, gpu.words, name_of(type));
    const std::string part = fmt::format("{}.part.{}.{}", id, gpu.words, name_of(type));
    section.lines.push_back(all.line(published.find(figure), kind, label_of(gpu, type)));
    for (const auto& [pass, errors] : by_pass)
      section.lines.push_back(errors.line(published.find(fmt::format("{}.{}", part, name_of(pass))), kind,
                                          fmt::format("{}, {}", label_of(gpu, type), name_of(pass))));
    section.lines.push_back(shorter.line(published.find(part + ".shorter"), kind,
                                         fmt::format("{}, below 20 us", label_of(gpu, type))));
  }
  return section;
}

/// Each solver against the fastest of its kernels.
StudySection solver_errors(const MeasuredGpu& gpu, const SolverTimes& times, const PublishedFigures& published,
                           const std::string& id, FigureKind kind) {
  StudySection section{.heading = fmt::format("{}, {}: mean error of each solver's time", gpu.name, id),
                       .lines = {},
                       .notes = {},
                       .value = "error"};
  for (const DType type : kTypes) {
    std::map<ConvolutionSolver, Errors> by_solver;
    for (std::size_t i = 0; i < times.size(); ++i) {
      const FoundConvolution& found = gpu.db.convolutions[i];
      if (found.shape.dtype != type) continue;
      for (const auto& [solver, time] : found.by_solver) {
        const auto here = times[i].find(solver);
        if (here == times[i].end() || time < kLeastJudged) continue;
        by_solver[solver].add({time, here->second, layer_of(found.shape)});
      }
    }
    for (const auto& [solver, errors] : by_solver)
      section.lines.push_back(errors.line(
          published.find(fmt::format("{}.solver.{}.{}.{}", id, gpu.words, name_of(type), name_of(solver))),
          kind, fmt::format("{}, {}", label_of(gpu, type), name_of(solver))));
  }
  return section;
}

/// What it would cost to run the solver that is fastest here, of those that the table has.
StudyLine choice(const MeasuredGpu& gpu, const SolverTimes& times, const PublishedFigures& published,
                 const std::string& id, FigureKind kind, DType type) {
  double chosen = 0.0;
  double best = 0.0;
  double right = 0.0;
  std::size_t rows = 0;
  for (std::size_t i = 0; i < times.size(); ++i) {
    const FoundConvolution& found = gpu.db.convolutions[i];
    if (found.shape.dtype != type || found.by_solver.size() < 2) continue;
    Times offered = times[i];
    std::erase_if(offered, [&](const auto& entry) { return !found.by_solver.contains(entry.first); });
    if (offered.empty()) continue;
    const Seconds there = found.by_solver.at(least(offered)->first);
    const Seconds least_there = least(found.by_solver)->second;
    chosen += there.value;
    best += least_there.value;
    right += there == least_there ? 1.0 : 0.0;
    ++rows;
  }
  StudyLine line{
      .figure = {.reference = published.find(fmt::format("{}.choice.{}.{}", id, gpu.words, name_of(type))),
                 .kind = kind},
      .label = label_of(gpu, type),
      .rows = rows};
  if (rows == 0) return line;
  line.figure.simulated = kPercent * (chosen / best - 1.0);
  line.beside.emplace_back("fastest [%]", kPercent * right / static_cast<double>(rows));
  return line;
}

}  // namespace

StudyReport compared(const MeasuredGpu& gpu, const SolverTimes& times, const PublishedFigures& published,
                     const std::string& id, FigureKind kind) {
  StudySection chosen{.heading = fmt::format(
                          "{}, {}: time of the solver chosen here over the best one's, less 1", gpu.name, id),
                      .lines = {},
                      .notes = {},
                      .value = "regret"};
  for (const DType type : kTypes)
    chosen.lines.push_back(choice(gpu, times, published, id, kind, type));
  return {best_times(gpu, times, published, id, kind), solver_errors(gpu, times, published, id, kind), chosen};
}

}}  // namespace c3::studies
