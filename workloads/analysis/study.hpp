#pragma once
/// Runs every strategy of an experiment over its seeds and draws, and measures it against serial, ideal and
/// bound.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/observer.hpp"
#include "gpu/clock/power_state.hpp"
#include "gpu/clock/sustained_level.hpp"
#include "workloads/analysis/loss.hpp"
#include "workloads/analysis/run_clock.hpp"
#include "workloads/analysis/step_result.hpp"
#include "workloads/analysis/study_cost.hpp"
#include "workloads/execute/launch_observer.hpp"
#include "workloads/execute/run_result.hpp"
#include "workloads/execute/step_breakdown.hpp"
#include "workloads/experiment.hpp"

namespace c3 { inline namespace workloads {

class FlowCorrections;

/// Compute side or communication side of a strategy.
struct SideTimes {
  Seconds alone;     ///< isolated run under the strategy's own backends, channels and partition
  Seconds together;  ///< release to completion in this strategy
};

/// One stream of a strategy.
struct StreamTimes {
  std::string name;
  SideTimes times;
};

/// How fast a strategy goes through what its steps take.
struct Throughput {
  StepItems of_step;
  double per_second = 0;  ///< items of all GPUs
  int gpus = 1;

  double per_second_per_gpu() const { return per_second / gpus; }
  bool operator==(const Throughput&) const = default;
};

/// The 5th and 95th percentile of times, by nearest rank.
struct TimeSpread {
  Seconds p5, p95;
};

struct StrategyResult {
  std::string name;
  Seconds time;                      ///< median over seeds and draws, by nearest rank
  std::optional<TimeSpread> spread;  ///< over the same runs; absent for a single one
  Seconds lower_bound;
  std::optional<double> speedup;  ///< serial median / time; absent without a serial strategy and sides alone
  std::optional<double> ideal_speedup;  ///< (kernel + collective) / max, both alone by default, see streams.
                                        ///< Summed on boards that serial heats. Absent without Measure::alone
  std::optional<double>
      share_of_ideal;               ///< (S-1)/(S_ideal-1); absent when S_ideal is 1, or see sides_may_overlap
  std::optional<SideTimes> kernel;  ///< absent when the experiment has no compute kernel
  std::optional<RunClock> clock = std::nullopt;         ///< of the median's run; absent: power is not known
  std::optional<RunClock> kernel_clock = std::nullopt;  ///< the same of the kernels alone
  std::optional<SideTimes> collective;                  ///< absent when the experiment has no collective
  std::vector<StreamTimes> streams;  ///< where all streams have the same side: those are the ideal's parts
  std::optional<LossSplit> loss;     ///< absent for serial strategies and when not asked for
  std::optional<int> best_cus;       ///< the chosen value of a swept partition
  std::vector<int> cus;              ///< CUs reserved for each stream in these runs; 0 = none
  std::uint64_t recorded_seed = 0;   ///< the run whose time is the median; its timeline is recorded
  std::vector<PowerState> recorded_power = {};  ///< where the governors of its GPUs stood when it began
  std::shared_ptr<FlowCorrections> recorded_corrections = nullptr;  ///< RunSetup::corrections of that run
  std::optional<std::uint64_t> recorded_draw;                       ///< likewise; absent when nothing is drawn
  std::vector<std::string> notes = {};                              ///< what a user should know of how it ran
  std::optional<StepResult> step = std::nullopt;                    ///< of a training step
  std::optional<Throughput> throughput = std::nullopt;              ///< of a step of any model
  std::vector<SimulatedClass> classes = {};                         ///< of ranks, of the median's run
  std::uint64_t flows = 0;                                          ///< completed in that run
  std::optional<Estimate> estimate = std::nullopt;                  ///< of `time`, where it is one
};

/// Choices that move results and that hardware documents nowhere: printed with every result.
struct StudyConditions {
  std::string system;
  std::string gpu = {};  ///< slug of its preset
  HbmArbitration hbm_arbitration = HbmArbitration::outstanding;
  DispatchPolicy dispatch_policy = DispatchPolicy::oldest_first;
  /// From where the governors of all runs begin, sides alone, serial and overlapped: from idle in a burst, and
  /// sustained as when each is repeated again and again. Absent where the GPU's power is not known.
  std::optional<ClockState> clock_state = std::nullopt;
  std::optional<SustainedLevel> level = std::nullopt;  ///< of large products; absent without 16-bit ones
  int seeds = 0;
  int draws = 0;

  bool is_repeated() const { return seeds > 1 || draws > 1; }
};

/// \returns what \p experiment runs under.
StudyConditions conditions_of(const Experiment& experiment);

/// How a runtime chooses that knows each side alone (heuristics.hpp).
enum class HeuristicRule {
  work_groups,     ///< launches in ascending number of work groups
  isolated_times,  ///< divides CUs so that the longer side is shortest
};
constexpr auto enum_names(HeuristicRule) {
  return std::to_array<EnumName<HeuristicRule>>(
      {{"work_groups", HeuristicRule::work_groups}, {"isolated_times", HeuristicRule::isolated_times}});
}
struct HeuristicPick {
  HeuristicRule rule = HeuristicRule::work_groups;
  std::string strategy;
  int cus = 0;   ///< reserved by its partition; 0: none
  Seconds time;  ///< under that strategy and partition, median
};

struct StudyResult {
  std::string experiment;
  std::uint64_t seed = 0;
  StudyConditions conditions = {};
  std::vector<StrategyResult> strategies;
  std::vector<HeuristicPick> heuristics = {};  ///< empty where nobody asked for them, see heuristic_picks()
};

/// Makes the experiment for one draw of its ranges; nullopt = nominal values.
using ExperimentFactory = std::function<Experiment(std::optional<std::uint64_t> draw)>;

/// Who hears a run.
struct RunListeners {
  Observer* observer = nullptr;
  LaunchObserver* launches = nullptr;  ///< of hosts; may be nobody
};

/// Who writes down the run of each strategy's median.
class StudyRecorder {
 public:
  StudyRecorder() = default;
  StudyRecorder(const StudyRecorder&) = delete;
  StudyRecorder& operator=(const StudyRecorder&) = delete;
  virtual ~StudyRecorder() = default;

  /// The run of \p strategy that comes next is the one to write down. Runs of other strategies may come before
  /// its finish(). \param recorded what runs, which is a part of a training step where it is shortened
  /// \param shortened which part ("8 of 32 layers"); empty: all of it
  virtual RunListeners begin(const Strategy& strategy, const Experiment& recorded,
                             const std::string& shortened) = 0;
  /// Strategies are finished in their order. \p result is final.
  virtual void finish(const StrategyResult& result, const std::vector<CollectiveRecord>& collectives) = 0;
};

/// What the caller of run_study hears while it runs.
struct StudyWatch {
  /// Before each simulation and after it; may be empty.
  std::function<void(const StudyCost&)> progress = {};
  StudyRecorder* recorder = nullptr;  ///< of no run
};

/// Isolated runs come first, then one strategy after another, so that what is finished can be kept when a stop
/// is requested. One repetition of each kind of run precedes all others: from then on the cost is known. The
/// only run of a strategy is written down as it runs; of several, the one whose time is the median runs again.
/// \throws InfeasibleError for a scenario that cannot run, std::logic_error when a result beats its lower
/// bound, InterruptedError
StudyResult run_study(const ExperimentFactory& make, const StudyWatch& watch = {});

/// Runs the strategy of \p result once more, as the run whose time is there, under \p observer.
/// \param part recorded_part() of its experiment
std::vector<CollectiveRecord> record_run(const Experiment& part, const StrategyResult& result,
                                         Observer& observer, LaunchObserver* launches = nullptr);

/// What is recorded of \p experiment: all of it, or the part from which its time follows.
Experiment recorded_part(const Experiment& experiment, const StrategyResult& result);

}}  // namespace c3::workloads
