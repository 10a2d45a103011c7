#pragma once
/// The best of the candidates of an experiment file, and how it was found.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/sweep/sweep_plan.hpp"
#include "app/tune/tune_candidates.hpp"
#include "configs/sweeps/tune_reader.hpp"
#include "results/sweep/sweep_folder.hpp"
#include "workloads/training/launch_arguments.hpp"

namespace c3 { inline namespace app {

struct TuneRequest {
  SweepRequest sweep;     ///< without a folder: out/<experiment>_tune
  int jobs = 0;           ///< 0: as many as cores
  int whole_steps = 0;    ///< 0: as the file says
  std::size_t shown = 5;  ///< best candidates in a table
  bool exact = false;
  bool json = false;
  bool quiet = false;
  std::string page = {};  ///< HTML file to write; empty: none
};

/// A candidate that was simulated.
struct TunedCandidate {
  TuneCandidate what;
  std::string strategy;                   ///< its best by the objective
  Expense takes;                          ///< under that, in the run of median time over seeds and draws
  double cost = 0.0;                      ///< cost under the objective
  std::int64_t seeds = 1;                 ///< with which it was simulated
  std::vector<PointNumber> numbers = {};  ///< numbers of its run under that strategy
};

/// How many candidates went where. All of them add up to `candidates`.
struct TuneCounts {
  std::size_t candidates = 0;
  std::size_t refused = 0;      ///< break a rule
  std::size_t beyond_gpus = 0;  ///< need more GPUs than are allowed
  std::size_t out_of_memory = 0;
  std::size_t pruned = 0;  ///< cannot be better than the best, by their bounds
  std::size_t simulated = 0;
  std::size_t failed = 0;  ///< their simulation failed
  std::size_t open = 0;    ///< may be better than the best
  std::size_t rough = 0;   ///< some pruned and open ones: looked at by one stage of their pipeline only
};

/// One of the values that a key takes, and its candidates.
struct TunedValue {
  std::string key, text;
  std::vector<std::size_t> points = {};
  std::size_t possible = 0;         ///< break no rule, and need no more GPUs and memory than there are
  std::string why_impossible = {};  ///< why the first that is not possible is not
  double usd_per_gpu_hour = 0.0;    ///< price of those that are possible; 0: not known
};

struct Tuning {
  SweepPlan plan;
  TuneGoal goal;
  bool exact = false;
  TuneCounts counts = {};
  std::vector<TunedValue> values = {};       ///< values of all keys, in their order
  std::vector<TunedCandidate> ranking = {};  ///< the best first
  std::optional<double> worst_regret = std::nullopt, likely_regret = std::nullopt;  ///< see CandidateSearch
  /// Arguments that launch the best.
  std::optional<LaunchArguments> launch = std::nullopt;
  std::size_t broken_bounds = 0;  ///< see CandidateSearch
  std::optional<std::string> first_refused = std::nullopt, first_failed = std::nullopt;  ///< why
};

std::string tune_text(const Tuning& tuning, std::size_t shown);
std::string tune_json(const Tuning& tuning);
std::string tune_page(const Tuning& tuning);

}}  // namespace c3::app
