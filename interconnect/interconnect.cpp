#include "interconnect/interconnect.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "engine/errors.hpp"
#include "interconnect/wiring.hpp"

namespace c3 {
namespace {

std::unique_ptr<LinkSet> make_links(FluidSystem& fluid, const NodeSpec& spec, bool folded,
                                    const std::string& suffix) {
  switch (spec.topology) {
    case NodeTopology::full_mesh:
      return make_full_mesh(fluid, spec, folded, suffix);
    case NodeTopology::switched:
      return make_switched(fluid, spec, folded, suffix);
    case NodeTopology::wired:
      return make_wired(fluid, spec, suffix);
  }
  throw std::logic_error("Interconnect: unknown topology");
}

}  // namespace

void LinkSet::add_to_switch(std::vector<Demand>&, int, Bytes) const {
  throw std::logic_error("LinkSet: no switch to send to");
}

void LinkSet::add_from_switch(std::vector<Demand>&, int, Bytes) const {
  throw std::logic_error("LinkSet: no switch to receive from");
}

Interconnect::Interconnect(FluidSystem& fluid, const NodeSpec& spec, const Setup& setup)
    : spec_(spec), folded_(setup.folded) {
  if (folded_ && !is_symmetric(spec)) {
    throw InfeasibleError(
        fmt::format("node '{}': its GPUs are wired unlike each other, so none can stand for all; simulate "
                    "every rank (fold = false)",
                    spec.name));
  }
  for (std::size_t i = 0; i < (setup.private_links ? setup.streams.size() : 1); ++i) {
    links_.push_back(make_links(fluid, spec, folded_, setup.private_links ? "." + setup.streams[i] : ""));
  }
}

void Interconnect::add_route(std::vector<Demand>& demands, int stream, int src, int dst,
                             Bytes wire_bytes) const {
  if (src == dst || (folded_ && src != 0)) throw std::logic_error("Interconnect::add_route: no such route");
  links(stream).add_route(demands, src, dst, wire_bytes);
}

const LinkSet& Interconnect::switch_links(int stream, int gpu) const {
  if (spec_.topology != NodeTopology::switched) {
    throw InfeasibleError(
        fmt::format("node '{}': no switch joins its GPUs, so none can reduce or multicast", spec_.name));
  }
  if (gpu < 0 || gpu >= (folded_ ? 1 : spec_.gpus)) throw std::logic_error("Interconnect: no such port");
  return links(stream);
}

void Interconnect::add_to_switch(std::vector<Demand>& demands, int stream, int gpu, Bytes wire_bytes) const {
  switch_links(stream, gpu).add_to_switch(demands, gpu, wire_bytes);
}

void Interconnect::add_from_switch(std::vector<Demand>& demands, int stream, int gpu, Bytes wire_bytes) const {
  switch_links(stream, gpu).add_from_switch(demands, gpu, wire_bytes);
}

Seconds Interconnect::latency(int src, int dst) const {
  return src == dst ? Seconds{} : links(0).latency(src, dst);
}

bool is_symmetric(const NodeSpec& node) { return node.topology != NodeTopology::wired; }

BytesPerSecond raw_egress(const NodeSpec& node) {
  switch (node.topology) {
    case NodeTopology::full_mesh:
      return node.link.raw * (node.gpus - 1.0);
    case NodeTopology::switched:
      return node.link.raw;
    case NodeTopology::wired:
      break;
  }
  std::vector<BytesPerSecond> egress(static_cast<std::size_t>(node.gpus));
  for (const Wire& wire : node.wires) {
    for (const int end : {wire.a, wire.b}) {
      if (end < node.gpus)
        egress[static_cast<std::size_t>(end)] += link_of(node, wire).raw * double(wire.count);
    }
  }
  return *std::ranges::max_element(egress);
}

}  // namespace c3
