#include "studies/comparison.hpp"

#include <algorithm>

#include "base/percent.hpp"
#include "gpu/calibration/error_statistics.hpp"

namespace c3 { inline namespace studies {
namespace {

}  // namespace

void Comparison::add(const Row& row, const std::vector<Beside>& beside) {
  here_.measured.push_back(row.measured);
  here_.predicted.push_back(row.here);
  blocks_.push_back(row.block);
  for (const auto& [name, time] : beside) {
    auto found = std::ranges::find(beside_, name, &std::pair<std::string, Times>::first);
    if (found == beside_.end()) found = beside_.insert(beside_.end(), {name, {}});
    found->second.measured.push_back(row.measured);
    found->second.predicted.push_back(time);
  }
}

StudyLine Comparison::line(PublishedFigure reference, FigureKind kind, std::string label) const {
  StudyLine line{.figure = {.reference = std::move(reference), .kind = kind},
                 .label = std::move(label),
                 .rows = here_.measured.size(),
                 .skipped = skipped_};
  if (line.rows == 0) return line;
  line.figure.simulated = kPercent * error_statistics(here_.measured, here_.predicted).mean_absolute;
  const BootstrapOptions from_5_to_95{.resamples = 400, .confidence = 0.9, .seed = 1};
  if (const auto interval = mape_interval(here_.measured, here_.predicted, blocks_, from_5_to_95)) {
    line.figure.p5 = kPercent * interval->low;
    line.figure.p95 = kPercent * interval->high;
  }
  for (const auto& [name, times] : beside_)
    line.beside.emplace_back(name, kPercent * error_statistics(times.measured, times.predicted).mean_absolute);
  return line;
}

std::optional<double> Comparison::signed_mean(const Times& times) {
  if (times.measured.empty()) return std::nullopt;
  return kPercent * error_statistics(times.measured, times.predicted).mean_signed;
}

std::optional<double> Comparison::signed_mean(std::string_view beside) const {
  if (beside.empty()) return signed_mean(here_);
  const auto found = std::ranges::find(beside_, beside, &std::pair<std::string, Times>::first);
  return found == beside_.end() ? std::nullopt : signed_mean(found->second);
}

StudyLine Comparison::signed_line(PublishedFigure reference, std::string label) const {
  StudyLine line{.figure = {.reference = std::move(reference), .simulated = signed_mean(here_)},
                 .label = std::move(label),
                 .rows = here_.measured.size()};
  for (const auto& [name, times] : beside_)
    line.beside.emplace_back(name, *signed_mean(times));
  return line;
}

}}  // namespace c3::studies
