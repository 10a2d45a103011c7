// Which of several layouts of one model is the fastest, here and measured: what a search of layouts needs.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/statistics.hpp"
#include "engine/random.hpp"
#include "studies/cluster/cluster_part.hpp"
#include "studies/training/step_numbers.hpp"

namespace c3 { inline namespace studies {
namespace {

/// A chosen layout that is slower than the best by no more is as good.
constexpr double kAsGood = 0.03;

struct LayoutGroup {
  std::string_view id, label;
};
constexpr std::array kLayoutGroups = {
    LayoutGroup{"vtrain256", "GPT 18.4B on 256 A100"}, LayoutGroup{"vtrain512", "GPT 39.1B on 512 A100"},
    LayoutGroup{"simumax.m4", "LLaMA 3 70B, 12 layers on 8 B200, 4 micro-batches"},
    LayoutGroup{"simumax.m8", "the same, 8"}};

/// With this share of noise between two measurements of a layout, how well do they rank layouts alike?
constexpr std::array kNoises = {0.03, 0.05};
constexpr std::uint64_t kNoiseDraws = 1000;

/// Tokens a second of the layouts of one model, measured and here.
struct Speeds {
  std::vector<double> measured, here;

  void add(double measured_speed, double speed_here) {
    measured.push_back(measured_speed);
    here.push_back(speed_here);
  }

  /// Share by which the layout that is fastest here is slower than the best.
  double lost() const {
    const auto chosen = std::ranges::max_element(here) - here.begin();
    return *std::ranges::max_element(measured) / measured[static_cast<std::size_t>(chosen)] - 1.0;
  }
  /// The mean rank correlation of the measured speeds with themselves, each multiplied by an independent
  /// lognormal factor whose logarithm deviates by \p noise.
  double repeatability(double noise) const {
    const RandomStream random(1, "noise of measured layouts");
    double sum = 0.0;
    for (std::uint64_t draw = 0; draw < kNoiseDraws; ++draw) {
      std::vector<double> again;
      for (const double speed : measured)
        again.push_back(speed * std::exp(noise * random.normal(draw * measured.size() + again.size())));
      sum += spearman(measured, again).value_or(0.0);
    }
    return sum / static_cast<double>(kNoiseDraws);
  }
};

/// Layouts whose tensor-parallel ranks are all GPUs of a node.
bool fills_nodes(const MeasuredStep& step) { return step.row.starts_with("tp8 "); }

}  // namespace

StudySection ClusterStepsPart::rankings(const PublishedFigures& published) const {
  StudySection section{
      .heading = "Layouts of one model, by tokens a second: rank correlation with the measured order",
      .lines = {},
      .notes = {"lost: by how much the layout that is fastest here is slower than the fastest one "
                "as measured. Layouts without a pipeline on 8 B200 are of the study of training.",
                "TP 8: of these layouts alone. 3 and 5 % noise: what a measured order has in the mean with "
                "one measured again, each time of which differs by so much."},
      .value = "here",
      .decimals = 3};
  std::size_t groups = 0, good = 0;
  for (const auto& [id, label] : kLayoutGroups) {
    Speeds speeds, whole_nodes;
    for (const Row& row : rows_) {
      if (!row.here || row.reference.ranked != id) continue;
      const double here = (*row.here)[ClusterNumber::tokens_per_second],
                   measured = here * (row.here->time / row.reference.measured);
      speeds.add(measured, here);
      if (fills_nodes(row.reference)) whole_nodes.add(measured, here);
    }
    if (speeds.here.size() < 2) continue;
    StudyLine line{.figure = {.reference = published.find(fmt::format("ranking.{}", id))},
                   .label = std::string(label),
                   .rows = speeds.here.size()};
    line.figure.simulated = spearman(speeds.here, speeds.measured);
    line.beside.emplace_back("lost [%]", kPercent * speeds.lost());
    if (const auto alone = spearman(whole_nodes.here, whole_nodes.measured))
      line.beside.emplace_back("TP 8", *alone);
    for (const double noise : kNoises)
      line.beside.emplace_back(fmt::format("{:.0f} % noise", kPercent * noise), speeds.repeatability(noise));
    section.lines.push_back(std::move(line));
    ++groups;
    if (speeds.lost() <= kAsGood) ++good;
  }
  if (groups == 0) return section;
  StudyLine line{.figure = {.reference = published.find("ranking.chosen")},
                 .label = "models whose chosen layout loses at most 3 % [count]",
                 .rows = groups};
  line.figure.simulated = static_cast<double>(good);
  section.lines.push_back(std::move(line));
  return section;
}

}}  // namespace c3::studies
