/// c3sim tune: the best of the candidates that an experiment file names.

#include <memory>
#include <optional>

#include <fmt/format.h>

#include "app/command/exit_code.hpp"
#include "app/command/verb.hpp"
#include "app/tune/tune.hpp"
#include "base/options.hpp"
#include "configs/presets/preset_store.hpp"
#include "engine/interrupt.hpp"
#include "files/temporary_file.hpp"

namespace c3 { inline namespace app {
namespace {

int exit_code_of(const Tuning& tuning) {
  if (interrupt_requested()) {
    fmt::print(stderr, "interrupted; repeat the command to continue\n");
    return kExitInterrupted;
  }
  if (tuning.first_failed) {
    fmt::print(stderr, "failed: {}\n", *tuning.first_failed);
    return kExitPartial;
  }
  if (!tuning.ranking.empty()) return kExitOk;
  fmt::print(
      stderr, "no candidate can run{}\n",
      tuning.first_refused ? fmt::format("; the first that breaks a rule: {}", *tuning.first_refused) : "");
  return kExitInfeasible;
}

int tune_file(const TuneRequest& request) {
  install_interrupt_handler();
  const PresetSnapshot presets;  // the same for all candidates
  std::optional<TemporaryFile> page;
  if (!request.page.empty()) page.emplace(request.page);
  const Tuning tuning = tune(request);
  if (page) {
    page->append(tune_page(tuning));
    page->rename_to_target();
  }
  fmt::print("{}", request.json ? tune_json(tuning) : tune_text(tuning, request.shown));
  return exit_code_of(tuning);
}

}  // namespace

void add_tune_verb(Command& app, VerbAction& action) {
  const auto request = std::make_shared<TuneRequest>();
  Command& verb = app.add_command("tune", "Find the best of the candidates that an experiment's [tune] names");
  verb.add_option("FILE", request->sweep.file, "Experiment with a [tune] or a [sweep] (TOML)").required();
  verb.add_option("--set", request->sweep.sets, "Override one key in all candidates: key=value; repeatable")
      .repeated()
      .type_name("KEY=VALUE");
  verb.add_option("-o,--output", request->sweep.folder,
                  "Folder of simulated candidates (default: out/<experiment>_tune)")
      .type_name("DIR");
  verb.add_option("-j,--jobs", request->jobs, "Simulations at once (default: all cores)")
      .in_range(1, 4096)
      .type_name("N");
  verb.add_option("--whole-steps", request->whole_steps,
                  "Most candidates to simulate (default: tune.whole_steps of the file, 16)")
      .in_range(1, 1000000)
      .type_name("N");
  verb.add_flag("--exact", request->exact, "Simulate until no other candidate can be better");
  verb.add_option("--top", request->shown, "Best candidates to print (default: 5)")
      .in_range(1, 10000)
      .type_name("N");
  verb.add_option("--page", request->page, "Also write the front, the best and why they win as one HTML page")
      .type_name("FILE");
  verb.add_flag("--json", request->json, "Print one JSON object, with every simulated candidate; times in us");
  verb.set_footer(
      "Of every candidate first the rules, the memory, a lower bound and an estimate of its time are found,\n"
      "without a simulation. The most promising are simulated whole, until a regret of 0.5 % (tune.regret) is\n"
      "likely at most: by so much the best found may be worse than the best of all. With --exact the search "
      "goes\n"
      "on until no other candidate can be better by its bound. Simulated candidates are kept in DIR: after an\n"
      "interruption, or for more whole steps, repeat the command. docs/tune.md explains it.\n\n"
      "Examples:\n"
      "  c3sim tune configs/experiments/training/llama3_70b_search.toml --whole-steps 8\n"
      "  c3sim tune my_layouts.toml --exact --json");
  verb.when_parsed([&app, &action, request] {
    request->quiet = app.was_given("--quiet");
    action = [request] { return tune_file(*request); };
  });
}

}}  // namespace c3::app
