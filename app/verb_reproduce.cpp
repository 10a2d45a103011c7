/// c3sim reproduce: a published study, each figure beside ours.

#include <CLI/CLI.hpp>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "app/exit_code.hpp"
#include "app/progress_line.hpp"
#include "app/reproduce/study.hpp"
#include "app/reproduce/study_output.hpp"
#include "app/usage_error.hpp"
#include "app/verb.hpp"
#include "configs/nearest_name.hpp"
#include "engine/interrupt.hpp"

namespace c3 {
namespace {

struct ReproduceOptions {
  std::string name;
  std::string data;
  bool json = false;
  bool quiet = false;
};

const Study& study_of(const std::string& name) {
  const auto found = std::ranges::find(studies(), name, &Study::name);
  if (found != studies().end()) return *found;
  std::vector<std::string> known;
  for (const Study& study : studies())
    known.emplace_back(study.name);
  throw UsageError(unknown_name("study", name, known));
}

int reproduce(const ReproduceOptions& options) {
  install_interrupt_handler();
  const Study& study = study_of(options.name);
  const auto data = data_folder(options.data);
  check_files(study, data);
  const PublishedFigures published(published_file(study.name));
  StudyReport report;
  {
    ProgressLine progress(options.quiet, "parts of the study");
    report = study.run(data, published, [&](std::size_t done, std::size_t total) { progress(done, total); });
  }
  fmt::print("{}", options.json ? study_json(study.name, report) : study_text(report));
  return passes(report) ? kExitOk : kExitCheckFailed;
}

}  // namespace

void add_reproduce_verb(CLI::App& app, VerbAction& action) {
  const auto options = std::make_shared<ReproduceOptions>();
  CLI::App& verb = *app.add_subcommand("reproduce", "Set a published study's figures beside ours");
  verb.add_option("NAME", options->name, "Study")->required()->type_name("STUDY");
  verb.add_option("--data", options->data, "Folder of the measurements (default: $C3SIM_DATA)")
      ->type_name("DIR");
  verb.add_flag("--json", options->json, "As one JSON object");
  std::string footer = "Ends with 1 when a figure misses its target. Studies:\n";
  for (const Study& study : studies())
    footer += fmt::format("  {:<10} {}\n", study.name, study.about);
  verb.footer(footer +
              "\nExamples:\n"
              "  c3sim reproduce kernels --data ../shared/data\n"
              "  c3sim reproduce kernels --json > out/kernels.json");
  verb.callback([&app, &action, options] {
    options->quiet = app.count("--quiet") > 0;
    action = [options] { return reproduce(*options); };
  });
}

}  // namespace c3
