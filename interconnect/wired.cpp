#include <fmt/format.h>

#include <stdexcept>

#include "interconnect/link_set.hpp"
#include "interconnect/wiring.hpp"

namespace c3 {
namespace {

/// Every bundle of links is a link of a mesh, `count` times as wide. A transfer takes every bundle of its route
/// at once; on the way it takes nothing of the GPUs and hubs that it passes.
class Wired final : public LinkSet {
 public:
  Wired(FluidSystem& fluid, const NodeSpec& spec, const std::string& suffix) : wiring_(spec) {
    const auto name = [&](int vertex) {
      return vertex < spec.gpus ? fmt::format("{}", vertex) : vertex_name(spec, vertex);
    };
    const auto add = [&](int from, int to, const char* part, BytesPerSecond capacity) {
      const char* dot = from < spec.gpus ? "" : ".";
      const int gpu = from < spec.gpus ? from : (to < spec.gpus ? to : -1);
      return fluid.add_resource(
          {.name = fmt::format("link{}{}-{}{}{}", dot, name(from), name(to), part, suffix),
           .unit = "B/s",
           .gpu = gpu},
          capacity.value);
    };
    for (const Wire& wire : spec.wires) {
      const LinkSpec& link = link_of(spec, wire);
      const auto count = static_cast<double>(wire.count);
      wires_.push_back({.forward = add(wire.a, wire.b, "", link.one_way * count),
                        .backward = add(wire.b, wire.a, "", link.one_way * count),
                        .duplex = add(wire.a, wire.b, ".duplex", link.both_ways * (2.0 * count))});
    }
  }

  void add_route(std::vector<Demand>& demands, int src, int dst, Bytes wire_bytes) const override {
    const std::vector<Hop>& route = wiring_.route(src, dst);
    if (route.empty()) throw std::logic_error("Wired: no path between two GPUs");
    for (const Hop& hop : route) {
      const Resources& wire = wires_[static_cast<std::size_t>(hop.wire)];
      add_demand(demands, hop.backward ? wire.backward : wire.forward, wire_bytes.value);
      add_demand(demands, wire.duplex, wire_bytes.value);
    }
  }

  Seconds latency(int src, int dst) const override { return wiring_.latency(src, dst); }

 private:
  struct Resources {
    ResourceId forward, backward, duplex;
  };

  Wiring wiring_;
  std::vector<Resources> wires_;  ///< by NodeSpec::wires
};

}  // namespace

std::unique_ptr<LinkSet> make_wired(FluidSystem& fluid, const NodeSpec& spec, const std::string& suffix) {
  return std::make_unique<Wired>(fluid, spec, suffix);
}

}  // namespace c3
