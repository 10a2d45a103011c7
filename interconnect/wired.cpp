#include <fmt/format.h>

#include <stdexcept>

#include "interconnect/link_set.hpp"
#include "interconnect/wiring.hpp"

namespace c3::inline interconnect {
namespace {

/// Every bundle of links is a link of a mesh, `count` times as wide. A transfer takes every bundle of its route
/// at once; on the way it takes nothing of the GPUs and hubs that it passes.
class Wired final : public LinkSet {
 public:
  Wired(LinkLayout& layout, const NodeSpec& spec) : wiring_(spec) {
    const auto name = [&](int vertex) {
      return vertex < spec.gpus ? fmt::format("{}", vertex) : vertex_name(spec, vertex);
    };
    const auto add = [&](int from, int to, const char* part, BytesPerSecond capacity) {
      const char* dot = from < spec.gpus ? "" : ".";
      const int gpu = from < spec.gpus ? from : (to < spec.gpus ? to : -1);
      const bool leaves = from < spec.gpus && *part == '\0';
      return layout.add(fmt::format("link{}{}-{}{}", dot, name(from), name(to), part), gpu, capacity,
                        leaves ? Counted::link : Counted::nothing,
                        from < spec.gpus && to < spec.gpus ? to : -1);
    };
    for (const Wire& wire : spec.wires) {
      const LinkSpec& link = link_of(spec, wire);
      const auto count = static_cast<double>(wire.count);
      wires_.push_back({.forward = add(wire.a, wire.b, "", link.one_way * count),
                        .backward = add(wire.b, wire.a, "", link.one_way * count),
                        .duplex = add(wire.a, wire.b, ".duplex", link.both_ways * (2.0 * count))});
    }
  }

  void add_route(Route& route, int src, int dst, Bytes wire_bytes, int /*from*/) const override {
    add_path(route, src, dst, wire_bytes);
  }

  Seconds latency(int src, int dst) const override { return wiring_.latency(src, dst); }

  void add_to_nic(Route& route, int gpu, int vertex, Bytes wire_bytes) const override {
    add_path(route, gpu, vertex, wire_bytes);
  }
  void add_from_nic(Route& route, int gpu, int vertex, Bytes wire_bytes) const override {
    add_path(route, vertex, gpu, wire_bytes);
  }
  Seconds nic_latency(int gpu, int vertex) const override {
    return gpu == vertex ? Seconds{} : wiring_.latency(gpu, vertex);
  }

 private:
  void add_path(Route& route, int src, int dst, Bytes wire_bytes) const {
    if (src == dst) return;
    const std::vector<Hop>& hops = wiring_.route(src, dst);
    if (hops.empty()) throw std::logic_error("Wired: no path between two vertices");
    for (const Hop& hop : hops) {
      const DuplexPart& wire = wires_[static_cast<std::size_t>(hop.wire)];
      route.add(hop.backward ? wire.backward : wire.forward, wire_bytes);
      route.add(wire.duplex, wire_bytes);
    }
  }

  Wiring wiring_;
  std::vector<DuplexPart> wires_;  ///< by NodeSpec::wires
};

}  // namespace

std::unique_ptr<LinkSet> make_wired(LinkLayout& layout, const NodeSpec& spec) {
  return std::make_unique<Wired>(layout, spec);
}

}  // namespace c3::interconnect
