#include "configs/sweeps/tune_reader.hpp"

#include <limits>
#include <string_view>
#include <utility>
namespace c3 { inline namespace configs {
namespace {

constexpr const char* kTune = "tune";
constexpr const char* kSweep = "sweep";
constexpr std::int64_t kMostSeeds = 1000;

constexpr auto kTuneKeys = std::to_array<KeyText>({
    {"objective", "what to make best", std::string_view("time")},
    {"most_gpus", "of a candidate; default: any number"},
    {"seeds", "measure.seeds of whole steps"},
    {"whole_steps", "at most, without --exact", std::int64_t{16}},
    {"regret", "likely one at which to end", 0.005},
});

TuneGoal read_goal(Section& tune) {
  constexpr std::int64_t kMany = std::numeric_limits<std::int32_t>::max();
  TuneGoal goal;
  if (tune.has("objective")) {
    goal.objective = tune.choice<Objective>("objective");
    if (!tune.is_rehearsal()) goal.objective_at = tune.node("objective", {AnythingRule{}}).origin;
  }
  if (tune.has("most_gpus")) goal.most_gpus = tune.integer("most_gpus", 1, kMany);
  if (tune.has("seeds")) goal.seeds = tune.integer("seeds", 1, kMostSeeds);
  if (tune.has("whole_steps")) goal.whole_steps = tune.integer("whole_steps", 1, kMany);
  if (tune.has("regret")) goal.regret = tune.fraction("regret");
  return goal;
}

bool has_key(const Node* table, std::string_view key) {
  return table != nullptr && table->table() != nullptr && table->table()->find(key) != nullptr;
}

/// \pre \p document has at least one of both
TuneDescription read_tune(const Node& document) {
  const Node* tune = document.table()->find(kTune);
  const Node* sweep = document.table()->find(kSweep);
  TuneDescription description;
  const bool varies = has_key(tune, "product") || has_key(tune, "zip");
  if (varies || sweep == nullptr) {
    description.space =
        read_varied(*tune, kTune, [&](Section& section) { description.goal = read_goal(section); });
    description.table = kTune;
    return description;
  }
  if (tune != nullptr) {
    Section section(*tune, kTune);
    description.goal = read_goal(section);
    for (const char* key : {"set", "where"})
      if (section.has(key)) section.fail(key, "requires [tune.product] or [tune.zip]; [sweep] has its own");
    section.finish();
  }
  Node points = *sweep;
  if (points.table() != nullptr) points.table()->erase("seeds");
  description.space = read_varied(points, kSweep, [](Section&) {});
  description.table = kSweep;
  return description;
}

}  // namespace

SearchLimits limits_of(const TuneGoal& goal) {
  return {.budget = static_cast<std::size_t>(goal.whole_steps), .regret = goal.regret};
}

TuneDescription take_tune(Node& document) {
  if (document.table()->find(kTune) == nullptr && document.table()->find(kSweep) == nullptr) {
    throw ConfigError(document.origin, kTune,
                      R"(is missing: what may vary, as in [tune.product] "training.micro_batch" = [1, 2, 4])");
  }
  TuneDescription description = read_tune(document);
  document.table()->erase(kTune);
  document.table()->erase(kSweep);
  return description;
}

void drop_tune(Node& document) {
  if (document.table()->find(kTune) == nullptr) return;
  read_tune(document);
  document.table()->erase(kTune);
}

void declare_tune(Section& root) {
  const bool is_there = root.has(kTune);
  root.explain(kTune, "among what `c3sim tune` looks for the best experiment");
  if (!is_there) return;
  Section tune = root.table(kTune);
  read_goal(tune);
  tune.explain(kTuneKeys);
  declare_varied(tune);
  for (const char* key : {"product", "zip", "set", "where"})
    tune.explain(key, "as in [sweep]");
}

}}  // namespace c3::configs
