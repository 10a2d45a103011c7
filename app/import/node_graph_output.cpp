#include <fmt/format.h>

#include "app/import/import_cells.hpp"
#include "app/import/import_tables.hpp"
#include "base/json.hpp"
#include "results/schema.hpp"

namespace c3 { inline namespace app {
namespace {

ImportTable ranks_table(const NodeGraphReport& report) {
  ImportTable table{.name = "ranks",
                    .title = "ranks",
                    .columns = {"rank", "schema", "nodes", "threads and streams", "file"},
                    .rows = {}};
  for (const NodeGraphFile& file : report.files)
    table.rows.push_back({cell(file.rank), cell(file.schema), fmt::format("{}", file.nodes),
                          fmt::format("{}", file.threads), file.file});
  return table;
}

/// Execution traces, and operator lists made of them alone, have no times.
std::string time_cell(const NodeGraphReport& report, Picoseconds time) {
  return report.has_times ? ms_cell(time) : std::string(kUnknownCell);
}

ImportTable counts_table(const NodeGraphReport& report, std::string_view name, std::string_view title,
                         const std::string& column, const std::vector<NodeCount>& counts) {
  ImportTable table{
      .name = name, .title = title, .columns = {column, "count", "with shapes", "time [ms]"}, .rows = {}};
  for (const NodeCount& count : counts)
    table.rows.push_back({count.name, fmt::format("{}", count.count), fmt::format("{}", count.with_shapes),
                          time_cell(report, count.time)});
  return table;
}

ImportTable shapes_table(const NodeGraphReport& report) {
  ImportTable table{.name = "shapes",
                    .title = "GPU operators by shapes of their inputs",
                    .columns = {"operator", "class", "count", "time [ms]", "dimensions", "types"},
                    .rows = {}};
  for (const OperatorShapes& shapes : report.shapes)
    table.rows.push_back({shapes.name, shapes.work, fmt::format("{}", shapes.count),
                          time_cell(report, shapes.time), cell(shapes.dims), cell(shapes.types)});
  return table;
}

ImportTable collectives_table(const NodeGraphReport& report) {
  ImportTable table{.name = "collectives",
                    .title = "collectives",
                    .columns = {"kind", "type", "bytes", "group", "ranks", "count", "time [ms]", "splits"},
                    .rows = {}};
  for (const NodeCollective& collective : report.collectives)
    table.rows.push_back({cell(collective.kind), cell(collective.dtype), cell(collective.bytes),
                          cell(collective.group), cell(collective.group_size),
                          fmt::format("{}", collective.count), time_cell(report, collective.time),
                          cell(collective.splits)});
  return table;
}

ImportTable dependencies_table(const NodeGraphReport& report) {
  ImportTable table{
      .name = "dependencies", .title = "dependencies", .columns = {"dependency", "count"}, .rows = {}};
  for (const DependencyCount& count : report.dependencies)
    table.rows.push_back({count.dependency, fmt::format("{}", count.count)});
  return table;
}

ImportTable times_table(const NodeGraphReport& report) {
  ImportTable table{.name = "times",
                    .title = "durations",
                    .columns = {"of", "host [ms]", "GPU compute [ms]", "communication [ms]", "sum [ms]"},
                    .rows = {}};
  const auto add = [&](const std::string& nodes, const NodeTimes& times) {
    table.rows.push_back({nodes, ms_cell(times.host), ms_cell(times.compute), ms_cell(times.communication),
                          ms_cell(times.sum())});
  };
  if (report.times) add("all nodes", *report.times);
  if (report.critical) add("critical path", *report.critical);
  if (report.busiest) add("busiest thread or stream", *report.busiest);
  return table;
}

std::string overview(const NodeGraphReport& report) {
  std::size_t nodes = 0;
  for (const NodeGraphFile& file : report.files)
    nodes += file.nodes;
  return fmt::format("{} {}{}, {} nodes\n", report.files.size(), report.format,
                     report.files.size() == 1 ? "" : "s", nodes);
}

std::string notes_of(const ImportTable& table, const NodeGraphReport& report) {
  if (table.name == "collectives") {
    std::string note = fmt::format("{} of {} collectives have a known kind, size and group\n",
                                   report.collectives_specified, report.collectives_issued);
    if (report.waits > 0)
      note += fmt::format("{} of {} waits have their collective\n", report.waits_paired, report.waits);
    return note;
  }
  if (table.name == "times")
    return "a step takes at least the longer of critical path and busiest stream; gaps between calls of the "
           "host are "
           "not in a Chakra trace\n";
  return "";
}

Json times_json(const std::optional<NodeTimes>& times) {
  if (!times) return nullptr;
  return {{"host_us", times->host.microseconds()},
          {"compute_us", times->compute.microseconds()},
          {"communication_us", times->communication.microseconds()}};
}

}  // namespace

std::vector<ImportTable> import_tables(const NodeGraphReport& report) {
  return {ranks_table(report),
          counts_table(report, "nodes", "nodes by kind", "kind", report.kinds),
          counts_table(report, "operators", "GPU operators by class", "class", report.operators),
          shapes_table(report),
          collectives_table(report),
          dependencies_table(report),
          times_table(report)};
}

std::string import_text(const NodeGraphReport& report) {
  std::string all = overview(report);
  for (const ImportTable& table : import_tables(report)) {
    if (!table.rows.empty())
      all += fmt::format("\n{}\n{}{}", table.title, terminal_text(table), notes_of(table, report));
  }
  return all;
}

std::string import_json(const NodeGraphReport& report) {
  const auto file = [](const NodeGraphFile& read) {
    return Json{{"rank", json_or_null(read.rank)},
                {"file", read.file},
                {"schema", json_or_null(read.schema)},
                {"nodes", read.nodes},
                {"threads", read.threads}};
  };
  const auto time = [&report](Picoseconds recorded) {
    return report.has_times ? Json(recorded.microseconds()) : Json(nullptr);
  };
  const auto count = [&](const NodeCount& nodes) {
    return Json{{"name", nodes.name},
                {"count", nodes.count},
                {"with_shapes", nodes.with_shapes},
                {"time_us", time(nodes.time)}};
  };
  const auto shapes = [&](const OperatorShapes& alike) {
    return Json{{"operator", alike.name},
                {"class", alike.work},
                {"dims", json_or_null(alike.dims)},
                {"types", json_or_null(alike.types)},
                {"count", alike.count},
                {"time_us", time(alike.time)}};
  };
  const auto collective = [&](const NodeCollective& alike) {
    return Json{{"kind", json_or_null(alike.kind)},
                {"dtype", json_or_null(alike.dtype)},
                {"bytes", json_or_null(alike.bytes)},
                {"group", json_or_null(alike.group)},
                {"group_size", json_or_null(alike.group_size)},
                {"splits", json_or_null(alike.splits)},
                {"count", alike.count},
                {"time_us", time(alike.time)}};
  };
  const auto dependency = [](const DependencyCount& found) {
    return Json{{"dependency", found.dependency}, {"count", found.count}};
  };
  const Json json{{"schema_version", kJsonSchemaVersion},
                  {"format", report.format},
                  {"ranks", json_list(report.files, file)},
                  {"nodes", json_list(report.kinds, count)},
                  {"operators", json_list(report.operators, count)},
                  {"shapes", json_list(report.shapes, shapes)},
                  {"collectives", Json{{"issued", report.collectives_issued},
                                       {"specified", report.collectives_specified},
                                       {"waits", report.waits},
                                       {"waits_paired", report.waits_paired},
                                       {"alike", json_list(report.collectives, collective)}}},
                  {"dependencies", json_list(report.dependencies, dependency)},
                  {"times", times_json(report.times)},
                  {"critical_path", times_json(report.critical)},
                  {"busiest_thread", times_json(report.busiest)}};
  return json.dump(2) + "\n";
}

}}  // namespace c3::app
