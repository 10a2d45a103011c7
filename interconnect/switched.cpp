#include <fmt/format.h>

#include "interconnect/link_set.hpp"

namespace c3 { inline namespace interconnect {
namespace {

/// One full-duplex port for each GPU to a switch that never blocks: out, in, and both together, as a link of a
/// mesh. Folded, rank 0's port receives what it sends.
class Switched final : public LinkSet {
 public:
  Switched(LinkLayout& layout, const NodeSpec& spec, bool folded)
      : folded_(folded), latency_(spec.link.latency) {
    const auto add = [&](int gpu, const char* part, BytesPerSecond capacity,
                         Counted counted = Counted::nothing) {
      return layout.add(fmt::format("port{}.{}", gpu, part), gpu, capacity, counted);
    };
    for (int gpu = 0; gpu < (folded ? 1 : spec.gpus); ++gpu) {
      out_.push_back(add(gpu, "out", spec.link.one_way, Counted::link));
      in_.push_back(add(gpu, "in", spec.link.one_way));
      duplex_.push_back(add(gpu, "duplex", 2.0 * spec.link.both_ways));
    }
  }

  void add_route(Route& route, int src, int dst, Bytes wire_bytes, int /*from*/) const override {
    const auto from = static_cast<std::size_t>(src);
    const std::size_t to = folded_ ? from : static_cast<std::size_t>(dst);
    add_port(route, out_, from, wire_bytes);
    add_port(route, in_, to, wire_bytes);
  }

  void add_to_switch(Route& route, int gpu, Bytes wire_bytes) const override {
    add_port(route, out_, static_cast<std::size_t>(gpu), wire_bytes);
  }

  void add_from_switch(Route& route, int gpu, Bytes wire_bytes) const override {
    add_port(route, in_, static_cast<std::size_t>(gpu), wire_bytes);
  }

  Seconds latency(int /*src*/, int /*dst*/) const override { return latency_; }

 private:
  void add_port(Route& route, const std::vector<ResourceId>& direction, std::size_t port,
                Bytes wire_bytes) const {
    route.add(direction[port], wire_bytes);
    route.add(duplex_[port], wire_bytes);
  }

  bool folded_;
  Seconds latency_;
  std::vector<ResourceId> out_, in_, duplex_;  ///< indexed by simulated rank
};

}  // namespace

std::unique_ptr<LinkSet> make_switched(LinkLayout& layout, const NodeSpec& spec, bool folded) {
  return std::make_unique<Switched>(layout, spec, folded);
}

}}  // namespace c3::interconnect
