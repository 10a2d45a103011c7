#include "app/import/import_tables.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/import/import_cells.hpp"
#include "base/csv_line.hpp"
#include "base/usage_error.hpp"

namespace c3 { inline namespace app {
namespace {

using Row = std::vector<std::string>;

std::string us(Picoseconds time) { return fmt::format("{:.1f}", time.microseconds()); }
std::string percent(double share) { return fmt::format("{:.4f}", 100.0 * share); }

double ratio(Picoseconds part, Picoseconds whole) {
  return whole.count == 0 ? 0.0 : static_cast<double>(part.count) / static_cast<double>(whole.count);
}

ImportTable ranks_table(const ImportReport& report) {
  ImportTable table{.name = "ranks",
                    .title = "ranks",
                    .columns = {"rank", "GPU", "SMs or CUs", "streams", "threads", "steps", "operators",
                                "GPU work", "with launch", "graph launches", "GPU time [ms]", "with shapes [%]",
                                "step [ms]", "clock [us]", "file"},
                    .rows = {}};
  for (const RankSummary& rank : report.ranks)
    table.rows.push_back(
        {cell(rank.rank), cell(rank.gpu), rank.units > 0 ? fmt::format("{}", rank.units) : "-",
         fmt::format("{}", rank.streams), fmt::format("{}", rank.threads), fmt::format("{}", rank.steps),
         fmt::format("{}", rank.ops), fmt::format("{}", rank.activities), fmt::format("{}", rank.launched),
         fmt::format("{}", rank.graph_launches), ms_cell(rank.gpu_time),
         fmt::format("{:.1f}", 100.0 * ratio(rank.time_with_shapes, rank.gpu_time)), ms_cell(rank.step),
         us(rank.clock_offset) + (rank.clock_corrected ? " corrected" : ""), rank.file});
  return table;
}

ImportTable joins_table(const ImportReport& report) {
  ImportTable table{.name = "joins",
                    .title = "execution traces joined with the Kineto trace of their rank",
                    .columns = {"rank", "nodes", "operators", "joined [%]", "joined by", "shapes added",
                                "shapes alike", "shapes that differ", "collectives added", "file"},
                    .rows = {}};
  for (const ExecutionJoin& join : report.joins)
    table.rows.push_back({cell(join.rank), fmt::format("{}", join.nodes), fmt::format("{}", join.ops),
                          fmt::format("{:.2f}", join.ops == 0 ? 0.0
                                                              : 100.0 * static_cast<double>(join.joined) /
                                                                    static_cast<double>(join.ops)),
                          join.by_record_id ? "rf_id" : "order", fmt::format("{}", join.shapes_added),
                          fmt::format("{}", join.shapes_same), fmt::format("{}", join.shapes_differ),
                          fmt::format("{}", join.collectives_added), join.file});
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
                          ms_cell(summary.time), fmt::format("{:.1f}", 100.0 * ratio(summary.time, all))});
  return table;
}

ImportTable collectives_table(const ImportReport& report) {
  ImportTable table{
      .name = "collectives",
      .title = "collectives",
      .columns = {"kind", "type", "bytes", "ranks", "kernels", "matched", "recorded [ms]", "true cost [ms]",
                  "cost at most [ms]", "waiting [ms]", "waiting at least [ms]", "splits"},
      .rows = {}};
  for (const CollectiveSummary& summary : report.collectives) {
    const bool has_whole = summary.instances > summary.partial;
    table.rows.push_back(
        {cell(summary.kind), cell(summary.dtype), cell(summary.bytes), cell(summary.group_size),
         fmt::format("{}", summary.kernels), fmt::format("{}", summary.instances), ms_cell(summary.recorded),
         has_whole ? ms_cell(summary.cost) : "-", summary.partial > 0 ? ms_cell(summary.cost_at_most) : "-",
         has_whole ? ms_cell(summary.waiting) : "-", ms_cell(summary.waiting_at_least), cell(summary.splits)});
  }
  return table;
}

ImportTable unspecified_table(const ImportReport& report) {
  ImportTable table{.name = "unspecified",
                    .title = "collectives of which something is not known",
                    .columns = {"kernel", "rank", "event", "not known", "launched"},
                    .rows = {}};
  for (const UnspecifiedCollective& collective : report.unspecified)
    table.rows.push_back({collective.kernel, cell(collective.rank), fmt::format("{}", collective.event),
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
    table.rows.push_back({lag.kernel, fmt::format("{}", lag.count), ms_cell(lag.total), ms_cell(lag.worst)});
  return table;
}

ImportTable bounds_table(const ImportReport& report) {
  ImportTable table{.name = "bounds",
                    .title = "what binds the step",
                    .columns = {"change", "step [ms]", "of recorded [%]", "to the end of GPU work [ms]"},
                    .rows = {}};
  for (const BoundRow& row : report.bounds)
    table.rows.push_back({row.change, ms_cell(row.step),
                          fmt::format("{:.2f}", 100.0 * ratio(row.step, report.bounds.front().step)),
                          row.gpu.count > 0 ? ms_cell(row.gpu) : "-"});
  return table;
}

ImportTable stragglers_table(const ImportReport& report) {
  ImportTable table{.name = "stragglers",
                    .title = "who arrives last at collectives",
                    .columns = {"rank", "last", "mean late [ms]", "worst late [ms]"},
                    .rows = {}};
  for (const LateRank& straggler : report.stragglers)
    table.rows.push_back({fmt::format("{}", straggler.rank), fmt::format("{}", straggler.last),
                          ms_cell(straggler.mean_late), ms_cell(straggler.worst_late)});
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

constexpr std::array kTables{
    MakeTable{ranks_table},       MakeTable{joins_table},       MakeTable{classes_table},
    MakeTable{collectives_table}, MakeTable{unspecified_table}, MakeTable{stragglers_table},
    MakeTable{edges_table},       MakeTable{unexplained_table}, MakeTable{bounds_table},
    MakeTable{errors_table},
};

}  // namespace

std::vector<ImportTable> import_tables(const ImportReport& report) {
  std::vector<ImportTable> tables;
  tables.reserve(kTables.size());
  for (const MakeTable make : kTables)
    tables.push_back(make(report));
  return tables;
}

std::vector<std::string> import_table_names() {
  std::vector<std::string> names;
  for (const auto& tables : {import_tables(ImportReport{}), import_tables(NodeGraphReport{})}) {
    for (const ImportTable& table : tables) {
      if (std::ranges::find(names, table.name) == names.end()) names.emplace_back(table.name);
    }
  }
  return names;
}

std::string import_csv(const std::vector<ImportTable>& tables, const std::string& name) {
  const auto table = std::ranges::find(tables, name, &ImportTable::name);
  if (table == tables.end()) {
    std::vector<std::string_view> names;
    names.reserve(tables.size());
    for (const ImportTable& other : tables)
      names.push_back(other.name);
    throw UsageError(fmt::format("--csv {}: these traces do not have such a table; they have {}", name,
                                 fmt::join(names, ", ")));
  }
  std::string csv = csv_line(table->columns);
  for (const Row& row : table->rows)
    csv += csv_line(row);
  return csv;
}

}}  // namespace c3::app
