#include "app/import_tables.hpp"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "results/csv_line.hpp"

namespace c3::inline app {
namespace {

using Row = std::vector<std::string>;

constexpr std::string_view kUnknownText = "-";

std::string ms(Picoseconds time) { return fmt::format("{:.3f}", time.milliseconds()); }
std::string us(Picoseconds time) { return fmt::format("{:.1f}", time.microseconds()); }
std::string percent(double share) { return fmt::format("{:.4f}", 100.0 * share); }

double ratio(Picoseconds part, Picoseconds whole) {
  return whole.count == 0 ? 0.0 : static_cast<double>(part.count) / static_cast<double>(whole.count);
}

template <class T>
std::string number(const std::optional<T>& value) {
  return value ? fmt::format("{}", *value) : std::string(kUnknownText);
}

std::string text(const std::string& value) { return value.empty() ? std::string(kUnknownText) : value; }

ImportTable ranks_table(const ImportReport& report) {
  ImportTable table{.name = "ranks",
                    .title = "ranks",
                    .columns = {"rank", "GPU", "SMs or CUs", "streams", "threads", "steps", "operators",
                                "GPU work", "with launch", "graph launches", "GPU time [ms]", "with shapes [%]",
                                "step [ms]", "clock [us]", "file"},
                    .rows = {}};
  for (const RankSummary& rank : report.ranks)
    table.rows.push_back(
        {number(rank.rank), text(rank.gpu), rank.units > 0 ? fmt::format("{}", rank.units) : "-",
         fmt::format("{}", rank.streams), fmt::format("{}", rank.threads), fmt::format("{}", rank.steps),
         fmt::format("{}", rank.ops), fmt::format("{}", rank.activities), fmt::format("{}", rank.launched),
         fmt::format("{}", rank.graph_launches), ms(rank.gpu_time),
         fmt::format("{:.1f}", 100.0 * ratio(rank.time_with_shapes, rank.gpu_time)), ms(rank.step),
         us(rank.clock_offset) + (rank.clock_corrected ? " corrected" : ""), rank.file});
  return table;
}

ImportTable classes_table(const ImportReport& report) {
  ImportTable table{.name = "classes",
                    .title = "GPU work by class",
                    .columns = {"class", "count", "time [ms]", "share [%]"},
                    .rows = {}};
  Picoseconds all;
  for (const ClassSummary& summary : report.classes)
    all += summary.time;
  for (const ClassSummary& summary : report.classes)
    table.rows.push_back({std::string(name_of(summary.work)), fmt::format("{}", summary.count),
                          ms(summary.time), fmt::format("{:.1f}", 100.0 * ratio(summary.time, all))});
  return table;
}

ImportTable collectives_table(const ImportReport& report) {
  ImportTable table{.name = "collectives",
                    .title = "collectives",
                    .columns = {"kind", "type", "bytes", "ranks", "kernels", "matched", "recorded [ms]",
                                "true cost [ms]", "splits"},
                    .rows = {}};
  for (const CollectiveSummary& summary : report.collectives)
    table.rows.push_back({text(summary.kind), text(summary.dtype), number(summary.bytes),
                          number(summary.group_size), fmt::format("{}", summary.kernels),
                          fmt::format("{}", summary.instances), ms(summary.recorded),
                          summary.instances > 0 ? ms(summary.cost) : "-", text(summary.splits)});
  return table;
}

ImportTable unspecified_table(const ImportReport& report) {
  ImportTable table{.name = "unspecified",
                    .title = "collectives of which something is not known",
                    .columns = {"kernel", "rank", "event", "not known", "launched"},
                    .rows = {}};
  for (const UnspecifiedCollective& collective : report.unspecified)
    table.rows.push_back({collective.kernel, number(collective.rank), fmt::format("{}", collective.event),
                          collective.missing, collective.before_window ? "before the recording" : "in it"});
  return table;
}

ImportTable edges_table(const ImportReport& report) {
  const EdgeCounts& edges = report.edges;
  const auto waits = [&](WaitReason reason) { return edges.host_waits[static_cast<std::size_t>(reason)]; };
  const std::vector<std::pair<std::string, std::size_t>> counts{
      {"launch, by correlation", edges.launch},
      {"stream order", edges.stream},
      {"stream to stream, recorded (cuda_sync)", edges.recorded},
      {"stream to collective, by sequence number", edges.issue},
      {"collective to stream, by sequence number", edges.wait},
      {"stream to stream, inferred from launches", edges.inferred},
      {"collective, latest rank to all", report.matched_by_sequence + report.matched_by_order},
      {"host waits for the device", waits(WaitReason::device)},
      {"host waits for a stream", waits(WaitReason::stream)},
      {"host waits for an event", waits(WaitReason::event)},
      {"host waits for a copy", waits(WaitReason::copy)},
      {"host waits in an allocation", waits(WaitReason::allocation)},
      {"host waits for a full launch queue", waits(WaitReason::full_queue)},
      {"thread to thread, inferred", edges.resumes}};
  ImportTable table{.name = "edges", .title = "edges", .columns = {"edge", "count"}, .rows = {}};
  for (const auto& [edge, count] : counts)
    table.rows.push_back({edge, fmt::format("{}", count)});
  return table;
}

ImportTable unexplained_table(const ImportReport& report) {
  ImportTable table{.name = "unexplained",
                    .title = "starts that no edge explains",
                    .columns = {"kernel", "count", "lag [ms]", "worst [ms]"},
                    .rows = {}};
  for (const UnexplainedLag& lag : report.unexplained)
    table.rows.push_back({lag.kernel, fmt::format("{}", lag.count), ms(lag.total), ms(lag.worst)});
  return table;
}

ImportTable bounds_table(const ImportReport& report) {
  ImportTable table{.name = "bounds",
                    .title = "what binds the step",
                    .columns = {"change", "step [ms]", "of recorded [%]", "to the end of GPU work [ms]"},
                    .rows = {}};
  for (const BoundRow& row : report.bounds)
    table.rows.push_back({row.change, ms(row.step),
                          fmt::format("{:.2f}", 100.0 * ratio(row.step, report.bounds.front().step)),
                          row.gpu.count > 0 ? ms(row.gpu) : "-"});
  return table;
}

ImportTable stragglers_table(const ImportReport& report) {
  ImportTable table{.name = "stragglers",
                    .title = "who arrives last at collectives",
                    .columns = {"rank", "last", "mean late [ms]", "worst late [ms]"},
                    .rows = {}};
  for (const LateRank& straggler : report.stragglers)
    table.rows.push_back({fmt::format("{}", straggler.rank), fmt::format("{}", straggler.last),
                          ms(straggler.mean_late), ms(straggler.worst_late)});
  return table;
}

Row error_row(const std::string& name, const StartErrors& errors) {
  const auto in_ms = [&](double share) { return fmt::format("{:.3f}", share * errors.step.milliseconds()); };
  return {name,
          percent(errors.step_error),
          percent(errors.median),
          percent(errors.p95),
          percent(errors.worst),
          in_ms(errors.median),
          in_ms(errors.p95)};
}

ImportTable errors_table(const ImportReport& report) {
  return {.name = "errors",
          .title = "replay of the recorded durations beside the recording",
          .columns = {"edges between streams", "step error [%]", "start error, median [% of a step]", "p95 [%]",
                      "worst [%]", "median [ms]", "p95 [ms]"},
          .rows = {error_row("with", report.errors), error_row("without", report.errors_without_cross_stream)}};
}

using MakeTable = ImportTable (*)(const ImportReport&);

struct TableEntry {
  std::string_view name;
  MakeTable make;
};

constexpr std::array kTables{
    TableEntry{"ranks", ranks_table},
    TableEntry{"classes", classes_table},
    TableEntry{"collectives", collectives_table},
    TableEntry{"unspecified", unspecified_table},
    TableEntry{"stragglers", stragglers_table},
    TableEntry{"edges", edges_table},
    TableEntry{"unexplained", unexplained_table},
    TableEntry{"bounds", bounds_table},
    TableEntry{"errors", errors_table},
};

}  // namespace

std::vector<std::string> import_table_names() {
  std::vector<std::string> names;
  for (const TableEntry& entry : kTables)
    names.emplace_back(entry.name);
  return names;
}

std::vector<ImportTable> import_tables(const ImportReport& report) {
  std::vector<ImportTable> tables;
  for (const TableEntry& entry : kTables)
    tables.push_back(entry.make(report));
  return tables;
}

std::string import_csv(const ImportReport& report, const std::string& table) {
  const auto* const entry = std::ranges::find(kTables, table, &TableEntry::name);
  const ImportTable made = entry->make(report);
  std::string csv = csv_line(made.columns);
  for (const Row& row : made.rows)
    csv += csv_line(row);
  return csv;
}

}  // namespace c3::app
