#pragma once
/// Many GPUs: collectives over them as collectives/ runs them everywhere, and what it takes to build them.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace c3::bench {

enum class ScaleWork {
  ring,       ///< an all_reduce along one ring, every chunk of every step a flow; and the same as a gang
  hierarchy,  ///< a hierarchical all_reduce over nodes, building included
  platform,   ///< building the interconnect alone
};

struct ScaleCase {
  std::string name;
  std::string what;  ///< one line for humans
  ScaleWork work = ScaleWork::ring;
  int gpus = 8;            ///< a multiple of 8
  int most_repeats = 100;  ///< long ones are run less often than asked for
};

/// The cases in the order in which they are reported.
std::vector<ScaleCase> all_scale_cases();

/// The collective of the case, run as one flow a stage.
struct GangMeasurement {
  double cpu_seconds = 0.0;
  double simulated_seconds = 0.0;
};

/// CPU times are the best of the repeats. A ring is timed between its making and its last completion;
/// everything else is timed whole.
struct ScaleMeasurement {
  double cpu_seconds = 0.0;
  std::optional<double> limit_cpu_seconds = std::nullopt;  ///< rings only: the same solver without SimGrid
  std::uint64_t flows = 0;                                 ///< completed
  double simulated_seconds = 0.0;                          ///< duration of the collective; 0 for a platform
  std::uint64_t peak_rss_bytes = 0;                        ///< without the gang
  std::optional<GangMeasurement> gang = std::nullopt;      ///< rings only
};

/// Each case in processes of its own. \throws std::logic_error when two runs of a case, in SimGrid's loop or
/// not, differ in their end or their number of flows; std::system_error when a process cannot be made.
ScaleMeasurement measure(const ScaleCase& work, int repeats);

}  // namespace c3::bench
