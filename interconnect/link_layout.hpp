#pragma once
/// Links before they are resources: what one node has, and which of them a transfer takes.

#include <string>
#include <utility>
#include <vector>

#include "engine/fluid_system.hpp"
#include "engine/units.hpp"
#include "interconnect/spec.hpp"

namespace c3 { inline namespace interconnect {

/// The links of one node, numbered from 0 in the order of adding. Every node of a network has the same, so a
/// route within a node is numbers, and the node's first resource.
class LinkLayout {
 public:
  struct Part {
    std::string name;
    int gpu;  ///< its GPU's number in the node; -1: the link is no GPU's own
    BytesPerSecond capacity;
    Counted counted;
    int peer = -1;  ///< the GPU at its other end; -1: none
  };

  ResourceId add(std::string name, int gpu, BytesPerSecond capacity, Counted counted = Counted::nothing,
                 int peer = -1) {
    parts_.push_back({std::move(name), gpu, capacity, counted, peer});
    return static_cast<ResourceId>(parts_.size() - 1);
  }
  const std::vector<Part>& parts() const { return parts_; }

 private:
  std::vector<Part> parts_;
};

/// A full-duplex link: each direction carries at most `one_way`, both together at most twice `both_ways`.
struct DuplexPart {
  ResourceId forward, backward, duplex;
};

/// \param share of the link that is simulated; \param out how what goes forward counts
DuplexPart add_duplex(LinkLayout& layout, const std::string& name, int gpu, const LinkSpec& link, double share,
                      Counted out);

/// Collects what a transfer takes.
class Route {
 public:
  /// \param first resource of the node or fabric whose links follow.
  Route(std::vector<Demand>& demands, ResourceId first) : demands_(demands), first_(first) {}

  void add(ResourceId part, Bytes wire_bytes) { add_demand(demands_, first_ + part, wire_bytes.value); }

 private:
  std::vector<Demand>& demands_;
  ResourceId first_;
};

inline void add_forward(Route& route, const DuplexPart& link, Bytes wire_bytes) {
  route.add(link.forward, wire_bytes);
  route.add(link.duplex, wire_bytes);
}

inline void add_backward(Route& route, const DuplexPart& link, Bytes wire_bytes) {
  route.add(link.backward, wire_bytes);
  route.add(link.duplex, wire_bytes);
}

}}  // namespace c3::interconnect
