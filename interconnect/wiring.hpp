#pragma once
/// The graph of a wired node: what is joined to what, and the path that traffic takes.

#include <cstddef>
#include <string>
#include <vector>

#include "interconnect/spec.hpp"

namespace c3 { inline namespace interconnect {

/// One wire of a path.
struct Hop {
  int wire = 0;           ///< index into NodeSpec::wires
  bool backward = false;  ///< the bytes go against the wire, `b` to `a`
};

/// Routes have the fewest hops; of those the widest narrowest bundle (links x one_way); of those the fewest
/// GPUs passed through; of those the lowest vertices. All are found at construction. \p node must outlive it.
class Wiring {
 public:
  explicit Wiring(const NodeSpec& node);

  /// Between two different vertices, of which one is a GPU; empty when no path joins them.
  const std::vector<Hop>& route(int src, int dst) const { return routes_[pair(src, dst)]; }
  std::vector<int> vertices(int src, int dst) const;  ///< vertices along that route, both ends included
  Seconds latency(int src, int dst) const;            ///< all hops together
  BytesPerSecond width(int src, int dst) const;       ///< one way, of the narrowest bundle; needs a route

 private:
  void find_routes_to(int dst);
  std::vector<Hop> walk(int src, int dst, const std::vector<int>& distance, BytesPerSecond width) const;
  BytesPerSecond width_of(int wire) const;
  int wire_between(int a, int b) const;  ///< the widest; -1 when there is none
  std::size_t pair(int a, int b) const {
    return static_cast<std::size_t>(a) * static_cast<std::size_t>(vertices_) + static_cast<std::size_t>(b);
  }

  const NodeSpec& node_;
  int vertices_;                          ///< GPUs, then hubs
  std::vector<int> widest_;               ///< wire by pair of vertices, -1 without one
  std::vector<std::vector<Hop>> routes_;  ///< indexed by pair of vertices
};

/// "gpu3", or the name of a hub.
std::string vertex_name(const NodeSpec& node, int vertex);

const LinkSpec& link_of(const NodeSpec& node, const Wire& wire);

/// Parallel links that join two vertices directly.
int links_between(const NodeSpec& node, int a, int b);

}}  // namespace c3::interconnect
