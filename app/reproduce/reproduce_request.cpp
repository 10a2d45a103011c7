#include "app/reproduce/reproduce_request.hpp"

#include <memory>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "base/nearest_name.hpp"
#include "base/options.hpp"
#include "base/usage_error.hpp"

namespace c3 { inline namespace app {
namespace {

constexpr int kMostDraws = 10'000;
constexpr int kMostProcesses = 1024;

/// \throws UsageError for what the study has no use for
void check_against_card(const ReproduceRequest& options) {
  const StudyCard study = study_called(options.name);
  const auto refuse = [&](bool given, std::string_view option, std::string_view reason) {
    if (given) throw UsageError(fmt::format("{}: the study '{}' {}", option, study.name, reason));
  };
  refuse(!options.systems.empty() && !study.takes_systems, "--systems", "has no map of systems");
  refuse(!options.rows.empty() && !study.has_rows, "--rows", "does not list its measurements");
  refuse(!options.page.empty() && !study.has_page, "--page", "has no page");
  refuse(!options.weights.empty() && !study.has_weights, "--weights", "trains nothing that presets have");
  if (study.has_draws) return;
  refuse(options.draws.has_value(), "--draws", "draws nothing");
  refuse(options.jobs.has_value(), "--jobs", "always takes all cores");
  refuse(options.calibrated, "--calibrated", "has no calibrated term");
  refuse(options.tornado, "--tornado", "draws nothing");
}

std::string footer_text() {
  std::string footer =
      "The exit code is 1 if a figure misses its target, 5 if part of the input could not be used. "
      "Studies:\n";
  for (const StudyCard& study : study_cards())
    footer += fmt::format("  {:<12} {}\n", study.name, study.about);
  return footer +
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
         "  c3sim reproduce training --rows out/steps.csv";
}

}  // namespace

StudyCard study_called(const std::string& name) {
  std::vector<std::string> known;
  for (StudyCard& study : study_cards()) {
    if (study.name == name) return std::move(study);
    known.push_back(study.name);
  }
  throw UsageError(unknown_name("study", name, known));
}

void add_reproduce_command(Command& app, VerbAction& action,
                           const std::function<int(const ReproduceRequest&)>& reproduce) {
  const auto options = std::make_shared<ReproduceRequest>();
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
  verb.set_footer(footer_text);
  verb.when_parsed([&app, &action, options, reproduce] {
    options->quiet = app.was_given("--quiet");
    action = [options, reproduce] {
      check_against_card(*options);
      return reproduce(*options);
    };
  });
}

}}  // namespace c3::app
