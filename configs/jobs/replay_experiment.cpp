#include "configs/jobs/replay_experiment.hpp"

#include <string_view>

#include <fmt/format.h>

#include "files/written_files.hpp"

namespace c3 { inline namespace configs {
namespace {

/// \param work "kernels and copies". \param trace the lines of `[trace]`
std::string experiment_text(const RecordedRun& run, const ReplaySystem& on, std::string_view name,
                            std::string_view work, std::string_view trace) {
  std::string text = fmt::format(
      "# {} {} of {} rank{}, from c3sim import.\n"
      "# c3sim run experiment.toml simulates them; --set system=.. or a strategy's keys change what they run "
      "on.\n"
      "schema = 1\n"
      "name   = \"{}\"\n"
      "system = \"{}\"\n",
      run.events(), work, run.ranks.size(), run.is_of_one_rank() ? "" : "s", name, on.system);
  if (on.nodes > 1) text += fmt::format("nodes  = {}\n", on.nodes);
  return marked_text(
      text + fmt::format("\n[trace]\n{}\n[strategy.{}]\n\n[measure]\nseeds      = 1\nloss_split = false\n",
                         trace, name));
}

}  // namespace

std::string replay_experiment(const RecordedRun& run, const ReplaySystem& on) {
  return experiment_text(run, on, "replay", "kernels and copies",
                         "use    = \"program.h5\"  # relative to this file\n"
                         "replay = \"recorded\"    # times as they are, interference included; or "
                         "\"modelled\", \"mixed\"\n");
}

std::string benchmark_experiment(const RecordedRun& run, const ReplaySystem& on) {
  return experiment_text(
      run, on, "benchmark", "kernels, copies and collectives",
      "use    = \"operators.json\"  # relative to this file; a list of files: one behind the other\n"
      "replay = \"modelled\"        # times from shapes; or, with recorded times, \"recorded\", \"mixed\"\n");
}

}}  // namespace c3::configs
