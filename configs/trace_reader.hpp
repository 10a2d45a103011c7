#pragma once
/// `[trace]`: a recorded run in place of streams.

#include "configs/section.hpp"
#include "configs/tree.hpp"
#include "workloads/program/program.hpp"

namespace c3::inline configs {

/// How the work of a trace is timed.
enum class Replay {
  recorded,  ///< each kernel and collective takes what it took
};
constexpr auto enum_names(Replay) { return std::to_array<EnumName<Replay>>({{"recorded", Replay::recorded}}); }

/// Makes `trace.use` of \p root an absolute path: it is relative to the file that names it, or to the working
/// directory on the command line.
void place_trace(Table& root);

/// The program of `[trace]` on a system of \p ranks. \throws ConfigError; IoError when the file is damaged
Program read_trace(Section& root, int ranks);

}  // namespace c3::configs
