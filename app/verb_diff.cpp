/// c3sim diff: what differs between two runs.

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "app/exit_code.hpp"
#include "app/usage_error.hpp"
#include "app/verb.hpp"
#include "configs/config_diff.hpp"
#include "configs/nearest_name.hpp"
#include "configs/toml_text.hpp"
#include "results/diff/diff_output.hpp"
#include "results/diff/run_diff.hpp"

namespace c3 {
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

std::vector<TextChange> configuration_changes(const ResultReader& a, const ResultReader& b,
                                              const ConfigDiffOptions& options) {
  const auto tree = [](const ResultReader& file) {
    return parse_toml(file.attribute("config_resolved"), file.path() + "/config_resolved");
  };
  const Node first = tree(a), second = tree(b);
  std::vector<TextChange> changes;
  for (auto& [key, in_a, in_b, relative] : config_diff(*first.table(), *second.table(), options))
    changes.push_back({std::move(key), std::move(in_a), std::move(in_b), relative});
  return changes;
}

int diff(const DiffRequest& request) {
  const ResultReader a(request.a), b(request.b);
  DiffOptions options{.tolerance = request.tolerance, .all_kinds = request.all, .strategies = {}};
  for (const std::string& text : request.strategies)
    options.strategies.push_back(pair_of(text, a, b));
  RunDiff diff = diff_runs(a, b, options);
  diff.configuration =
      configuration_changes(a, b, {.tolerance = request.tolerance, .with_sources = request.all});
  fmt::print("{}", request.json ? diff_json(diff, request.lines) : diff_text(diff, request.lines));
  return request.check && !diff.is_equal() ? kExitCheckFailed : kExitOk;
}

}  // namespace

void add_diff_verb(CLI::App& app, VerbAction& action) {
  const auto request = std::make_shared<DiffRequest>();
  auto* verb = app.add_subcommand("diff", "Show what differs between two result files");
  verb->footer(
      "Configuration key by key, numbers of each strategy, and activities (kernels, collectives, transfers "
      "and\n"
      "ranges, matched by strategy, kind, name and rank), the largest change first.\n\n"
      "Examples:\n"
      "  c3sim diff out/before.h5 out/after.h5\n"
      "  c3sim diff out/c3_llama70b_mi300x.h5 out/c3_llama70b_mi300x.h5 --strategy concurrent:dma\n"
      "  c3sim diff out/before.h5 out/after.h5 --check --tolerance 1e-9");
  verb->add_option("A", request->a, "Result file (HDF5) of c3sim run")->required();
  verb->add_option("B", request->b, "The one to compare with it")->required();
  verb->add_option("--strategy", request->strategies,
                   "Only this strategy, or one of A with another of B: NAME:NAME (repeatable)")
      ->allow_extra_args(false)
      ->type_name("NAME");
  verb->add_option("-n,--lines", request->lines, "Most activities that are shown, 0 for all (default: 20)")
      ->check(CLI::NonNegativeNumber)
      ->type_name("N");
  verb->add_option("--tolerance", request->tolerance,
                   "Relative: numbers that differ by no more are equal (default: 0)")
      ->check(CLI::Range(0.0, 1.0))
      ->type_name("SHARE");
  verb->add_flag("--all", request->all,
                 "Also work groups, channels, waits and commands, sources of values, date and command line");
  verb->add_flag("--check", request->check,
                 "Exit with 1 if anything but versions, date and command line differs");
  verb->add_flag("--json", request->json, "As JSON");
  verb->callback([&action, request] { action = [request] { return diff(*request); }; });
}

}  // namespace c3
