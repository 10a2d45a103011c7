#pragma once
/// How the time of one strategy divides, and what would change it.

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "app/explain/step_changes.hpp"
#include "app/parallel_tasks.hpp"
#include "configs/jobs/experiment_reader.hpp"
#include "workloads/explain/critical_path.hpp"
#include "workloads/explain/rank_schedule.hpp"
#include "workloads/explain/waterfall.hpp"

namespace c3 { inline namespace app {

struct ExplainRequest {
  std::string file;
  std::vector<std::string> sets;
  std::string strategy;  ///< empty: the first that is not serial
  int jobs = 0;          ///< 0: as many as cores
  int draws = 0;         ///< draws of assumed ranges in which levers are measured as well
  bool levers = true;
  bool json = false;
  bool quiet = false;
  std::string page;  ///< HTML file to write; empty: none
};

enum class LeverKind {
  rate,     ///< a rate of the machine: more is faster
  latency,  ///< a latency of the machine, the library or hosts: less is faster
};
constexpr auto enum_names(LeverKind) {
  return std::to_array<EnumName<LeverKind>>({{"rate", LeverKind::rate}, {"latency", LeverKind::latency}});
}

/// The experiment with a lever moved. \param draw of ranges; absent: nominal values
using MovedExperiment = std::function<Experiment(std::optional<std::uint64_t> draw)>;

/// Something of the hardware, the library or the hosts that could be otherwise.
struct Lever {
  std::string name;
  LeverKind kind = LeverKind::rate;
  MovedExperiment at_low, at_high;  ///< multiplied with 1 / kLeverStep and kLeverStep
  MovedExperiment improved;         ///< improved by kImprovement
};

inline constexpr double kLeverStep = 1.1;
inline constexpr double kImprovement = 1.5;  ///< factor whose gain is simulated

/// Makes the experiment of \p file, at nominal values or drawn; a long step is made as an outline. It has a
/// program even if it does not fit in memory: one can ask what it would take.
Experiment made(const ExperimentFile& file, std::optional<std::uint64_t> draw = std::nullopt);

/// The levers of \p experiment, which was made with the file and overrides of \p request.
std::vector<Lever> levers_of(const ExplainRequest& request, const Experiment& experiment);

/// What moving a lever does.
struct LeverResult {
  std::string name;
  LeverKind kind = LeverKind::rate;
  double elasticity = 0.0;  ///< d ln(time) / d ln(lever), between both factors
  Seconds at_low, at_high;  ///< times there
  Seconds improved;         ///< time with kImprovement
  std::optional<double> p5 = std::nullopt, p95 = std::nullopt;  ///< percentiles of the elasticity, over draws

  /// What 1 % of it saves, in %: more of a rate, less of a latency.
  double saving() const { return kind == LeverKind::rate ? -elasticity : elasticity; }
};

/// Keys that a user can set otherwise on the same hardware, and the part of the waterfall that they are for.
struct Choice {
  KeyChange key;
  std::string part;
};

/// Choices for the largest parts of \p fall that have any.
std::vector<Choice> choices_of(const Experiment& experiment, const Waterfall& fall);

/// What a choice does.
struct ChoiceResult {
  Choice choice;
  std::string problem = {};  ///< why it cannot run; then it has no time
  Seconds time = {};

  /// The saving as a share of \p run; a choice that cannot run is behind all others.
  double saving(Seconds run) const {
    return problem.empty() ? 1.0 - time / run : -std::numeric_limits<double>::infinity();
  }
};

/// How exposed communication of one kind divides: time of the run as it is, on an average GPU, in which no
/// kernel runs.
struct CommunicationSplit {
  std::string name;  ///< "data parallel", or that of a stream
  Seconds exposed;
  Seconds waiting;  ///< part of it that waits for members that have not come
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
  std::string path_of;                ///< which part of a step the path is of; empty: all
  std::vector<LeverResult> levers;    ///< the largest LeverResult::saving() first
  std::vector<ChoiceResult> choices;  ///< the largest ChoiceResult::saving() first
  StepSchedule schedule;              ///< empty without a page

  /// What binds, what to change first, and what that would give.
  std::string words() const;
};

/// Hears the explanation without its levers and choices, which take longest.
using WaterfallKnown = std::function<void(const Explanation&)>;

/// \throws UsageError for a strategy that the file does not have, ConfigError, InfeasibleError,
/// InterruptedError
Explanation explain(const ExplainRequest& request, const ExperimentFile& file,
                    const WaterfallKnown& waterfall_known);

/// Waterfall, communication and critical path.
std::string waterfall_text(const Explanation& explanation);
/// Levers, choices, and what follows from all.
std::string levers_text(const Explanation& explanation);
std::string explain_json(const Explanation& explanation);
std::string explain_page(const Explanation& explanation);

}}  // namespace c3::app
