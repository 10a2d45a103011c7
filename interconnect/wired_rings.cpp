#include "interconnect/wired_rings.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>

#include "interconnect/wiring.hpp"

namespace c3 { inline namespace interconnect {
namespace {

using Cycle = std::vector<std::size_t>;

/// Depth-first search for Hamiltonian cycles of an undirected multigraph that share no edge. A cycle takes two
/// edges of every vertex, so half the smallest degree bounds their number; as many are sought, then one less
/// and so on. From each vertex the neighbour with most edges left comes first, so that wide bundles serve many
/// cycles. The search is cut off.
class CycleSearch {
 public:
  /// \param edges by pair of vertices, symmetric.
  explicit CycleSearch(std::vector<std::vector<int>> edges) : edges_(std::move(edges)) {}

  std::vector<Cycle> run() {
    int wanted = std::numeric_limits<int>::max();
    for (std::size_t vertex = 0; vertex < edges_.size(); ++vertex)
      wanted = std::min(wanted, degree(vertex) / 2);
    for (; wanted > 0; --wanted) {
      missing_ = wanted;
      steps_ = 0;
      if (start()) return std::move(cycles_);
    }
    return {};
  }

 private:
  static constexpr std::int64_t kMaxSteps = 200'000;  // for each number of cycles

  bool start() {
    if (missing_ == 0) return true;
    if (!has_wide_cuts()) return false;
    std::vector<bool> visited(edges_.size());
    visited[0] = true;
    Cycle path = {0};
    return extend(path, visited);
  }

  bool extend(Cycle& path, std::vector<bool>& visited) {
    if (++steps_ > kMaxSteps) return false;
    const std::size_t here = path.back();
    if (path.size() == edges_.size()) return close(path);
    for (const std::size_t next : wide_first(here, visited)) {
      take(here, next);
      path.push_back(next);
      visited[next] = true;
      const bool done = extend(path, visited);
      if (done) return true;
      visited[next] = false;
      path.pop_back();
      give_back(here, next);
    }
    return false;
  }

  bool close(const Cycle& path) {
    if (edges_[path.back()][0] == 0) return false;
    take(path.back(), 0);
    cycles_.push_back(path);
    --missing_;
    const bool done = start();
    if (done) return true;
    ++missing_;
    cycles_.pop_back();
    give_back(path.back(), 0);
    return false;
  }

  /// A cycle leaves each vertex, and each pair of them when there are more, by at least two edges.
  bool has_wide_cuts() const {
    for (std::size_t a = 0; a < edges_.size(); ++a) {
      if (degree(a) < 2 * missing_) return false;
      for (std::size_t b = 0; b < a && edges_.size() > 3; ++b) {
        if (degree(a) + degree(b) - 2 * edges_[a][b] < 2 * missing_) return false;
      }
    }
    return true;
  }

  int degree(std::size_t vertex) const {
    int sum = 0;
    for (const int count : edges_[vertex])
      sum += count;
    return sum;
  }

  std::vector<std::size_t> wide_first(std::size_t from, const std::vector<bool>& visited) const {
    std::vector<std::size_t> next;
    for (std::size_t to = 0; to < edges_.size(); ++to) {
      if (!visited[to] && edges_[from][to] > 0) next.push_back(to);
    }
    std::ranges::stable_sort(next, std::ranges::greater{}, [&](std::size_t to) { return edges_[from][to]; });
    return next;
  }

  void take(std::size_t a, std::size_t b) {
    --edges_[a][b];
    --edges_[b][a];
  }
  void give_back(std::size_t a, std::size_t b) {
    ++edges_[a][b];
    ++edges_[b][a];
  }

  std::vector<std::vector<int>> edges_;  ///< left over
  std::vector<Cycle> cycles_;
  int missing_ = 0;
  std::int64_t steps_ = 0;
};

/// Orders \p members: each is followed by the nearest that is left, by hops, then by width. Neighbours on a
/// socket thus come one after another, and a tree's trunk is crossed once each way.
std::vector<int> nearest_first(const Wiring& wiring, std::span<const int> members) {
  std::vector<int> ring = {members.front()};
  std::vector<int> left(members.begin() + 1, members.end());
  while (!left.empty()) {
    const int from = ring.back();
    const auto nearest = std::ranges::min_element(left, {}, [&](int to) {
      return std::pair(wiring.route(from, to).size(), -wiring.width(from, to).value);
    });
    ring.push_back(*nearest);
    left.erase(nearest);
  }
  return ring;
}

}  // namespace

std::vector<std::vector<int>> wired_rings(const NodeSpec& node, std::span<const int> members) {
  std::vector<std::vector<int>> rings;
  if (members.size() == 2) {  // both directions of their links are one ring
    const int links = std::max(1, links_between(node, members[0], members[1]));
    rings.assign(static_cast<std::size_t>(links), {members.begin(), members.end()});
    return rings;
  }
  std::vector<std::vector<int>> edges(members.size(), std::vector<int>(members.size()));
  for (std::size_t a = 0; a < members.size(); ++a) {
    for (std::size_t b = 0; b < members.size(); ++b)
      edges[a][b] = a == b ? 0 : links_between(node, members[a], members[b]);
  }
  for (const Cycle& cycle : CycleSearch(std::move(edges)).run()) {
    std::vector<int> ring;
    for (const std::size_t at : cycle)
      ring.push_back(members[at]);
    rings.push_back(ring);
    std::reverse(ring.begin() + 1, ring.end());
    rings.push_back(std::move(ring));
  }
  if (rings.empty()) rings.push_back(nearest_first(Wiring(node), members));
  return rings;
}

}}  // namespace c3::interconnect
