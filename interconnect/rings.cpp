#include <algorithm>
#include <cstdint>

#include "interconnect/interconnect.hpp"

namespace c3 {
namespace {

/// Depth-first search for arc-disjoint Hamiltonian cycles of a complete directed graph. They fill the graph for every
/// size but 4 and 6 (Tillson, J. Combinatorial Theory B 29, 1980); the search is cut off, and keeps the best it saw.
class RingSearch {
 public:
  explicit RingSearch(int gpus) : gpus_(gpus), used_(static_cast<std::size_t>(gpus * gpus), false) {}

  std::vector<std::vector<int>> run() {
    start_ring();
    return best_;
  }

 private:
  static constexpr std::int64_t kMaxSteps = 200'000;

  bool start_ring() {
    const int first = static_cast<int>(rings_.size()) + 1;
    return try_arc({0}, first);
  }

  bool extend(std::vector<int>& ring) {
    if (++steps_ > kMaxSteps) return true;  // keep what was found
    if (static_cast<int>(ring.size()) == gpus_) return close(ring);
    for (int step = 1; step < gpus_; ++step) {
      const int next = (ring.back() + step) % gpus_;
      if (std::ranges::find(ring, next) == ring.end() && try_arc(ring, next)) return true;
    }
    return false;
  }

  bool try_arc(std::vector<int> ring, int next) {
    auto arc = used_.begin() + ring.back() * gpus_ + next;
    if (*arc) return false;
    *arc = true;
    ring.push_back(next);
    const bool done = extend(ring);
    *arc = false;
    return done;
  }

  bool close(const std::vector<int>& ring) {
    auto arc = used_.begin() + ring.back() * gpus_;
    if (*arc) return false;
    *arc = true;
    rings_.push_back(ring);
    if (rings_.size() > best_.size()) best_ = rings_;
    const bool done = static_cast<int>(rings_.size()) == gpus_ - 1 || start_ring();
    rings_.pop_back();
    *arc = false;
    return done;
  }

  int gpus_;
  std::vector<bool> used_;  ///< arcs, by src * gpus + dst
  std::int64_t steps_ = 0;
  std::vector<std::vector<int>> rings_, best_;
};

}  // namespace

std::vector<std::vector<int>> disjoint_rings(const NodeSpec& spec) {
  return spec.gpus < 2 ? std::vector<std::vector<int>>{} : RingSearch(spec.gpus).run();
}

}  // namespace c3
