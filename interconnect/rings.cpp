#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>

#include "interconnect/interconnect.hpp"
#include "interconnect/wired_rings.hpp"

namespace c3 { inline namespace interconnect {
namespace {

/// Depth-first search for arc-disjoint Hamiltonian cycles of a complete directed graph. They fill the graph for
/// every size but 4 and 6 (Tillson, J. Combinatorial Theory B 29, 1980), where the links between opposite GPUs
/// are left out: every other link then carries the same both ways, as it does in a full set. The search is cut
/// off, and keeps the best it saw.
class RingSearch {
 public:
  explicit RingSearch(int gpus)
      : gpus_(gpus), wanted_(gpus - 1), used_(static_cast<std::size_t>(gpus * gpus), false) {
    if (gpus != 4 && gpus != 6) return;
    --wanted_;
    for (int gpu = 0; gpu < gpus; ++gpu)
      *arc(gpu, (gpu + gpus / 2) % gpus) = true;
  }

  std::vector<std::vector<int>> run() {
    start_ring();
    return best_;
  }

 private:
  static constexpr std::int64_t kMaxSteps = 200'000;

  std::vector<bool>::iterator arc(int src, int dst) {
    return used_.begin() + std::ptrdiff_t{src} * gpus_ + dst;
  }

  bool start_ring() {
    int first = 1;
    while (*arc(0, first))
      ++first;
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
    const auto taken = arc(ring.back(), next);
    if (*taken) return false;
    *taken = true;
    ring.push_back(next);
    const bool done = extend(ring);
    *taken = false;
    return done;
  }

  bool close(const std::vector<int>& ring) {
    const auto taken = arc(ring.back(), 0);
    if (*taken) return false;
    *taken = true;
    rings_.push_back(ring);
    if (rings_.size() > best_.size()) best_ = rings_;
    const bool done = static_cast<int>(rings_.size()) == wanted_ || start_ring();
    rings_.pop_back();
    *taken = false;
    return done;
  }

  int gpus_;
  int wanted_;              ///< rings that there can be
  std::vector<bool> used_;  ///< arcs, by src * gpus + dst
  std::int64_t steps_ = 0;
  std::vector<std::vector<int>> rings_, best_;
};

}  // namespace

std::vector<std::vector<int>> disjoint_rings(const NodeSpec& spec, std::span<const int> members) {
  if (members.size() < 2) return {};
  switch (spec.topology) {
    case NodeTopology::full_mesh: {
      std::vector<std::vector<int>> rings = RingSearch(static_cast<int>(members.size())).run();
      for (std::vector<int>& ring : rings)
        std::ranges::transform(ring, ring.begin(),
                               [&](int at) { return members[static_cast<std::size_t>(at)]; });
      return rings;
    }
    case NodeTopology::switched:
      return {std::vector<int>(members.begin(), members.end())};
    case NodeTopology::wired:
      return wired_rings(spec, members);
  }
  throw std::logic_error("disjoint_rings: unknown topology");
}

}}  // namespace c3::interconnect
