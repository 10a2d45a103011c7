/// c3sim inspect: what a result file holds.

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "app/command/exit_code.hpp"
#include "app/command/verb.hpp"
#include "base/nearest_name.hpp"
#include "base/options.hpp"
#include "base/usage_error.hpp"
#include "results/program_file.hpp"
#include "results/result_export.hpp"
#include "results/result_overview.hpp"
#include "results/result_reader.hpp"
#include "results/shown_text.hpp"

namespace c3 { inline namespace app {
namespace {

struct InspectOptions {
  std::string file;
  std::string strategy;  ///< empty: all
  std::string table;     ///< empty: overview
  bool csv = false;
  bool json = false;
};

const std::map<std::string, std::string> kTables{{"activities", "activities"},
                                                 {"dependencies", "dependencies"},
                                                 {"collectives", "collectives"},
                                                 {"summary", "summary"},
                                                 {"streams", "streams"},
                                                 {"resources", "resources/list"},
                                                 {"steps", "resources/steps"},
                                                 {"step", "step"},
                                                 {"step_classes", "step_classes"},
                                                 {"step_flops", "step_flops"},
                                                 {"memory", "memory"},
                                                 {"classes", "classes"},
                                                 {"ranks", "ranks"},
                                                 {"recorded", "recorded/work"},
                                                 {"recorded_ranks", "recorded/ranks"}};

std::vector<std::string> chosen_strategies(const ResultReader& file, const std::string& wanted) {
  auto all = file.strategies();
  if (wanted.empty()) return all;
  if (std::ranges::find(all, wanted) == all.end()) throw UsageError(unknown_name("strategy", wanted, all));
  return {wanted};
}

std::vector<ResultTable> tables_of(const ResultReader& file, const InspectOptions& options,
                                   const TablePart& part) {
  std::vector<ResultTable> tables;
  for (const auto& strategy : chosen_strategies(file, options.strategy))
    tables.push_back(file.table(strategy, kTables.at(options.table), part));
  return tables;
}

/// Prints rows while reading them, because a timeline may be longer than memory.
void print_csv(const ResultReader& file, const InspectOptions& options) {
  const auto tables = tables_of(file, options, {.columns = {}, .rows = {.first = 0, .count = 0}});
  const CsvExport csv(tables);
  fmt::print("{}", csv.header());
  for (const ResultTable& table : tables) {
    TableBlocks blocks(file, table.strategy, table.name);
    while (const auto block = blocks.next())
      fmt::print("{}", csv.rows(*block));
  }
}

std::string table_text(const ResultReader& file, const InspectOptions& options) {
  const auto tables = tables_of(file, options, {});
  return options.json ? to_json(tables) : to_text(tables);
}

std::string overview(const ResultReader& file, const InspectOptions& options) {
  const auto strategies = chosen_strategies(file, options.strategy);
  return options.json ? overview_json(file, strategies) : shown_lines(overview_text(file, strategies));
}

/// A program file has one view: what was recorded.
int inspect_program(const InspectOptions& options) {
  if (!options.table.empty() || !options.strategy.empty())
    throw UsageError(options.file +
                     " is a program of c3sim import: it has no strategies, and no --table of them");
  const RecordedRun run = read_program_file(options.file);
  fmt::print("{}",
             options.json ? program_json(options.file, run) : shown_lines(program_text(options.file, run)));
  return kExitOk;
}

int inspect(const InspectOptions& options) {
  if (is_program_file(options.file)) return inspect_program(options);
  const ResultReader file(options.file);
  if (options.csv) {
    print_csv(file, options);
  } else {
    fmt::print("{}", options.table.empty() ? overview(file, options) : table_text(file, options));
  }
  return kExitOk;
}

}  // namespace

void add_inspect_verb(Command& app, VerbAction& action) {
  const auto options = std::make_shared<InspectOptions>();
  Command& verb = app.add_command("inspect", "Show or export what a result file holds");
  verb.set_footer(
      "Without --table, prints the attributes and, for each strategy, its time [us], row counts, busiest\n"
      "resources and first collectives. Exported tables have units in their headers: start_ps, bytes_B.\n\n"
      "Examples:\n"
      "  c3sim inspect out/c3_llama70b_mi300x.h5\n"
      "  c3sim inspect out/c3_llama70b_mi300x.h5 --strategy dma --table collectives --csv");
  verb.add_option("FILE", options->file, "Result file (HDF5) of c3sim run, or program.h5 of c3sim import")
      .required();
  verb.add_option("--strategy", options->strategy, "Only this strategy (default: all)").type_name("NAME");
  Option& table = verb.add_option("--table", options->table,
                                  "activities, dependencies, collectives, resources, steps, summary, streams,\n"
                                  "classes (of ranks) or ranks (the class of each);\n"
                                  "for a training step also step, step_classes, step_flops or memory");
  table.type_name("TABLE").one_key_of(kTables);
  Option& csv =
      verb.add_flag("--csv", options->csv, "Print the table as CSV, with a column 'strategy'").needs(table);
  verb.add_flag("--json", options->json, "As JSON").excludes(csv);
  verb.when_parsed([&action, options] { action = [options] { return inspect(*options); }; });
}

}}  // namespace c3::app
