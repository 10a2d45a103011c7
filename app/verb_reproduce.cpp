/// c3sim reproduce: a published study, each figure beside ours.

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "app/exit_code.hpp"
#include "app/progress_line.hpp"
#include "app/verb.hpp"
#include "base/nearest_name.hpp"
#include "base/options.hpp"
#include "base/usage_error.hpp"
#include "engine/interrupt.hpp"
#include "files/temporary_file.hpp"
#include "studies/study_output.hpp"
#include "studies/study_table.hpp"

namespace c3 { inline namespace app {
namespace {

constexpr int kMostDraws = 10'000;
constexpr int kMostProcesses = 1024;

struct ReproduceOptions {
  std::string name;
  std::string data;
  std::string systems;
  std::string rows;     ///< file for every measurement; empty: none
  std::string page;     ///< file for the page; empty: none
  std::string weights;  ///< folder for what is trained; empty: none
  std::optional<int> draws, jobs;
  bool calibrated = false;
  bool tornado = false;
  bool json = false;
  bool quiet = false;
};

const Study& study_of(const std::string& name) {
  const auto found = std::ranges::find(all_studies(), name, &Study::name);
  if (found != all_studies().end()) return *found;
  std::vector<std::string> known;
  for (const Study& study : all_studies())
    known.emplace_back(study.name);
  throw UsageError(unknown_name("study", name, known));
}

/// Reports on stderr which part of the input could not be used, and other remarks.
void report_input(const StudyOutcome& outcome, bool quiet) {
  constexpr std::size_t kMostReported = 20;
  for (std::size_t i = 0; i < std::min(outcome.broken.size(), kMostReported); ++i)
    fmt::print(stderr, "{}\n", outcome.broken[i]);
  if (outcome.broken.size() > kMostReported)
    fmt::print(stderr, "c3sim: and {} more of the input that could not be used\n",
               outcome.broken.size() - kMostReported);
  if (quiet) return;
  for (const std::string& notice : outcome.notices)
    fmt::print(stderr, "{}\n", notice);
}

/// \throws UsageError for what the study has no use for
StudyInput input_of(const ReproduceOptions& options, const Study& study) {
  const auto refuse = [&](bool given, std::string_view option, std::string_view reason) {
    if (given) throw UsageError(fmt::format("{}: the study '{}' {}", option, study.name, reason));
  };
  refuse(!options.systems.empty() && !study.takes_systems, "--systems", "has no map of systems");
  refuse(!options.rows.empty() && !study.has_rows, "--rows", "does not list its measurements");
  refuse(!options.page.empty() && !study.has_page, "--page", "has no page");
  refuse(!options.weights.empty() && !study.has_weights, "--weights", "trains nothing that presets have");
  if (!study.has_draws) {
    refuse(options.draws.has_value(), "--draws", "draws nothing");
    refuse(options.jobs.has_value(), "--jobs", "always takes all cores");
    refuse(options.calibrated, "--calibrated", "has no calibrated term");
    refuse(options.tornado, "--tornado", "draws nothing");
  }
  StudyInput input{.data = data_folder(options.data), .systems = options.systems};
  input.wants_rows = !options.rows.empty();
  input.wants_page = !options.page.empty();
  input.wants_weights = !options.weights.empty();
  input.draws = options.draws.value_or(input.draws);
  input.processes = static_cast<std::size_t>(options.jobs.value_or(0));
  input.calibrated = options.calibrated;
  input.tornado = options.tornado;
  return input;
}

/// Where \p name was asked for. Which columns a table has is known now.
void write_rows(std::optional<TemporaryFile>& file, const std::string& name, const std::string& text) {
  if (!file) return;
  refuse_file_of_user(name, files::header_of(text));
  file->append(text);
  file->rename_to_target();
}

/// Where a file was asked for.
void write(std::optional<TemporaryFile>& file, const std::string& text) {
  if (!file) return;
  file->append(text);
  file->rename_to_target();
}

/// Each in a file of its own in \p folder, which is made where it is missing.
void write_weights(const StudyOutcome& outcome, const std::filesystem::path& folder) {
  if (outcome.weights.empty()) return;
  std::filesystem::create_directories(folder);
  for (const auto& [name, text] : outcome.weights) {
    TemporaryFile file(folder / name, files::header_of(text));
    file.append(text);
    file.rename_to_target();
  }
}

int reproduce(const ReproduceOptions& options) {
  install_interrupt_handler();
  const Study& study = study_of(options.name);
  const StudyInput input = input_of(options, study);
  check_files(study, input.data);
  const PublishedFigures published(study_file(study.name, "published.csv"));
  std::optional<TemporaryFile> rows, page;
  if (!options.rows.empty()) rows.emplace(options.rows, kAnyTable);
  if (!options.page.empty()) page.emplace(options.page);
  StudyOutcome outcome;
  {
    ProgressLine progress(options.quiet, "parts of the study");
    outcome = study.run(input, published, [&](std::size_t done, std::size_t total) { progress(done, total); });
  }
  write_rows(rows, options.rows, outcome.rows_csv);
  write(page, outcome.page);
  if (!options.weights.empty()) write_weights(outcome, options.weights);
  report_input(outcome, options.quiet);
  if (outcome.report.empty() && !outcome.broken.empty()) return kExitConfig;
  fmt::print("{}", options.json ? study_json(study.name, outcome.report) : study_text(outcome.report));
  if (!outcome.broken.empty()) return kExitPartial;
  return passes(outcome.report) ? kExitOk : kExitCheckFailed;
}

}  // namespace

void add_reproduce_verb(Command& app, VerbAction& action) {
  const auto options = std::make_shared<ReproduceOptions>();
  Command& verb = app.add_command("reproduce", "Compare the figures of a published study with simulated ones");
  verb.add_option("NAME", options->name, "Study").required().type_name("STUDY");
  verb.add_option("--data", options->data,
                  "Folder of the measured tables (default: $C3SIM_DATA, else data in the working folder)")
      .type_name("DIR");
  verb.add_option("--systems", options->systems,
                  "collectives: map of tables to systems (default: this project's)")
      .type_name("FILE");
  verb.add_option("--rows", options->rows,
                  "Write every measurement beside ours, as CSV (bert: every kernel; conccl: every scenario, "
                  "strategy and draw; scaling_laws: every point; t3: every sub-layer; training: every step)")
      .type_name("FILE");
  verb.add_option("--page", options->page, "conccl: write the study as one HTML page").type_name("FILE");
  verb.add_option("--weights", options->weights, "selection: write what is trained on all rows to this folder")
      .type_name("DIR");
  verb.add_option("--draws", options->draws,
                  "conccl: draws of all priors (default: 50; 0: nominal values only)")
      .in_range(0, kMostDraws)
      .type_name("N");
  verb.add_option("-j,--jobs", options->jobs, "conccl: processes (default: all cores)")
      .in_range(1, kMostProcesses)
      .type_name("N");
  verb.add_flag("--calibrated", options->calibrated,
                "conccl: add results with a loss fitted to published results (never judged)");
  verb.add_flag("--tornado", options->tornado,
                "conccl: vary one prior at a time on all scenarios instead of six");
  verb.add_flag("--json", options->json, "Print one JSON object");
  std::string footer =
      "The exit code is 1 if a figure misses its target, 5 if part of the input could not be used. "
      "Studies:\n";
  for (const Study& study : all_studies())
    footer += fmt::format("  {:<11} {}\n", study.name, study.about);
  verb.set_footer(
      footer +
      "\nThe map of collectives is CSV: file and system; nodes, fabric, algorithm, protocol and launch "
      "(eager,\n"
      "graph, one_process) where they are not what the library chooses; gpus (of a node), op, "
      "where\n(column=value) and "
      "library where needed; sets names a parameter that was set from the table. Of every size the least\n"
      "time counts, in place or out of place.\n"
      "\nExamples:\n"
      "  c3sim reproduce collectives --data measured\n"
      "  c3sim reproduce collectives --data my/tables --systems my/map.csv --json\n"
      "  c3sim reproduce conccl --draws 0\n"
      "  c3sim reproduce conccl --page out/conccl.html\n"
      "  c3sim reproduce kernels --data measured\n"
      "  c3sim reproduce kernels --json > out/kernels.json\n"
      "  c3sim reproduce training --rows out/steps.csv");
  verb.when_parsed([&app, &action, options] {
    options->quiet = app.was_given("--quiet");
    action = [options] { return reproduce(*options); };
  });
}

}}  // namespace c3::app
