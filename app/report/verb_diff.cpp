/// c3sim diff: what differs between two runs.

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "app/command/exit_code.hpp"
#include "app/command/verb.hpp"
#include "app/report/configuration_changes.hpp"
#include "base/nearest_name.hpp"
#include "base/options.hpp"
#include "base/usage_error.hpp"
#include "results/diff/diff_output.hpp"
#include "results/diff/run_diff.hpp"
#include "results/shown_text.hpp"

namespace c3 { inline namespace app {
namespace {

struct DiffRequest {
  std::string a, b;
  std::vector<std::string> strategies;  ///< NAME, or NAME:NAME where they differ; empty: all
  std::size_t lines = 20;
  double tolerance = 0.0;
  bool recorded = false;  ///< A's simulated and recorded times, no B
  bool all = false;
  bool check = false;
  bool json = false;
};

void print_incomplete(const ResultReader& file) {
  if (const auto incomplete = file.incomplete())
    fmt::print("{}\n", shown_lines(fmt::format("{}: {}", file.path(), *incomplete)));
}

void check_known(const std::string& name, const ResultReader& file) {
  const auto known = file.strategies();
  if (std::ranges::find(known, name) == known.end())
    throw UsageError(file.path() + ": " + unknown_name("strategy", name, known));
}

StrategyPair pair_of(const std::string& text, const ResultReader& a, const ResultReader& b) {
  const auto colon = text.find(':');
  StrategyPair pair{text.substr(0, colon), colon == std::string::npos ? text : text.substr(colon + 1)};
  check_known(pair.a, a);
  check_known(pair.b, b);
  return pair;
}

/// Strategies of one file beside the trace that they repeat.
int diff_recording(const DiffRequest& request) {
  if (!request.b.empty())
    throw UsageError("--recorded compares what A simulates with what it repeats: B cannot be given");
  if (request.all) throw UsageError("--all cannot be combined with --recorded");
  const ResultReader file(request.a);
  for (const std::string& name : request.strategies)
    check_known(name, file);
  std::vector<RecordedDiff> diffs;
  for (const std::string& name : request.strategies.empty() ? file.strategies() : request.strategies)
    diffs.push_back(diff_recorded({file, name}, request.tolerance));
  if (request.json) {
    fmt::print("{}", recorded_diff_json(file.path(), diffs, file.streams(), request.lines));
  } else {
    print_incomplete(file);
    for (const RecordedDiff& diff : diffs)
      fmt::print("{}{}", &diff == &diffs.front() ? "" : "\n",
                 shown_lines(recorded_diff_text(diff, file.streams(), request.lines)));
  }
  const bool all_equal = std::ranges::all_of(diffs, &RecordedDiff::is_equal);
  return request.check && !all_equal ? kExitCheckFailed : kExitOk;
}

int diff(const DiffRequest& request) {
  if (request.recorded) return diff_recording(request);
  if (request.b.empty()) throw UsageError("B is missing: a second result file, or --recorded");
  const ResultReader a(request.a), b(request.b);
  DiffOptions options{.tolerance = request.tolerance, .all_kinds = request.all, .strategies = {}};
  for (const std::string& text : request.strategies)
    options.strategies.push_back(pair_of(text, a, b));
  RunDiff diff = diff_runs(a, b, options);
  diff.configuration =
      configuration_changes(a, b, {.tolerance = request.tolerance, .with_sources = request.all});
  if (!request.json) {
    for (const ResultReader* file : {&a, &b})
      print_incomplete(*file);
  }
  fmt::print("{}", request.json ? diff_json(diff, request.lines) : shown_lines(diff_text(diff, request.lines)));
  return request.check && !diff.is_equal() ? kExitCheckFailed : kExitOk;
}

}  // namespace

void add_diff_verb(Command& app, VerbAction& action) {
  const auto request = std::make_shared<DiffRequest>();
  Command& verb = app.add_command("diff", "Show what differs between two result files, or from a trace");
  verb.set_footer(
      "Compares the configuration key by key, the numbers of each strategy, and the activities (kernels,\n"
      "collectives, transfers and ranges, matched by strategy, kind, name and rank), the largest change "
      "first.\n"
      "With --recorded, compares the simulated times of one file with those of the trace that it repeats\n"
      "([trace] of c3sim import -o): the starts that are off most, and names whose durations differ most.\n\n"
      "Examples:\n"
      "  c3sim diff out/before.h5 out/after.h5\n"
      "  c3sim diff out/c3_llama70b_mi300x.h5 out/c3_llama70b_mi300x.h5 --strategy concurrent:dma\n"
      "  c3sim diff out/before.h5 out/after.h5 --check --tolerance 1e-9\n"
      "  c3sim diff out/replay.h5 --recorded -n 5");
  verb.add_option("A", request->a, "Result file (HDF5) of c3sim run").required();
  verb.add_option("B", request->b, "Result file to compare with A; not with --recorded");
  verb.add_option("--strategy", request->strategies,
                  "Compare only this strategy, or NAME:NAME to compare one of A with another of B; repeatable")
      .one_word()
      .type_name("NAME");
  verb.add_option("-n,--lines", request->lines,
                  "Most rows of each table, the rest is counted; 0 for all (default: 20)")
      .not_negative()
      .type_name("N");
  verb.add_option("--tolerance", request->tolerance,
                  "Relative difference up to which numbers are equal (default: 0)")
      .in_range(0.0, 1.0)
      .type_name("SHARE");
  verb.add_flag(
      "--all", request->all,
      "Also compare work groups, channels, waits, commands, sources of values, date and command line");
  verb.add_flag("--recorded", request->recorded,
                "Compare what A simulates with the trace that it repeats, in place of B");
  verb.add_flag("--check", request->check,
                "Exit with code 1 if anything except versions, date and command line differs");
  verb.add_flag("--json", request->json, "As JSON");
  verb.when_parsed([&action, request] { action = [request] { return diff(*request); }; });
}

}}  // namespace c3::app
