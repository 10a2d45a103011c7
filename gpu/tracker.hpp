#pragma once
/// Counts the stores to tiles of a kernel's output, and tells when a tile has had all of them (T3).

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "engine/simulation.hpp"
#include "gpu/spec.hpp"

namespace c3 {

/// The tracker of one GPU, beside its memory controllers. A tile takes an entry for each of its wavefronts from
/// the first store that is counted until the last one. Without one, stores wait, and with them the work groups
/// or the copies that make them. Counting itself takes no time. Source: T3, arXiv 2401.16677, section 4.2.
/// Wrong when: entries are indexed by few bits of a tile's number, so that two tiles want the same one while
/// others are free.
class Tracker {
 public:
  Tracker(Simulation& simulation, const TriggerSpec& spec, int rank);

  using Region = std::size_t;
  /// Tiles 0 .. \p tiles - 1, each complete after \p updates (>= 1) stores, of which it takes
  /// \p entries_per_tile. \throws InfeasibleError when there are fewer entries than one tile needs.
  Region program(std::int64_t tiles, int updates, int entries_per_tile);

  /// Awaitable: each of \p tiles has its entries when it resumes; who waits longest is served first, of those
  /// for whom there is room. Tiles that are stored together need their entries together: \throws
  /// InfeasibleError when there will never be so many.
  auto reserve(Region region, const std::vector<std::int64_t>& tiles) {
    return Reservation(*this, region, tiles);
  }
  /// Counts a store to each of \p tiles, which have entries. \returns those that are complete; their entries
  /// are free again.
  std::vector<std::int64_t> count(Region region, const std::vector<std::int64_t>& tiles);

  int used() const { return used_; }
  int most_used() const { return most_used_; }

 private:
  struct Programmed {
    int updates;
    int entries_per_tile;
    std::vector<std::int32_t> seen;  ///< stores so far, by tile; kNoEntry before the first has an entry
  };
  static constexpr std::int32_t kNoEntry = -1;

  class Reservation {
   public:
    Reservation(Tracker& tracker, Region region, const std::vector<std::int64_t>& tiles)
        : tracker_(tracker), region_(region), tiles_(tiles) {}
    bool await_ready() { return tracker_.take(region_, tiles_); }
    void await_suspend(Task::Handle task);
    void await_resume() const noexcept {}

   private:
    friend class Tracker;
    Tracker& tracker_;
    Region region_;
    const std::vector<std::int64_t>& tiles_;
    Task::Handle task_;
  };

  bool take(Region region, const std::vector<std::int64_t>& tiles);
  void serve_waiting();
  int missing(const Programmed& region, const std::vector<std::int64_t>& tiles) const;

  Simulation& simulation_;
  int entries_;
  std::string name_;
  ResourceId resource_;
  std::vector<Programmed> regions_;
  std::deque<Reservation*> waiting_;
  int used_ = 0;
  int most_used_ = 0;
};

}  // namespace c3
