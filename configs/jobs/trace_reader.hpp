#pragma once
/// `[trace]`: a recorded run in place of streams.

#include <optional>
#include <string>
#include <vector>

#include "collectives/spec.hpp"
#include "configs/toml/section.hpp"
#include "configs/toml/tree.hpp"
#include "workloads/program/program.hpp"
#include "workloads/traces/replay/rank_roles.hpp"
#include "workloads/traces/replay/replay_model.hpp"

namespace c3 { inline namespace configs {

/// How the work of a trace is timed.
enum class Replay {
  recorded,  ///< each kernel and collective takes what it took
  modelled,  ///< what has a known shape takes what the model says
  mixed      ///< modelled for some classes only, recorded for the others
};
constexpr auto enum_names(Replay) {
  return std::to_array<EnumName<Replay>>(
      {{"recorded", Replay::recorded}, {"modelled", Replay::modelled}, {"mixed", Replay::mixed}});
}

/// The program of `[trace]` on \p cluster. \throws ConfigError; IoError when the file is damaged
Program read_trace(Section& root, const ClusterSpec& cluster);

/// What `[trace]` of \p experiment repeats on \p cluster; nothing where there is no trace. \throws as
/// read_trace
std::optional<PlacedRun> recording_of(const Node& experiment, const ClusterSpec& cluster);

/// How much of the work of `[trace]` is modelled on \p cluster, in one line; nothing where all is as recorded,
/// or there is no trace. \throws as read_trace
std::vector<std::string> notes_on_trace(const Node& experiment, const ClusterSpec& cluster);

/// The shares as text: "of the recorded GPU time and pieces of work 94.8 % (4864 of 6216) are modelled, 0.0 %
/// (0 of 6216) are in another kernel's time, .."
std::string share_text(const ReplayShares& shares);

}}  // namespace c3::configs
