#include "studies/training/measured_steps.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <stdexcept>

#include "base/nearest_name.hpp"
#include "configs/jobs/experiment_reader.hpp"
#include "studies/cases/measured_tables.hpp"
#include "studies/checked_row.hpp"
#include "studies/training/step_numbers.hpp"

namespace c3 { inline namespace studies {
namespace {

/// A row of sources.csv: texts with `${column}` and formulas of a measured row.
struct StepSource {
  std::string table, settings, measured_ms, in_use_gib, reserved_gib;
};
using StepSources = std::map<std::string, StepSource, std::less<>>;

StepSources read_sources(std::vector<std::string>& broken) {
  StepSources sources;
  read_rows(study_file("training", "sources.csv"), "of every source", broken, [&](const CheckedRow& row) {
    const auto text = [&row](std::string_view column) { return std::string(row.cell(column)); };
    sources.insert_or_assign(row.text("name"), StepSource{.table = row.text("table"),
                                                          .settings = text("settings"),
                                                          .measured_ms = row.text("measured_ms"),
                                                          .in_use_gib = text("in_use_gib"),
                                                          .reserved_gib = text("reserved_gib")});
  });
  return sources;
}

const StepSource& source_called(const CheckedRow& row, const StepSources& sources) {
  const std::string name = row.text("source");
  if (const auto found = sources.find(name); found != sources.end()) return found->second;
  std::vector<std::string> known;
  for (const auto& [known_name, source] : sources)
    known.push_back(known_name);
  row.fail("source", unknown_name("source", name, known));
}

/// Absent where \p formula is empty, or names a number that the row does not have.
std::optional<double> value_of(const Cells& measured, const std::string& formula, std::string_view key) {
  if (formula.empty()) return std::nullopt;
  const std::map<std::string, double> numbers = measured.numbers();
  const Formula parsed = measured.formula(formula, key);
  if (!std::ranges::all_of(parsed.names(), [&](const std::string& name) { return numbers.contains(name); }))
    return std::nullopt;
  return parsed.value([&](const std::string& name) { return numbers.at(name); });
}

std::optional<Bytes> memory_of(const Cells& measured, const std::string& formula, std::string_view key) {
  const auto gib = value_of(measured, formula, key);
  return gib ? std::optional(Bytes{*gib * kGiB}) : std::nullopt;
}

MeasuredStep step_of(const CheckedRow& row, const StepSource& source, const Cells& measured) {
  const auto time = value_of(measured, source.measured_ms, "measured_ms");
  if (!time || *time <= 0.0) measured.fail("measured_ms", "'" + source.measured_ms + "' is no time above 0");
  MeasuredStep step{.set = row.text("set"),
                    .group = row.text("group"),
                    .ranked = std::string(row.cell("ranked")),
                    .row = row.text("row"),
                    .measured = *time * 1.0_ms,
                    .in_use = memory_of(measured, source.in_use_gib, "in_use_gib"),
                    .reserved = memory_of(measured, source.reserved_gib, "reserved_gib"),
                    .frame = row.text("frame"),
                    .sets = listed(measured.text(source.settings, "settings")),
                    .is_judged = row.cell("judged") != "no"};
  std::ranges::move(listed(row.cell("settings")), std::back_inserter(step.sets));
  return step;
}

}  // namespace

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

void make_of_frame(MeasuredStep& step) {
  const auto file = std::make_shared<const ExperimentFile>(
      ExperimentFile::load(experiment_of_study("training", step.frame), step.sets));
  step.make = [file](std::optional<std::uint64_t> draw) { return file->make(draw); };
}

std::vector<MeasuredStep> read_measured_steps(std::string_view study, const std::filesystem::path& data,
                                              const FirstTable& first, std::vector<std::string>& broken) {
  const StepSources sources = read_sources(broken);
  MeasuredTables tables(data);
  std::vector<MeasuredStep> steps;
  read_rows(study_file(study, "steps.csv"), "of every step", broken, [&](const CheckedRow& row) {
    const StepSource& source = source_called(row, sources);
    try {
      MeasuredStep step = step_of(row, source, tables.row(source.table, row.text("find")));
      step.first = first.find(step.set, step.row);
      make_of_frame(step);
      steps.push_back(std::move(step));
    } catch (const std::invalid_argument& error) {
      row.fail("find", error.what());
    }
  });
  return steps;
}

}}  // namespace c3::studies
