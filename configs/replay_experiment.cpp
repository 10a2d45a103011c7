#include "configs/replay_experiment.hpp"

#include <fmt/format.h>

namespace c3::inline configs {

std::string replay_experiment(const RecordedRun& run, const ReplaySystem& on) {
  std::string text = fmt::format(
      "# Written by c3sim import: {} kernels and copies of {} rank{}.\n"
      "# c3sim run experiment.toml simulates them; --set system=.. or a strategy's keys change what they run "
      "on.\n"
      "schema = 1\n"
      "name   = \"replay\"\n"
      "system = \"{}\"\n",
      run.events(), run.ranks.size(), run.ranks.size() == 1 ? "" : "s", on.system);
  if (on.nodes > 1) text += fmt::format("nodes  = {}\n", on.nodes);
  text +=
      "\n[trace]\nuse    = \"program.h5\"  # relative to this file\nreplay = \"recorded\"    # times as they "
      "are, "
      "interference included; or \"modelled\", \"mixed\"\n\n[strategy.replay]\n\n[measure]\nseeds      = "
      "1\nloss_split = false\n";
  return text;
}

}  // namespace c3::configs
