/// c3sim explain: where the time of an experiment goes, and what would change it.

#include <cstdio>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "app/command/exit_code.hpp"
#include "app/command/verb.hpp"
#include "app/explain/explanation.hpp"
#include "app/notes.hpp"
#include "base/options.hpp"
#include "configs/presets/preset_store.hpp"
#include "engine/interrupt.hpp"
#include "files/temporary_file.hpp"

namespace c3 { inline namespace app {
namespace {

int explain_file(const ExplainRequest& request) {
  install_interrupt_handler();
  const PresetSnapshot presets;  // the same for all simulations
  const ExperimentFile file = ExperimentFile::load(request.file, request.sets);
  if (!request.quiet) print_notes(file.notes());
  std::optional<TemporaryFile> page;
  if (!request.page.empty()) page.emplace(request.page);
  const Explanation explanation = explain(request, file, [&](const Explanation& without_levers) {
    if (request.json) return;
    fmt::print("{}", waterfall_text(without_levers));
    std::fflush(stdout);  // who stops the levers keeps it
  });
  if (page) {
    page->append(explain_page(explanation));
    page->rename_to_target();
  }
  fmt::print("{}", request.json ? explain_json(explanation) : levers_text(explanation));
  return kExitOk;
}

}  // namespace

void add_explain_verb(Command& app, VerbAction& action) {
  const auto request = std::make_shared<ExplainRequest>();
  Command& verb = app.add_command("explain", "Where the time of an experiment goes, and what would change it");
  verb.add_option("FILE", request->file, "Experiment (TOML)").required();
  verb.add_option("--set", request->sets, "Override one key, as c3sim run does; repeatable")
      .repeated()
      .type_name("KEY=VALUE");
  verb.add_option("--strategy", request->strategy,
                  "Strategy to explain (default: the first that is not serial)")
      .type_name("NAME");
  verb.add_option("-j,--jobs", request->jobs, "Simulations at once (default: all cores)")
      .in_range(1, 4096)
      .type_name("N");
  verb.add_option("--draws", request->draws,
                  "Also measure levers in so many draws of assumed ranges (default: 0)")
      .in_range(1, 1000)
      .type_name("N");
  verb.add_flag(
      "--no-levers", [request] { request->levers = false; }, "Only the waterfall and the critical path");
  verb.add_option("--page", request->page,
                  "Also write an HTML page: waterfall, levers, critical path, schedule of a step")
      .type_name("FILE");
  verb.add_flag("--json", request->json, "Print one JSON object; times in us");
  verb.set_footer(
      "The waterfall falls from the peak of the GPU to what the run reaches: parts that add up to its time, "
      "each a\n"
      "closed form, a union of intervals, or a counterfactual that is simulated. The critical path tells by "
      "class\n"
      "of operators what the end waited for, and how much slack the others have. Levers are rates and "
      "latencies of\n"
      "the machine and choices of the experiment, each simulated with less, more and 1.5 times better.\n"
      "docs/explain.md explains all of it. Tens of simulations run in parallel; the waterfall is printed\n"
      "before the levers are tried, and stays when those are stopped.\n\n"
      "Examples:\n"
      "  c3sim explain configs/experiments/c3_llama70b_mi300x.toml --strategy concurrent\n"
      "  c3sim explain configs/experiments/training/llama3_8b_fsdp8.toml --set measure.seeds=1 --json\n"
      "  c3sim explain configs/experiments/training/llama3_70b_pipeline.toml --page out/explain.html");
  verb.when_parsed([&app, &action, request] {
    request->quiet = app.was_given("--quiet");
    action = [request] { return explain_file(*request); };
  });
}

}}  // namespace c3::app
