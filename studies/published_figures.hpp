#pragma once
/// The figures that a study is held to: studies/STUDY/published.csv.

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "studies/figure.hpp"

namespace c3 { inline namespace studies {

class PublishedFigures {
 public:
  /// Columns id,unit,published,low,high,gate,known_miss,source. \throws ConfigError for a row that says nothing
  /// sensible, has no source or repeats an id; IoError for a file that cannot be read.
  explicit PublishedFigures(const std::filesystem::path& file);

  /// The row of \p id. An id without one is a detail of that whose id ends at an earlier dot: it has its unit
  /// and its source, and is not judged. \throws std::logic_error when there is none.
  PublishedFigure find(std::string_view id) const;

  const std::vector<PublishedFigure>& rows() const { return rows_; }

  /// The same figures, none of which is judged: for measurements other than those the gates were set for.
  PublishedFigures without_gates() const;

 private:
  std::vector<PublishedFigure> rows_;
};

}}  // namespace c3::studies
