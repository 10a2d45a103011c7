#pragma once
/// Where the time of one strategy goes, and what would change it.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/parallel_tasks.hpp"
#include "configs/experiment_reader.hpp"
#include "workloads/explain/critical_path.hpp"
#include "workloads/explain/rank_schedule.hpp"
#include "workloads/explain/waterfall.hpp"

namespace c3::inline app {

struct ExplainRequest {
  std::string file;
  std::vector<std::string> sets;
  std::string strategy;  ///< empty: the first that is not serial
  int jobs = 0;          ///< 0: as many as cores
  int draws = 0;         ///< of assumed ranges, in which levers are measured as well
  bool levers = true;
  bool json = false;
  bool quiet = false;
  std::string page;  ///< HTML file to write; empty: none
};

enum class LeverKind {
  rate,     ///< of the machine: more is faster
  latency,  ///< of the machine, the library or hosts: less is faster
  choice,   ///< a key of the experiment that takes some values only
};
constexpr auto enum_names(LeverKind) {
  return std::to_array<EnumName<LeverKind>>(
      {{"rate", LeverKind::rate}, {"latency", LeverKind::latency}, {"choice", LeverKind::choice}});
}

/// The experiment with a lever moved. \param draw of ranges; absent: nominal values
using MovedExperiment = std::function<Experiment(std::optional<std::uint64_t> draw)>;

/// Something that could be otherwise.
struct Lever {
  std::string name;
  LeverKind kind = LeverKind::rate;
  double low = 1.0, high = 1.0;  ///< factors between which the elasticity is taken
  MovedExperiment at_low, at_high;
  std::optional<MovedExperiment> improved = std::nullopt;  ///< by kImprovement; of rates and latencies
};

inline constexpr double kLeverStep = 1.1;    ///< of rates and latencies, both ways
inline constexpr double kImprovement = 1.5;  ///< of which the gain is simulated

/// Of \p experiment, made from the file and overrides of \p request.
std::vector<Lever> levers_of(const ExplainRequest& request, const Experiment& experiment);

/// What moving a lever does.
struct LeverResult {
  std::string name;
  LeverKind kind = LeverKind::rate;
  double elasticity = 0.0;                         ///< d ln(time) / d ln(lever), between both factors
  double low = 1.0, high = 1.0;                    ///< the factors
  Seconds at_low, at_high;                         ///< times there
  std::optional<Seconds> improved = std::nullopt;  ///< time with kImprovement
  std::optional<double> p5 = std::nullopt, p95 = std::nullopt;  ///< of the elasticity, over draws

  /// How much of \p time the better of the simulated values saves, as a share.
  double gain(Seconds time) const;
};

/// How exposed communication of one kind divides: time of the run as it is, on an average GPU, in which no
/// kernel runs.
struct CommunicationSplit {
  std::string name;  ///< "data parallel", or that of a stream
  Seconds exposed;
  Seconds waiting;  ///< of that, for members that have not come
  /// The rest; absent where its bytes are not known, or where the run would take as long without it.
  std::optional<Seconds> latency = std::nullopt, bandwidth = std::nullopt;
};

struct Explanation {
  std::string experiment, system, strategy;
  int seeds = 1;
  Waterfall waterfall;
  std::optional<InterferenceSplit> interference;  ///< absent where nothing is shared
  std::vector<CommunicationSplit> communication;
  CriticalPath path;
  std::string path_of;              ///< which part of a step the path is of; empty: all
  std::vector<LeverResult> levers;  ///< that move the time most first
  StepSchedule schedule;            ///< empty without a page

  /// What binds, what to change first, and what that would give.
  std::string words() const;
};

/// \throws UsageError for a strategy that the file does not have, ConfigError, InfeasibleError,
/// InterruptedError
Explanation explain(const ExplainRequest& request, const ExperimentFile& file);

std::string explain_text(const Explanation& explanation);
std::string explain_json(const Explanation& explanation);
std::string explain_page(const Explanation& explanation);

}  // namespace c3::app
