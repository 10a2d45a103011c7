/// c3sim report: a page that explains result files.

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "app/command/exit_code.hpp"
#include "app/command/verb.hpp"
#include "app/report/configuration_changes.hpp"
#include "app/sweep/sweep_report.hpp"
#include "base/nearest_name.hpp"
#include "base/options.hpp"
#include "base/usage_error.hpp"
#include "engine/interrupt.hpp"
#include "results/report/page.hpp"
#include "results/result_file.hpp"
#include "results/shown_text.hpp"
#include "results/sweep/sweep_table.hpp"

namespace c3 { inline namespace app {
namespace {

struct ReportOptions {
  std::vector<std::string> files;
  std::vector<std::string> strategies;  ///< empty: all
  std::string output;                   ///< empty: the first file's name with .html
  std::string title;
  SweepReportOptions sweep;
  bool quiet = false;
};

/// Whether the one file is a sweep. \throws UsageError where files or options do not go together
bool is_of_sweep(const ReportOptions& options) {
  const auto sweeps =
      std::ranges::count_if(options.files, [](const auto& file) { return is_sweep_file(file); });
  if (sweeps > 0 && options.files.size() > 1)
    throw UsageError("a sweep has a page of its own: one merged sweep, or files of c3sim run");
  const std::string given = options.sweep.first_given();
  if (sweeps == 0 && !given.empty()) throw UsageError(given + " is for a file of c3sim merge");
  return sweeps > 0;
}

void check_strategies(const std::vector<ResultReader>& files, const std::vector<std::string>& wanted) {
  std::vector<std::string> known;
  for (const auto& file : files) {
    for (const auto& name : file.strategies()) {
      if (std::ranges::find(known, name) == known.end()) known.push_back(name);
    }
  }
  for (const auto& name : wanted) {
    if (std::ranges::find(known, name) == known.end()) throw UsageError(unknown_name("strategy", name, known));
  }
}

/// Adds the file's name to the labels of runs on the same system.
void tell_apart(std::vector<ReportRun>& runs) {
  const auto system = [](const ReportRun& run) { return run.study.conditions.system; };
  for (auto& run : runs) {
    if (std::ranges::count(runs, system(run), system) > 1) run.label += " (" + run.file + ")";
  }
}

/// "training.global_batch 32 / 8", or empty.
std::string work_text(const ResultReader& first, const ResultReader& other) {
  constexpr std::size_t kNamed = 4, kLongest = 40;
  const auto value = [&](const std::optional<std::string>& text) {
    return text ? shown_word(*text, kLongest) : std::string("none");
  };
  const std::vector<TextChange> changes = work_changes(first, other);
  std::string text;
  for (std::size_t i = 0; i < std::min(kNamed, changes.size()); ++i)
    text += fmt::format("{}{} {} / {}", i == 0 ? "" : ", ", changes[i].name, value(changes[i].a),
                        value(changes[i].b));
  return text + (changes.size() > kNamed ? fmt::format(" and {} more", changes.size() - kNamed) : "");
}

std::string run_report(const ReportOptions& options) {
  const std::vector<ResultReader> files(options.files.begin(), options.files.end());
  check_strategies(files, options.strategies);
  std::vector<ReportRun> runs;
  runs.reserve(files.size());
  for (const auto& file : files)
    runs.push_back(read_report_run(file, options.strategies));
  tell_apart(runs);
  for (std::size_t i = 1; i < runs.size(); ++i) {
    runs[i].other_work = work_text(files.front(), files[i]);
    if (!runs[i].other_work.empty() && !options.quiet)
      fmt::print(stderr, "{}\n",
                 shown_lines(fmt::format("work differs: {} ({} / {})", runs[i].other_work, runs.front().label,
                                         runs[i].label)));
  }
  return report_page(runs, options.title);
}

int report(const ReportOptions& options) {
  install_interrupt_handler();  // before there is a file to leave behind
  const std::filesystem::path output =
      options.output.empty() ? std::filesystem::path(options.files.front()).replace_extension(".html")
                             : std::filesystem::path(options.output);
  const bool is_sweep = is_of_sweep(options);
  TemporaryFile page(output);
  page.append(is_sweep ? sweep_report(options.files.front(), options.strategies, options.title, options.sweep)
                       : run_report(options));
  page.rename_to_target();
  if (!options.quiet) fmt::print(stderr, "wrote {}; open it in a browser\n", output.string());
  return kExitOk;
}

void add_sweep_options(Command& verb, SweepReportOptions& options) {
  const auto add = [&](const char* name, auto& value, const char* text, const char* type) -> Option& {
    return verb.add_option(name, value, text).type_name(type).group("Options for a sweep");
  };
  add("--x", options.x, "Swept key on the x axis (default: the one with the most numbers)", "KEY");
  add("--y", options.y,
      "Number to draw (default: tokens/s, images/s .. or speedup; time where the machine is swept)", "METRIC");
  add("--series", options.series, "Swept key, or 'strategy', that has a line for each value", "KEY");
  add("--heat", options.heat, "Keys of the heat map: columns, rows", "KEY,KEY").comma_separated().one_word();
  add("--pareto", options.pareto, "Numbers whose Pareto front is drawn", "METRIC,METRIC")
      .comma_separated()
      .one_word();
  add("--for-each", options.for_each,
      "Show the best point and the front for each value of these keys (default: keys that change work or "
      "machine)",
      "KEY,..")
      .comma_separated()
      .one_word();
  add("--choose", options.choose,
      "Look for the best value of these keys too, even if they change work or machine", "KEY,..")
      .comma_separated()
      .one_word();
  add("--only", options.only, "Only points with this value, written as on the page; repeatable", "KEY=VALUE")
      .one_word();
}

}  // namespace

void add_report_verb(Command& app, VerbAction& action) {
  const auto options = std::make_shared<ReportOptions>();
  Command& verb = app.add_command("report", "Make a page that explains result files or a sweep");
  verb.set_footer(
      "Writes one HTML file that needs no network: time split, table, loss split in us, and the timelines of\n"
      "all strategies on one axis. Several files, such as one job on two systems, are compared side by side; "
      "if\n"
      "their work differs, the page says so and compares training steps by time per token.\n"
      "For a sweep, give the file of c3sim merge: the page has lines, a heat map, the best points, and the\n"
      "Pareto front of two numbers, chosen from the swept keys unless options name them. --y and --pareto "
      "accept\n"
      "time, speedup, dma.time or a swept number. Below each plot is the command that draws it.\n"
      "docs/glossary.md explains the words of the tables.\n\n"
      "Examples:\n"
      "  c3sim report out/c3_llama70b_mi300x.h5 -o out/report.html\n"
      "  c3sim report out/mi300x.h5 out/h100.h5 --strategies prioritized,dma -o out/both.html\n"
      "  c3sim report out/partition.h5\n"
      "  c3sim report out/partition.h5 --x cus --y time --series backend --only op=all_gather --only 'size=896 "
      "MiB'\n"
      "  c3sim report out/partition.h5 --heat cus,size --pareto kernel_together,collective_together");
  verb.add_option("FILES", options->files, "Result files (HDF5) of c3sim run, or one of c3sim merge")
      .required();
  verb.add_option("-o,--output", options->output, "HTML file to write (default: beside the first file)")
      .type_name("OUT.html");
  verb.add_option("--strategies", options->strategies,
                  "Only these strategies, separated by commas (default: all)")
      .comma_separated()
      .one_word()
      .type_name("A,B");
  verb.add_option("--title", options->title, "Heading (default: the experiment's name)").type_name("TEXT");
  add_sweep_options(verb, options->sweep);
  verb.when_parsed([&app, &action, options] {
    options->quiet = app.was_given("--quiet");
    action = [options] { return report(*options); };
  });
}

}}  // namespace c3::app
