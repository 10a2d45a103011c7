#pragma once
/// Counts the stores to tiles of a kernel's output, and tells when a tile has had all of them (T3).

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "engine/simulation.hpp"
#include "gpu/spec.hpp"

namespace c3 { inline namespace gpu {

/// The tracker of one GPU, beside its memory controllers. Tiles are numbered as they were programmed, and a
/// tile has the entry that the lowest bits of its number name: tile n can be counted when tile n - entries is
/// complete. Stores that come before wait, and with them the work groups or the copies that make them. Counting
/// itself takes no time. Source: T3, arXiv 2401.16677, section 4.2. Wrong when: a tile's wavefronts end so far
/// apart that its parts should be counted one by one.
class Tracker {
 public:
  Tracker(Simulation& simulation, const TriggerSpec& spec, int rank);

  using Region = std::size_t;
  /// Tiles 0 .. \p tiles - 1, each complete after \p updates (>= 1) stores.
  Region program(std::int64_t tiles, int updates);

  /// Awaitable: each of \p tiles can be counted when it resumes. \throws InfeasibleError when they are so many
  /// that one would wait for another of them.
  auto reserve(Region region, const std::vector<std::int64_t>& tiles) {
    check_fit(tiles);
    return Reservation(*this, region, tiles);
  }
  /// Counts a store to each of \p tiles, for which there are entries. \returns those that are complete.
  std::vector<std::int64_t> count(Region region, const std::vector<std::int64_t>& tiles);

 private:
  struct Programmed {
    std::size_t first;  ///< number of its tile 0
    int updates;
  };

  class Reservation {
   public:
    Reservation(Tracker& tracker, Region region, const std::vector<std::int64_t>& tiles)
        : tracker_(tracker), region_(region), tiles_(tiles) {}
    bool await_ready() const { return tracker_.has_room(region_, tiles_); }
    void await_suspend(Task::Handle task);
    void await_resume() const noexcept {}

   private:
    friend class Tracker;
    Tracker& tracker_;
    Region region_;
    const std::vector<std::int64_t>& tiles_;
    Task::Handle task_;
  };

  void check_fit(const std::vector<std::int64_t>& tiles) const;
  bool has_room(Region region, const std::vector<std::int64_t>& tiles) const;
  void serve_waiting();

  Simulation& simulation_;
  std::size_t entries_;
  std::string name_;
  ResourceId resource_ = 0;
  std::vector<Programmed> regions_;
  std::vector<std::int32_t> missing_;  ///< stores that a tile still waits for, by number
  std::deque<Reservation*> waiting_;   ///< in the order of asking
  std::int64_t counting_ = 0;          ///< tiles that have had some of their stores
};

}}  // namespace c3::gpu
