#include "interconnect/wiring.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace c3 { inline namespace interconnect {
namespace {

constexpr int kFar = -1;

}  // namespace

std::string vertex_name(const NodeSpec& node, int vertex) {
  if (vertex < node.gpus) return fmt::format("gpu{}", vertex);
  return node.hubs.at(static_cast<std::size_t>(vertex - node.gpus));
}

const LinkSpec& link_of(const NodeSpec& node, const Wire& wire) {
  return wire.link == 0 ? node.link : node.other_links.at(static_cast<std::size_t>(wire.link - 1));
}

int links_between(const NodeSpec& node, int a, int b) {
  int links = 0;
  for (const Wire& wire : node.wires) {
    if ((wire.a == a && wire.b == b) || (wire.a == b && wire.b == a)) links += wire.count;
  }
  return links;
}

Wiring::Wiring(const NodeSpec& node) : node_(node), vertices_(node.gpus + static_cast<int>(node.hubs.size())) {
  const auto pairs = static_cast<std::size_t>(vertices_) * static_cast<std::size_t>(vertices_);
  widest_.assign(pairs, -1);
  routes_.resize(pairs);
  for (int wire = 0; wire < static_cast<int>(node.wires.size()); ++wire) {
    const auto [a, b, count, link] = node.wires[static_cast<std::size_t>(wire)];
    const int known = wire_between(a, b);
    if (known < 0 || width_of(wire) > width_of(known)) widest_[pair(a, b)] = widest_[pair(b, a)] = wire;
  }
  for (int dst = 0; dst < vertices_; ++dst)
    find_routes_to(dst);
}

BytesPerSecond Wiring::width_of(int wire) const {
  const Wire& bundle = node_.wires[static_cast<std::size_t>(wire)];
  return link_of(node_, bundle).one_way * static_cast<double>(bundle.count);
}

int Wiring::wire_between(int a, int b) const { return widest_[pair(a, b)]; }

void Wiring::find_routes_to(int dst) {
  const auto at = [](int vertex) { return static_cast<std::size_t>(vertex); };
  std::vector<int> distance(at(vertices_), kFar);
  std::vector<BytesPerSecond> widest(at(vertices_));  // widest among the shortest paths to dst
  std::vector<int> near_first = {dst};
  distance[at(dst)] = 0;
  for (std::size_t next = 0; next < near_first.size(); ++next) {
    const int from = near_first[next];
    for (int to = 0; to < vertices_; ++to) {
      const int wire = wire_between(from, to);
      if (wire < 0) continue;
      if (distance[at(to)] == kFar) {
        distance[at(to)] = distance[at(from)] + 1;
        near_first.push_back(to);
      }
      if (distance[at(to)] != distance[at(from)] + 1) continue;
      const BytesPerSecond width = from == dst ? width_of(wire) : std::min(width_of(wire), widest[at(from)]);
      widest[at(to)] = std::max(widest[at(to)], width);
    }
  }
  const int sources = dst < node_.gpus ? vertices_ : node_.gpus;
  for (int src = 0; src < sources; ++src) {
    if (src != dst && distance[at(src)] != kFar)
      routes_[pair(src, dst)] = walk(src, dst, distance, widest[at(src)]);
  }
}

/// Follows bundles no narrower than \p width, each one hop nearer to \p dst.
std::vector<Hop> Wiring::walk(int src, int dst, const std::vector<int>& distance, BytesPerSecond width) const {
  const auto at = [](int vertex) { return static_cast<std::size_t>(vertex); };
  const auto leads_on = [&](int from, int to) {
    const int wire = wire_between(from, to);
    return wire >= 0 && distance[at(to)] == distance[at(from)] - 1 && width_of(wire) >= width;
  };
  // GPUs passed through from here to dst, this one included; kFar: no such path.
  std::vector<int> passed(at(vertices_), kFar);
  passed[at(dst)] = 0;
  for (int steps = 1; steps <= distance[at(src)]; ++steps) {
    for (int from = 0; from < vertices_; ++from) {
      if (distance[at(from)] != steps) continue;
      for (int to = 0; to < vertices_; ++to) {
        if (!leads_on(from, to) || passed[at(to)] == kFar) continue;
        const int gpus = passed[at(to)] + (from < node_.gpus ? 1 : 0);
        if (passed[at(from)] == kFar || gpus < passed[at(from)]) passed[at(from)] = gpus;
      }
    }
  }
  std::vector<Hop> hops;
  for (int here = src; here != dst;) {
    int best = -1;
    for (int to = 0; to < vertices_; ++to) {
      if (!leads_on(here, to) || passed[at(to)] == kFar) continue;
      if (best < 0 || passed[at(to)] < passed[at(best)]) best = to;
    }
    const int wire = wire_between(here, best);
    hops.push_back({wire, node_.wires[static_cast<std::size_t>(wire)].a != here});
    here = best;
  }
  return hops;
}

std::vector<int> Wiring::vertices(int src, int dst) const {
  std::vector<int> passed = {src};
  for (const Hop& hop : route(src, dst)) {
    const Wire& wire = node_.wires[static_cast<std::size_t>(hop.wire)];
    passed.push_back(hop.backward ? wire.a : wire.b);
  }
  return passed;
}

Seconds Wiring::latency(int src, int dst) const {
  Seconds sum;
  for (const Hop& hop : route(src, dst))
    sum += link_of(node_, node_.wires[static_cast<std::size_t>(hop.wire)]).latency;
  return sum;
}

BytesPerSecond Wiring::width(int src, int dst) const {
  const std::vector<Hop>& hops = route(src, dst);
  BytesPerSecond narrowest = width_of(hops.at(0).wire);
  for (const Hop& hop : hops)
    narrowest = std::min(narrowest, width_of(hop.wire));
  return narrowest;
}

}}  // namespace c3::interconnect
