/// c3sim report: a page that explains result files.

#include <CLI/CLI.hpp>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "app/exit_code.hpp"
#include "app/usage_error.hpp"
#include "app/verb.hpp"
#include "configs/nearest_name.hpp"
#include "results/report/page.hpp"
#include "results/result_file.hpp"

namespace c3 {
namespace {

struct ReportOptions {
  std::vector<std::string> files;
  std::vector<std::string> strategies;  ///< empty: all
  std::string output;                   ///< empty: the first file's name with .html
  std::string title;
  bool quiet = false;
};

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

/// A page over a result would be the last that is seen of it.
void check_output(const std::filesystem::path& output, const std::vector<std::string>& files) {
  std::error_code ignored;  // what is not there is not one of them
  for (const auto& file : files) {
    if (std::filesystem::equivalent(output, file, ignored))
      throw UsageError(output.string() + ": is one of the files to report on");
  }
}

/// Two files of one system are told apart by their names.
void tell_apart(std::vector<ReportRun>& runs) {
  const auto system = [](const ReportRun& run) { return run.study.conditions.system; };
  for (auto& run : runs) {
    if (std::ranges::count(runs, system(run), system) > 1) run.label += " (" + run.file + ")";
  }
}

int report(const ReportOptions& options) {
  const std::filesystem::path output =
      options.output.empty() ? std::filesystem::path(options.files.front()).replace_extension(".html")
                             : std::filesystem::path(options.output);
  const std::vector<ResultReader> files(options.files.begin(), options.files.end());
  check_strategies(files, options.strategies);
  check_output(output, options.files);
  TemporaryFile page(output);
  std::vector<ReportRun> runs;
  runs.reserve(files.size());
  for (const auto& file : files)
    runs.push_back(read_report_run(file, options.strategies));
  tell_apart(runs);
  page.append(report_page(runs, options.title));
  page.rename_to_target();
  if (!options.quiet) fmt::print(stderr, "wrote {}; open it in a browser\n", output.string());
  return kExitOk;
}

}  // namespace

void add_report_verb(CLI::App& app, VerbAction& action) {
  const auto options = std::make_shared<ReportOptions>();
  auto* verb = app.add_subcommand("report", "Make a page that explains result files");
  verb->footer(
      "One HTML file that needs no network: time split, table, loss split in us, and the timelines of all "
      "strategies\n"
      "on one axis. Several files, such as one job on two systems, are compared side by side.\n\n"
      "Examples:\n"
      "  c3sim report out/c3_llama70b_mi300x.h5 -o out/report.html\n"
      "  c3sim report out/mi300x.h5 out/h100.h5 --strategies prioritized,dma -o out/both.html");
  verb->add_option("FILES", options->files, "Result files (HDF5) of c3sim run")->required();
  verb->add_option("-o,--output", options->output, "HTML file to write (default: beside the first file)")
      ->type_name("OUT.html");
  verb->add_option("--strategies", options->strategies, "Only these, with commas between (default: all)")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("A,B");
  verb->add_option("--title", options->title, "Heading (default: the experiment's name)")->type_name("TEXT");
  verb->callback([&app, &action, options] {
    options->quiet = app.count("--quiet") > 0;
    action = [options] { return report(*options); };
  });
}

}  // namespace c3
