/// c3sim diff: what differs between two runs.

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "app/configuration_changes.hpp"
#include "app/exit_code.hpp"
#include "app/usage_error.hpp"
#include "app/verb.hpp"
#include "base/nearest_name.hpp"
#include "base/options.hpp"
#include "results/diff/diff_output.hpp"
#include "results/diff/run_diff.hpp"

namespace c3::inline app {
namespace {

struct DiffRequest {
  std::string a, b;
  std::vector<std::string> strategies;  ///< NAME, or NAME:NAME where they differ; empty: all
  std::size_t lines = 20;
  double tolerance = 0.0;
  bool all = false;
  bool check = false;
  bool json = false;
};

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

int diff(const DiffRequest& request) {
  const ResultReader a(request.a), b(request.b);
  DiffOptions options{.tolerance = request.tolerance, .all_kinds = request.all, .strategies = {}};
  for (const std::string& text : request.strategies)
    options.strategies.push_back(pair_of(text, a, b));
  RunDiff diff = diff_runs(a, b, options);
  diff.configuration =
      configuration_changes(a, b, {.tolerance = request.tolerance, .with_sources = request.all});
  if (!request.json) {
    for (const ResultReader* file : {&a, &b})
      if (const auto incomplete = file->incomplete()) fmt::print("{}: {}\n", file->path(), *incomplete);
  }
  fmt::print("{}", request.json ? diff_json(diff, request.lines) : diff_text(diff, request.lines));
  return request.check && !diff.is_equal() ? kExitCheckFailed : kExitOk;
}

}  // namespace

void add_diff_verb(Command& app, VerbAction& action) {
  const auto request = std::make_shared<DiffRequest>();
  Command& verb = app.add_command("diff", "Show what differs between two result files");
  verb.set_footer(
      "Compares the configuration key by key, the numbers of each strategy, and the activities (kernels,\n"
      "collectives, transfers and ranges, matched by strategy, kind, name and rank), the largest change "
      "first.\n\n"
      "Examples:\n"
      "  c3sim diff out/before.h5 out/after.h5\n"
      "  c3sim diff out/c3_llama70b_mi300x.h5 out/c3_llama70b_mi300x.h5 --strategy concurrent:dma\n"
      "  c3sim diff out/before.h5 out/after.h5 --check --tolerance 1e-9");
  verb.add_option("A", request->a, "Result file (HDF5) of c3sim run").required();
  verb.add_option("B", request->b, "Result file to compare with A").required();
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
  verb.add_flag("--check", request->check,
                "Exit with code 1 if anything except versions, date and command line differs");
  verb.add_flag("--json", request->json, "As JSON");
  verb.when_parsed([&action, request] { action = [request] { return diff(*request); }; });
}

}  // namespace c3::app
