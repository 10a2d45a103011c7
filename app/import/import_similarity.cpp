#include "app/import/import_similarity.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "app/import/import_cells.hpp"
#include "configs/jobs/experiment_reader.hpp"
#include "results/text_table.hpp"
#include "workloads/comparison/similarity.hpp"

namespace c3 { inline namespace app {
namespace {

using Row = std::vector<std::string>;

constexpr std::string_view kNotModelled = "not-modelled";

Experiment experiment_of(const WrittenProgram& written, const char* replay) {
  const std::string set = fmt::format("trace.replay={}", replay);
  return ExperimentFile::load(written.experiment, {{set}}).make(std::nullopt);
}

std::vector<ListedRank> listed_ranks(const TraceFiles& files, const MadeList& made) {
  std::vector<ListedRank> listed;
  for (std::size_t i = 0; i < files.joined.size(); ++i) {
    const JoinedRank& joined = files.joined[i];
    listed.push_back({.execution = &joined.execution,
                      .join = &joined.join,
                      .rank = joined.rank,
                      .repetitions = made.coverage[i].coverage.repetitions});
  }
  return listed;
}

std::string number(const std::optional<double>& value) {
  return value ? fmt::format("{:.3f}", *value) : std::string(kUnknownCell);
}

Row figure_row(int rank, const SimilarityRow& row) {
  return {fmt::format("{}", rank), row.figure,           std::string(row.unit), number(row.recorded),
          number(row.replayed),    number(row.modelled), number(row.ratio())};
}

ImportTable figures_table(const Similarity& similarity) {
  ImportTable table{.name = "similarity",
                    .title = "recorded and replayed, of one step",
                    .columns = {"rank", "figure", "unit", "recorded", "replayed", "modelled", "ratio"},
                    .rows = {}};
  for (const RankSimilarity& rank : similarity.ranks) {
    for (const SimilarityRow& row : rank.rows)
      table.rows.push_back(figure_row(rank.rank, row));
  }
  return table;
}

ImportTable not_modelled_table(const Similarity& similarity) {
  ImportTable table{.name = kNotModelled,
                    .title = "work that the replay by the model does not model",
                    .columns = {"name", "reason", "count", "recorded [ms]"},
                    .rows = {}};
  for (const NotModelled& entry : similarity.not_modelled)
    table.rows.push_back({entry.name, entry.reason, fmt::format("{}", entry.count),
                          entry.has_time ? ms_cell(entry.time) : std::string(kUnknownCell)});
  return table;
}

double share(std::size_t part, std::size_t whole) {
  return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
}
double share(Picoseconds part, Picoseconds whole) {
  return whole.count == 0 ? 0.0 : static_cast<double>(part.count) / static_cast<double>(whole.count);
}

ImportTable coverage_table(const Similarity& similarity) {
  ImportTable table{.name = "coverage",
                    .title = "GPU work that listed operators launched",
                    .columns = {"rank", "work", "of count [%]", "time [ms]", "of time [%]"},
                    .rows = {}};
  for (const RankCoverage& rank_coverage : similarity.coverage) {
    const OperatorCoverage& coverage = rank_coverage.coverage;
    table.rows.push_back({fmt::format("{}", rank_coverage.rank), fmt::format("{}", coverage.activities),
                          fmt::format("{:.2f}", 100.0 * share(coverage.covered, coverage.activities)),
                          ms_cell(coverage.time),
                          fmt::format("{:.2f}", 100.0 * share(coverage.covered_time, coverage.time))});
  }
  return table;
}

Json figure_json(const SimilarityRow& row) {
  return {{"figure", row.figure},
          {"unit", row.unit},
          {"recorded", json_or_null(row.recorded)},
          {"replayed", json_or_null(row.replayed)},
          {"modelled", json_or_null(row.modelled)},
          {"ratio", json_or_null(row.ratio())}};
}

Json not_modelled_json(const NotModelled& entry) {
  return {{"name", entry.name},
          {"reason", entry.reason},
          {"count", entry.count},
          {"recorded_us", entry.has_time ? Json(entry.time.microseconds()) : Json(nullptr)}};
}

Json coverage_json(const RankCoverage& rank_coverage) {
  const auto rest = [](const NodeCount& count) {
    return Json{{"name", count.name}, {"count", count.count}, {"time_us", count.time.microseconds()}};
  };
  return {{"rank", rank_coverage.rank},
          {"work", rank_coverage.coverage.activities},
          {"covered", rank_coverage.coverage.covered},
          {"time_us", rank_coverage.coverage.time.microseconds()},
          {"covered_time_us", rank_coverage.coverage.covered_time.microseconds()},
          {"rest", json_list(rank_coverage.coverage.rest, rest)}};
}

constexpr std::array kTables{figures_table, not_modelled_table, coverage_table};

}  // namespace

Similarity similarity_of(const TraceFiles& files, const WrittenProgram& written, const MadeList* made) {
  const std::vector<ListedRank> listed =
      made == nullptr ? std::vector<ListedRank>() : listed_ranks(files, *made);
  const RecordedRun recording = made == nullptr ? written.run : named_by_list(files.ranks, listed, made->list);
  const Experiment with_recorded = experiment_of(written, "recorded");
  const Experiment with_modelled = experiment_of(written, "modelled");
  Similarity similarity;
  similarity.ranks = similarities({.recording = recording,
                                   .run = written.run,
                                   .with_recorded = with_recorded,
                                   .with_modelled = with_modelled,
                                   .listed = listed});
  similarity.not_modelled = written.not_modelled;
  if (made != nullptr) similarity.coverage = made->coverage;
  return similarity;
}

std::vector<std::string> similarity_table_names() {
  std::vector<std::string> names;
  for (const ImportTable& table : similarity_tables({}))
    names.emplace_back(table.name);
  return names;
}

bool needs_simulation(const std::string& table) {
  return table != kNotModelled && std::ranges::count(similarity_table_names(), table) > 0;
}

std::vector<ImportTable> similarity_tables(const Similarity& similarity) {
  std::vector<ImportTable> tables;
  tables.reserve(kTables.size());
  for (const auto make : kTables)
    tables.push_back(make(similarity));
  return tables;
}

std::string similarity_text(const Similarity& similarity) {
  std::string text;
  for (const RankSimilarity& rank : similarity.ranks) {
    text += fmt::format("\nrank {}: recorded and replayed, of one step\n", rank.rank);
    TextTable table({"figure", "unit", "recorded", "replayed", "modelled", "ratio"});
    for (const SimilarityRow& row : rank.rows) {
      Row cells = figure_row(rank.rank, row);
      cells.erase(cells.begin());
      cells.front() = terminal_cell(cells.front());
      table.add(std::move(cells));
    }
    text += table.text();
  }
  text +=
      "replayed: simulated with the recorded times; modelled: with times from shapes and the model's "
      "collectives; "
      "ratio: modelled / recorded\n";
  for (const ImportTable& table : {not_modelled_table(similarity), coverage_table(similarity)}) {
    if (!table.rows.empty()) text += fmt::format("\n{}\n{}", table.title, terminal_text(table));
  }
  return text;
}

Json similarity_json(const Similarity& similarity) {
  const auto rank = [](const RankSimilarity& rank_similarity) {
    return Json{{"rank", rank_similarity.rank}, {"figures", json_list(rank_similarity.rows, figure_json)}};
  };
  return {{"ranks", json_list(similarity.ranks, rank)},
          {"not_modelled", json_list(similarity.not_modelled, not_modelled_json)},
          {"coverage", json_list(similarity.coverage, coverage_json)}};
}

}}  // namespace c3::app
