#pragma once
/// The lines of a section that compares predictions of a table's rows with what was measured.

#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "studies/kernels/measured_rows.hpp"

namespace c3 { inline namespace studies {

class RowLines {
 public:
  RowLines(const MeasuredRows& table, const PublishedFigures& published, std::string heading)
      : table_(table), published_(published), section_{.heading = std::move(heading)} {}

  /// The mean absolute error of the rows that \p filter accepts.
  void add(std::string_view id, std::string label, FigureKind kind, const Predictions& predictions,
           const RowFilter& filter) {
    section_.lines.push_back(
        table_.compare(predictions, filter).line(published_.find(id), kind, std::move(label)));
  }

  StudySection section(std::vector<std::string> notes) {
    section_.notes = std::move(notes);
    if (table_.broken() > 0)
      section_.notes.push_back(fmt::format("{} rows could not be read.", table_.broken()));
    return std::move(section_);
  }

 private:
  const MeasuredRows& table_;
  const PublishedFigures& published_;
  StudySection section_;
};

}}  // namespace c3::studies
