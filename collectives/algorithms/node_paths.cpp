#include "collectives/algorithms/node_paths.hpp"

#include <algorithm>
#include <set>
#include <stdexcept>

#include "interconnect/fabric.hpp"
#include "interconnect/interconnect.hpp"

namespace c3 { inline namespace collectives {
namespace {

using Path = std::vector<int>;
using Paths = std::vector<Path>;

/// Path k visits k, k+1, k-1, k+2, k-2, .. k+n/2: the differences of neighbours are all of 1 .. n-1.
Paths zigzags(const std::vector<int>& members) {
  const auto n = static_cast<int>(members.size());
  Paths paths;
  for (int start = 0; start < n; ++start) {
    Path& path = paths.emplace_back();
    for (int i = 0; i < n; ++i) {
      const int offset = i % 2 == 1 ? (i + 1) / 2 : -(i / 2);
      path.push_back(members[static_cast<std::size_t>((start + offset + n) % n)]);
    }
  }
  return paths;
}

/// The first members that use each NIC.
std::vector<int> owners(const NodeSpec& node, const std::vector<int>& members, int nics) {
  std::set<int> seen;
  std::vector<int> owners;
  for (const int gpu : members) {
    if (seen.insert(nics_of(gpu, node.gpus, nics).first).second) owners.push_back(gpu);
  }
  return owners;
}

Paths turned(const NodeSpec& node, const std::vector<int>& members, int nics) {
  Paths paths;
  for (const int gpu : owners(node, members, nics)) {
    Path& path = paths.emplace_back(members);
    std::ranges::rotate(path, std::ranges::find(path, gpu));
  }
  return paths;
}

/// Cuts rings open where a path has not started or ended so often yet. Rings are used again, cut elsewhere,
/// until there are \p wanted paths.
class RingCutter {
 public:
  RingCutter(const NodeSpec& node, int nics) : node_(node), nics_(nics) {}

  Paths cut(const Paths& rings, std::size_t wanted) {
    Paths paths;
    for (std::size_t k = 0; k < std::max(wanted, rings.size()); ++k) {
      Path path = rings[k % rings.size()];
      std::ranges::rotate(path, path.begin() + best_start(path));
      used_.insert(nic_of(path.front()));
      used_.insert(nic_of(path.back()));
      paths.push_back(std::move(path));
    }
    return paths;
  }

 private:
  int nic_of(int gpu) const { return nics_of(gpu, node_.gpus, nics_).first; }

  std::ptrdiff_t best_start(const Path& ring) const {
    const auto n = static_cast<std::ptrdiff_t>(ring.size());
    const auto cost = [&](std::ptrdiff_t start) {
      const int first = nic_of(ring[static_cast<std::size_t>(start)]);
      const int last = nic_of(ring[static_cast<std::size_t>((start + n - 1) % n)]);
      return std::pair(used_.count(first) + used_.count(last), first == last ? 0 : 1);
    };
    std::ptrdiff_t best = 0;
    for (std::ptrdiff_t start = 1; start < n; ++start) {
      if (cost(start) < cost(best)) best = start;
    }
    return best;
  }

  const NodeSpec& node_;
  int nics_;
  std::multiset<int> used_;  ///< NICs of starts and ends
};

}  // namespace

std::vector<std::vector<int>> node_paths(const NodeSpec& node, const std::vector<int>& members, int nics) {
  if (members.size() == 1) return {members};
  switch (node.topology) {
    case NodeTopology::full_mesh:
      if (members.size() % 2 == 0) return zigzags(members);
      return RingCutter(node, nics).cut(disjoint_rings(node, members), members.size() - 1);
    case NodeTopology::switched:
      return turned(node, members, nics);
    case NodeTopology::wired:
      return RingCutter(node, nics).cut(disjoint_rings(node, members), owners(node, members, nics).size());
  }
  throw std::logic_error("node_paths: unknown topology");
}

}}  // namespace c3::collectives
