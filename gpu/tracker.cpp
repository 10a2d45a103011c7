#include "gpu/tracker.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "engine/errors.hpp"

namespace c3 { inline namespace gpu {

Tracker::Tracker(Simulation& simulation, const TriggerSpec& spec, int rank)
    : simulation_(simulation),
      entries_(static_cast<std::size_t>(spec.tracker_entries)),
      name_(fmt::format("one of the {} entries of the tracker of gpu{}", entries_, rank)) {
  if (entries_ == 0) return;
  const std::string resource = fmt::format("gpu{}.tracker", rank);
  resource_ = simulation.fluid().add_resource({.name = resource, .unit = "entries", .gpu = rank},
                                              static_cast<double>(entries_));
}

Tracker::Region Tracker::program(std::int64_t tiles, int updates) {
  regions_.push_back({missing_.size(), updates});
  missing_.resize(missing_.size() + static_cast<std::size_t>(tiles), updates);
  return regions_.size() - 1;
}

void Tracker::check_fit(const std::vector<std::int64_t>& tiles) const {
  if (tiles.empty()) return;
  const auto [least, most] = std::ranges::minmax(tiles);
  const auto needed = static_cast<std::size_t>(most - least + 1);
  if (needed <= entries_) return;
  throw InfeasibleError(
      fmt::format("the tracker is too small: work groups that store at once need {} entries, and it has {} "
                  "(gpu.tracker_entries)",
                  needed, entries_));
}

bool Tracker::has_room(Region region, const std::vector<std::int64_t>& tiles) const {
  const std::size_t first = regions_[region].first;
  return std::ranges::all_of(tiles, [&](std::int64_t tile) {
    const std::size_t number = first + static_cast<std::size_t>(tile);
    return number < entries_ || missing_[number - entries_] == 0;
  });
}

std::vector<std::int64_t> Tracker::count(Region region, const std::vector<std::int64_t>& tiles) {
  const Programmed& of = regions_[region];
  std::vector<std::int64_t> complete;
  for (const std::int64_t tile : tiles) {
    std::int32_t& missing = missing_[of.first + static_cast<std::size_t>(tile)];
    if (missing == of.updates) ++counting_;
    if (--missing == 0) complete.push_back(tile);
  }
  counting_ -= static_cast<std::int64_t>(complete.size());
  simulation_.fluid().report_use(resource_, static_cast<double>(counting_));
  if (!complete.empty()) serve_waiting();
  return complete;
}

void Tracker::serve_waiting() {
  std::erase_if(waiting_, [this](Reservation* waiting) {
    if (!has_room(waiting->region_, waiting->tiles_)) return false;
    simulation_.make_ready(waiting->task_);
    return true;
  });
}

void Tracker::Reservation::await_suspend(Task::Handle task) {
  task_ = task;
  task.promise().waits_for = tracker_.name_;
  tracker_.waiting_.push_back(this);
}

}}  // namespace c3::gpu
