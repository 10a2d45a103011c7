#include "studies/training/first_table.hpp"

#include "studies/checked_row.hpp"

namespace c3 { inline namespace studies {

FirstTable::FirstTable(const std::filesystem::path& file) {
  const HeadedTable table(file);
  for (const HeadedTable::Row& cells : table.rows()) {
    const CheckedRow row(table, cells, "of every step");
    const auto time = [&row](std::string_view column) { return row.above_0(column) * 1.0_ms; };
    StepTime step{.here = time("here_ms")};
    if (!row.cell("p5_ms").empty()) {
      step.p5 = time("p5_ms");
      step.p95 = time("p95_ms");
    }
    times_.insert_or_assign({row.text("set"), row.text("row")}, step);
  }
}

std::optional<StepTime> FirstTable::find(const std::string& set, const std::string& row) const {
  const auto found = times_.find({set, row});
  return found == times_.end() ? std::nullopt : std::optional(found->second);
}

}}  // namespace c3::studies
