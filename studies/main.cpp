/// The c3sim-reproduce program, which `c3sim reproduce` starts: runs a published study and prints each figure
/// beside ours.

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "app/command/command_line.hpp"
#include "app/command/exit_code.hpp"
#include "app/command/progress_line.hpp"
#include "app/reproduce/reproduce_request.hpp"
#include "base/usage_error.hpp"
#include "engine/interrupt.hpp"
#include "files/temporary_file.hpp"
#include "studies/cases/case_tables.hpp"
#include "studies/study_output.hpp"
#include "studies/study_table.hpp"

namespace {

using namespace c3;

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

/// What the study's code finds, where it has some, then its tables of cases.
StudyOutcome run(const StudyCard& study, const StudyInput& input, const PublishedFigures& published,
                 const StudyProgress& progress) {
  StudyOutcome outcome;
  const auto code = study_runs().find(study.name);
  if (code == study_runs().end() && study.tables.empty())
    throw UsageError(fmt::format("the study '{}' has neither code nor a [[table]]", study.name));
  const auto found =
      std::ranges::find_if(study.tables, [](const StudyTable& table) { return !table.found.empty(); });
  if (code == study_runs().end() && found != study.tables.end())
    throw UsageError(fmt::format("the study '{}' has no code that finds '{}'", study.name, found->found));
  CaseTables tables(study, input.data, published);
  if (code != study_runs().end()) outcome = code->second(input, published, progress);
  if (!input.systems.empty()) return outcome;  // the user's tables have no cases of ours
  SimulationJobs jobs;
  tables.plan(jobs);
  run_simulations(jobs, progress, input.processes);
  std::ranges::move(tables.sections(outcome.broken), std::back_inserter(outcome.report));
  if (input.wants_rows && !study.row_columns.empty())
    outcome.rows_csv += study.row_columns + '\n' + tables.rows_csv();
  return outcome;
}

StudyInput input_of(const ReproduceRequest& options) {
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

/// Writes the rows if a file \p name was asked for. Which columns a table has is known now.
void write_rows(std::optional<TemporaryFile>& file, const std::string& name, const std::string& text) {
  if (!file) return;
  refuse_file_of_user(name, files::header_of(text));
  file->append(text);
  file->rename_to_target();
}

/// Writes \p text if a file was asked for.
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

int reproduce(const ReproduceRequest& options) {
  install_interrupt_handler();
  const StudyCard study = study_called(options.name);
  StudyInput input = input_of(options);
  input.card = study;
  check_measurements(study, input.data);
  const PublishedFigures published(study_file(study.name, "published.csv"));
  std::optional<TemporaryFile> rows, page;
  if (!options.rows.empty()) rows.emplace(options.rows, kAnyTable);
  if (!options.page.empty()) page.emplace(options.page);
  StudyOutcome outcome;
  {
    ProgressLine progress(options.quiet, "parts of the study");
    outcome = run(study, input, published, [&](std::size_t done, std::size_t total) { progress(done, total); });
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

int main(int argc, char** argv) {
  return run_command_line(
      argc, argv,
      {.about = "c3sim reproduce: published studies, each figure beside ours.",
       .add_verbs = [](Command& app, VerbAction& action) { add_reproduce_command(app, action, reproduce); }});
}
