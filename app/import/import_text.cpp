#include <algorithm>
#include <array>
#include <set>
#include <span>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/import/import_tables.hpp"
#include "results/ranking.hpp"
#include "results/text_table.hpp"

namespace c3 { inline namespace app {
namespace {

constexpr std::size_t kMostRows = 14;     // rows of a table on a terminal
constexpr std::size_t kLongestCell = 60;  // characters

}  // namespace

std::string terminal_cell(const std::string& text) {
  if (text.size() <= kLongestCell) return text;
  constexpr std::size_t kHalf = (kLongestCell - 2) / 2;
  return text.substr(0, kHalf) + ".." + text.substr(text.size() - kHalf);
}

std::string terminal_text(const ImportTable& table) {
  std::vector<std::size_t> shown;
  for (std::size_t column = 0; column < table.columns.size(); ++column) {
    const bool says_nothing = std::ranges::all_of(table.rows, [&](const auto& row) {
      return row[column] == "-" || row[column] == "0" || row[column] == "0.0" || row[column] == "0.000";
    });
    if (!says_nothing && table.columns[column] != "GPU") shown.push_back(column);  // overview() names the GPU
  }
  const auto cells = [&](const std::vector<std::string>& row) {
    std::vector<std::string> kept;
    kept.reserve(shown.size());
    for (const std::size_t column : shown)
      kept.push_back(terminal_cell(row[column]));
    return kept;
  };
  TextTable text(cells(table.columns));
  const std::size_t rows = std::min(kMostRows, table.rows.size());
  for (const auto& row : std::span(table.rows).first(rows))
    text.add(cells(row));
  std::string result = text.text();
  if (rows < table.rows.size())
    result += fmt::format("and {} more; --csv {} prints all\n", table.rows.size() - rows, table.name);
  return result;
}

namespace {

std::string overview(const ImportReport& report) {
  std::set<std::string> gpus;
  for (const RankSummary& rank : report.ranks)
    if (rank.activities > 0) gpus.insert(rank.gpu.empty() ? "a GPU that is not named" : rank.gpu);
  const char* const ranks = report.ranks.size() == 1 ? "rank" : "ranks";
  if (gpus.empty()) return fmt::format("{} {} without GPU work\n", report.ranks.size(), ranks);
  return fmt::format("{} {} on {}\n", report.ranks.size(), ranks, fmt::join(gpus, ", "));
}

/// What a reader must know of the collectives.
std::string collectives_note(const ImportReport& report) {
  if (report.collective_kernels == 0) return "";
  const std::size_t specified = report.collective_kernels - report.unspecified.size();
  const std::size_t matched = report.matched_by_sequence + report.matched_by_order;
  std::string note = fmt::format("{} of {} collective kernels have a known kind, size and group\n", specified,
                                 report.collective_kernels);
  if (report.unmatched.count > 0)
    note += fmt::format(
        "the times of {} are upper bounds, {:.3f} ms: one rank does not tell transfer from waiting for other "
        "ranks; at least {:.3f} ms were waiting, what is beyond the shortest of those that are alike\n",
        matched == 0 ? "collectives" : "those that are not matched", report.unmatched.milliseconds(),
        report.waiting_at_least.milliseconds());
  if (matched == 0) return note;
  note +=
      fmt::format("{} collectives matched across ranks: {} by sequence number, {} by order in their group\n",
                  matched, report.matched_by_sequence, report.matched_by_order);
  if (report.whole() > 0)
    note += fmt::format(
        "true cost, from the latest start to the end: {:.3f} ms; kernels waited {:.3f} ms for late ranks\n",
        report.true_cost.milliseconds(), report.waiting.milliseconds());
  if (report.partial > 0)
    note += fmt::format(
        "{} of them lack ranks that are not here and may have come later: they cost at most {:.3f} ms\n",
        report.partial, report.cost_at_most.milliseconds());
  note += fmt::format("ends of a collective differ by {:.1f} us (median), {:.1f} us (worst)\n",
                      report.end_spread_median.microseconds(), report.end_spread_worst.microseconds());
  return note;
}

/// Who may bind a step, what the others would do, and how much the change of this one shortens it.
struct Bound {
  std::string_view who, others;
  double shortens = 0.0;
};

/// Whether hosts or GPUs alone decide when the step and its GPU work end.
std::string bounds_note(const ImportReport& report) {
  constexpr double kUnchanged = 0.01;
  const auto& rows = report.bounds;
  if (rows.size() < 3 || rows[0].step.count <= 0 || rows[0].gpu.count <= 0) return "";
  const auto share = [](Picoseconds before, Picoseconds after) {
    return std::abs(static_cast<double>((before - after).count)) / static_cast<double>(before.count);
  };
  // GPU work that is over before its step has ended can shrink without a change of the step.
  const bool gpu_ends_last = share(rows[0].step, rows[0].gpu) < kUnchanged || rows[0].gpu > rows[0].step;
  const auto change = [&](const BoundRow& row) {
    return std::max(share(rows[0].step, row.step), gpu_ends_last ? share(rows[0].gpu, row.gpu) : 0.0);
  };
  const std::array bound{Bound{"hosts", "faster GPUs or a faster network do", change(rows[2])},
                         Bound{"GPUs", "faster hosts do", change(rows[1])}};
  const Bound* const by = first_of(bound, &Bound::shortens, kUnchanged);
  const Bound& other = by == bound.data() ? bound.back() : bound.front();
  if (by == nullptr || other.shortens >= kUnchanged) return "";
  return fmt::format("the {} bind this step: {} not shorten it\n", by->who, by->others);
}

std::string notes_of(const ImportTable& table, const ImportReport& report) {
  if (table.name == "collectives") return collectives_note(report);
  if (table.name == "bounds") return bounds_note(report);
  if (table.name == "unexplained")
    return "the GPU had no free SMs or CUs, or an edge is missing; these lags are not replayed\n";
  if (table.name == "errors")
    return "start error: how far the replayed start of GPU work is from the recorded one\n";
  if (table.name == "ranks" && !report.missing_ranks.empty())
    return fmt::format("{} ranks of this job are not here\n", report.missing_ranks.size());
  return "";
}

}  // namespace

std::string import_text(const ImportReport& report) {
  std::string text = overview(report);
  for (const ImportTable& table : import_tables(report)) {
    if (table.rows.empty()) continue;
    text += fmt::format("\n{}\n{}{}", table.title, terminal_text(table), notes_of(table, report));
  }
  return text;
}

}}  // namespace c3::app
