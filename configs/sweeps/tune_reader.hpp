#pragma once
/// What [tune] of an experiment file says: what may vary, and what is wanted.

#include <cstdint>
#include <optional>
#include <string>

#include "configs/sweeps/sweep_reader.hpp"
#include "workloads/tune/candidate_search.hpp"
#include "workloads/tune/objective.hpp"

namespace c3 { inline namespace configs {

/// What is to be best, and within which limits.
struct TuneGoal {
  Objective objective = Objective::time;
  std::optional<std::int64_t> most_gpus = std::nullopt;  ///< GPUs that a candidate may have
  std::optional<std::int64_t> seeds = std::nullopt;      ///< seeds for each whole step; absent: the file's
  std::int64_t whole_steps = 16;                         ///< most to simulate, unless the search is exact
  double regret = 0.005;                                 ///< likely, at which it ends
  Origin objective_at = {};                              ///< place of the objective, where the file names one
};

/// When a search that is not exact ends.
SearchLimits limits_of(const TuneGoal& goal);

struct TuneDescription {
  TuneGoal goal = {};
  SweepDescription space = {};
  std::string table = {};  ///< table that says what varies: "tune" or "sweep"
};

/// Takes `tune` and `sweep` out of \p document. Without keys that vary in the first, or without it, the second
/// says what varies; its seeds do not count. \throws ConfigError, also where the document has neither
TuneDescription take_tune(Node& document);

/// Takes `tune` out of \p document, if it is there, checked. \throws ConfigError
void drop_tune(Node& document);

/// Says to a rehearsal what `tune` of \p root may hold.
void declare_tune(Section& root);

}}  // namespace c3::configs
