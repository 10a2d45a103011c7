#include "app/tune_candidates.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "app/parallel_tasks.hpp"
#include "app/sweep/table_placement.hpp"
#include "base/json.hpp"
#include "configs/config_error.hpp"
#include "engine/errors.hpp"

namespace c3::inline app {
namespace {

constexpr std::size_t kMostTasks = 256;  ///< each has a file in memory

/// Of point \p point, which may break a rule.
TuneCandidate look_at(const Sweep& space, std::size_t point) {
  TuneCandidate its{.point = point};
  try {
    const auto [file, outline] = space.with_outline(space.points()[point]);
    its.read.id = point_id(file.resolved_toml());
    const PlacedFile placed = with_placed_tables(file);
    const auto make = [&](std::optional<std::uint64_t> draw) { return placed.file.make(draw); };
    const bool is_written = placed.note.empty();
    its.facts = is_written ? candidate_facts(outline, make) : candidate_facts(make(std::nullopt), make);
  } catch (const ConfigError& error) {
    its.refused = its.read.refused = error.what();
  } catch (const InfeasibleError& error) {
    its.refused = error.what();
  }
  return its;
}

/// Before processes are made, which then have what they share.
void read_presets(const Sweep& space) {
  try {
    space.experiment(space.points().front());
  } catch (const ConfigError&) {  // whoever looks at it says so
  }
}

std::string text_of(const std::vector<TuneCandidate>& candidates) {
  Json rows = Json::array();
  for (const TuneCandidate& its : candidates)
    rows.push_back({{"point", its.point},
                    {"id", its.read.id},
                    {"wrong", its.read.refused},
                    {"refused", its.refused},
                    {"tokens", its.facts.size.tokens},
                    {"gpus", its.facts.size.gpus},
                    {"needed", its.facts.needed.value},
                    {"fits", its.facts.fits},
                    {"bound", its.facts.bound.value},
                    {"estimate", its.facts.estimate.value}});
  return rows.dump();
}

std::vector<TuneCandidate> candidates_in(const std::string& text) {
  std::vector<TuneCandidate> candidates;
  const Json rows = Json::parse(text);
  for (const Json& row : rows.elements())
    candidates.push_back(
        {.point = static_cast<std::size_t>(row["point"].integer()),
         .read = {.id = row["id"].text(), .refused = row["wrong"].text()},
         .refused = row["refused"].text(),
         .facts = {.size = {.tokens = row["tokens"].integer(), .gpus = static_cast<int>(row["gpus"].integer())},
                   .needed = Bytes{row["needed"].number()},
                   .fits = row["fits"] == Json(true),
                   .bound = Seconds{row["bound"].number()},
                   .estimate = Seconds{row["estimate"].number()}}});
  return candidates;
}

}  // namespace

std::vector<TuneCandidate> tune_candidates(const Sweep& space, int workers,
                                           const std::function<void(std::size_t, std::size_t)>& progress) {
  const std::size_t points = space.points().size(), count = std::min(points, kMostTasks);
  std::vector<ParallelTask> tasks;
  for (std::size_t task = 0; task < count; ++task) {
    tasks.push_back({"the bounds of candidates", [&space, points, task, count] {
                       std::vector<TuneCandidate> its;
                       for (std::size_t point = task; point < points; point += count)
                         its.push_back(look_at(space, point));
                       return text_of(its);
                     }});
  }
  read_presets(space);
  std::vector<TuneCandidate> candidates;
  const auto report = [&](std::size_t done) { progress(points * done / count, points); };
  for (const std::string& text : run_in_parallel(tasks, workers, report)) {
    std::vector<TuneCandidate> some = candidates_in(text);
    candidates.insert(candidates.end(), some.begin(), some.end());
  }
  std::ranges::sort(candidates, {}, &TuneCandidate::point);
  return candidates;
}

}  // namespace c3::app
