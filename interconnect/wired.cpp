#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "interconnect/host_paths.hpp"
#include "interconnect/link_set.hpp"

namespace c3 { inline namespace interconnect {
namespace {

/// Every bundle of links is a link of a mesh, `count` times as wide. A transfer takes every bundle of its route
/// at once; on the way it takes nothing of the GPUs and hubs that it passes. What goes through host memory
/// takes the ways to and from it, and the memory twice.
class Wired final : public LinkSet {
 public:
  Wired(LinkLayout& layout, const NodeSpec& spec) : node_(spec), paths_(spec) {
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
    if (spec.host.sockets.empty()) return;
    memories_.resize(spec.hubs.size());
    for (const int socket : spec.host.sockets)
      memories_[hub(socket)] = layout.add(vertex_name(spec, socket) + ".memory", -1, spec.host.memory);
    for (int gpu = 0; gpu < spec.gpus; ++gpu)
      readers_.push_back(layout.add(fmt::format("host{}", gpu), gpu, spec.host.read));
  }

  void add_route(Route& route, int src, int dst, Bytes wire_bytes, int /*from*/) const override {
    if (paths_.between(src, dst) == GpuPath::host_memory)
      add_through_host(route, src, dst, wire_bytes);
    else
      add_path(route, src, dst, wire_bytes);
  }

  bool joins(int src, int dst) const override { return paths_.between(src, dst) != GpuPath::network; }

  Seconds latency(int src, int dst) const override {
    if (paths_.between(src, dst) != GpuPath::host_memory) return wiring().latency(src, dst);
    const int memory = paths_.memory_of(dst);
    return wiring().latency(src, memory) + wiring().latency(memory, dst);
  }

  void add_to_nic(Route& route, int gpu, int vertex, Bytes wire_bytes) const override {
    add_path(route, gpu, vertex, wire_bytes);
  }
  void add_from_nic(Route& route, int gpu, int vertex, Bytes wire_bytes) const override {
    add_path(route, vertex, gpu, wire_bytes);
  }
  Seconds nic_latency(int gpu, int vertex) const override {
    return gpu == vertex ? Seconds{} : wiring().latency(gpu, vertex);
  }

  void add_to_host(Route& route, int gpu, Bytes bytes) const override {
    add_path(route, gpu, paths_.memory_of(gpu), bytes, /*of_memory=*/true);
  }
  void add_from_host(Route& route, int gpu, Bytes bytes) const override {
    add_path(route, paths_.memory_of(gpu), gpu, bytes, /*of_memory=*/true);
  }
  void add_host_memory(Route& route, int gpu, Bytes bytes) const override {
    route.add(memories_[hub(paths_.memory_of(gpu))], bytes);
  }
  BytesPerSecond host_rate(int gpu) const override { return wiring().width(gpu, paths_.memory_of(gpu)); }
  Seconds host_latency(int gpu) const override { return wiring().latency(gpu, paths_.memory_of(gpu)); }

 private:
  const Wiring& wiring() const { return paths_.wiring(); }
  std::size_t hub(int vertex) const { return static_cast<std::size_t>(vertex - node_.gpus); }

  /// The sender writes to memory of the receiver's socket, from which the receiver reads.
  void add_through_host(Route& route, int src, int dst, Bytes wire_bytes) const {
    const int memory = paths_.memory_of(dst);
    add_path(route, src, memory, wire_bytes, /*of_memory=*/true);
    route.add(memories_[hub(memory)], wire_bytes * 2.0);
    add_path(route, memory, dst, wire_bytes, /*of_memory=*/true);
    route.add(readers_[static_cast<std::size_t>(dst)], wire_bytes);
  }

  /// Reads and writes of memory leave less of a link that is busy both ways.
  double duplex_share(const Wire& wire) const {
    const bool leads_to_gpus = paths_.is_socket(wire.a) != paths_.is_socket(wire.b);
    return leads_to_gpus ? std::max(1.0, link_of(node_, wire).both_ways / node_.host.both_ways) : 1.0;
  }

  void add_path(Route& route, int src, int dst, Bytes wire_bytes, bool of_memory = false) const {
    if (src == dst) return;
    const std::vector<Hop>& hops = wiring().route(src, dst);
    if (hops.empty()) throw std::logic_error("Wired: no path between two vertices");
    for (const Hop& hop : hops) {
      const DuplexPart& wire = wires_[static_cast<std::size_t>(hop.wire)];
      route.add(hop.backward ? wire.backward : wire.forward, wire_bytes);
      const Wire& spec = node_.wires[static_cast<std::size_t>(hop.wire)];
      route.add(wire.duplex, of_memory ? wire_bytes * duplex_share(spec) : wire_bytes);
    }
  }

  const NodeSpec& node_;
  HostPaths paths_;
  std::vector<DuplexPart> wires_;     ///< one per wire of NodeSpec::wires
  std::vector<ResourceId> memories_;  ///< indexed by hub; sockets only
  std::vector<ResourceId> readers_;   ///< one per GPU
};

}  // namespace

std::unique_ptr<LinkSet> make_wired(LinkLayout& layout, const NodeSpec& spec) {
  return std::make_unique<Wired>(layout, spec);
}

}}  // namespace c3::interconnect
