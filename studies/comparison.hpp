#pragma once
/// Measured times beside predicted ones, and the error that a study states of them.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/units.hpp"
#include "studies/study.hpp"

namespace c3 { inline namespace studies {

class Comparison {
 public:
  struct Row {
    Seconds measured;
    Seconds here;
    std::uint64_t block = 0;  ///< rows of one block (a shape, a model) err alike
  };
  /// A prediction by other means: its name and its time of the row added last.
  using Beside = std::pair<std::string, Seconds>;

  void add(const Row& row, const std::vector<Beside>& beside);
  void skip() { ++skipped_; }

  /// The mean absolute error in percent, of rows taken one by one; p5 and p95 by a bootstrap over blocks. What
  /// stands beside it is of the rows that have it. Without rows the figure was not computed.
  StudyLine line(PublishedFigure reference, FigureKind kind, std::string label) const;

  /// The mean of the errors with their signs, in percent; of the predictions of the name \p beside, if it is
  /// one. Absent without rows.
  std::optional<double> signed_mean(std::string_view beside = {}) const;
  /// The same of the predictions, and beside it of the others.
  StudyLine signed_line(PublishedFigure reference, std::string label) const;

 private:
  struct Times {
    std::vector<Seconds> measured, predicted;
  };

  static std::optional<double> signed_mean(const Times& times);

  Times here_;
  std::vector<std::uint64_t> blocks_;
  std::vector<std::pair<std::string, Times>> beside_;
  std::size_t skipped_ = 0;
};

}}  // namespace c3::studies
