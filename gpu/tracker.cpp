#include "gpu/tracker.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "engine/errors.hpp"

namespace c3 {

Tracker::Tracker(Simulation& simulation, const TriggerSpec& spec, int rank)
    : simulation_(simulation),
      entries_(spec.tracker_entries),
      name_(fmt::format("one of the {} entries of the tracker of gpu{}", entries_, rank)) {
  if (entries_ == 0) return;
  const std::string resource = fmt::format("gpu{}.tracker", rank);
  resource_ = simulation.fluid().add_resource({.name = resource, .unit = "entries", .gpu = rank}, entries_);
}

Tracker::Region Tracker::program(std::int64_t tiles, int updates, int entries_per_tile) {
  if (entries_per_tile > entries_) {
    throw InfeasibleError(
        fmt::format("the tracker is too small: it has {} entries, and a tile takes {}, one for each wavefront "
                    "(gpu.tracker_entries)",
                    entries_, entries_per_tile));
  }
  regions_.push_back(
      {updates, entries_per_tile, std::vector<std::int32_t>(static_cast<std::size_t>(tiles), kNoEntry)});
  return regions_.size() - 1;
}

int Tracker::missing(const Programmed& region, const std::vector<std::int64_t>& tiles) const {
  const auto has_none = [&](std::int64_t tile) {
    return region.seen[static_cast<std::size_t>(tile)] == kNoEntry;
  };
  return static_cast<int>(std::ranges::count_if(tiles, has_none)) * region.entries_per_tile;
}

bool Tracker::take(Region index, const std::vector<std::int64_t>& tiles) {
  Programmed& region = regions_[index];
  const int wanted = missing(region, tiles);
  if (wanted > entries_) {
    throw InfeasibleError(
        fmt::format("the tracker is too small: {} tiles are stored at once and need {} entries, one for each "
                    "wavefront, and it has {} (gpu.tracker_entries)",
                    tiles.size(), wanted, entries_));
  }
  if (used_ + wanted > entries_) return false;
  for (const std::int64_t tile : tiles) {
    std::int32_t& seen = region.seen[static_cast<std::size_t>(tile)];
    seen = std::max(seen, 0);
  }
  if (wanted == 0) return true;
  used_ += wanted;
  most_used_ = std::max(most_used_, used_);
  simulation_.fluid().report_use(resource_, used_);
  return true;
}

std::vector<std::int64_t> Tracker::count(Region index, const std::vector<std::int64_t>& tiles) {
  Programmed& region = regions_[index];
  std::vector<std::int64_t> complete;
  for (const std::int64_t tile : tiles) {
    if (++region.seen[static_cast<std::size_t>(tile)] == region.updates) complete.push_back(tile);
  }
  if (complete.empty()) return complete;
  used_ -= static_cast<int>(complete.size()) * region.entries_per_tile;
  simulation_.fluid().report_use(resource_, used_);
  serve_waiting();
  return complete;
}

void Tracker::serve_waiting() {
  std::erase_if(waiting_, [this](Reservation* waiting) {
    if (!take(waiting->region_, waiting->tiles_)) return false;
    simulation_.make_ready(waiting->task_);
    return true;
  });
}

void Tracker::Reservation::await_suspend(Task::Handle task) {
  task_ = task;
  task.promise().waits_for = tracker_.name_;
  tracker_.waiting_.push_back(this);
}

}  // namespace c3
