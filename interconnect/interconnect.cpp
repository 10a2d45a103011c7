#include "interconnect/interconnect.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "engine/errors.hpp"
#include "interconnect/wiring.hpp"

namespace c3 {
namespace {

std::unique_ptr<LinkSet> make_links(LinkLayout& layout, const NodeSpec& spec, bool folded) {
  switch (spec.topology) {
    case NodeTopology::full_mesh:
      return make_full_mesh(layout, spec, folded);
    case NodeTopology::switched:
      return make_switched(layout, spec, folded);
    case NodeTopology::wired:
      return make_wired(layout, spec);
  }
  throw std::logic_error("Interconnect: unknown topology");
}

}  // namespace

void LinkSet::add_to_switch(Route&, int, Bytes) const {
  throw std::logic_error("LinkSet: no switch to send to");
}

void LinkSet::add_from_switch(Route&, int, Bytes) const {
  throw std::logic_error("LinkSet: no switch to receive from");
}

Interconnect::Interconnect(FluidSystem& fluid, const NetworkSpec& network, const Setup& setup)
    : network_(network), folded_(setup.folded) {
  const NodeSpec& node = network.node;
  if (folded_ && !is_symmetric(node)) {
    throw InfeasibleError(
        fmt::format("node '{}': its GPUs are wired unlike each other, so none can stand for all; simulate "
                    "every rank (fold = false)",
                    node.name));
  }
  if (network.nodes > 1 && network.fabric == nullptr)
    throw InfeasibleError(fmt::format("{} nodes '{}': no fabric joins them", network.nodes, node.name));
  if (folded_ && !is_symmetric(network)) {
    throw InfeasibleError(
        fmt::format("fabric '{}': ranks of several nodes see unlike links, so none can stand for all; simulate "
                    "every rank (fold = false)",
                    network.fabric->name));
  }
  links_ = make_links(layout_, node, folded_);
  if (network.nodes > 1) nics_.emplace(layout_, node, *network.fabric, folded_);
  for (std::size_t i = 0; i < (setup.private_links ? setup.streams.size() : 1); ++i)
    add_resources(fluid, setup.private_links ? "." + setup.streams[i] : "");
}

void Interconnect::add_resources(FluidSystem& fluid, const std::string& suffix) {
  const int nodes = folded_ ? 1 : network_.nodes;
  for (int n = 0; n < nodes; ++n) {
    const std::string prefix = nodes > 1 ? fmt::format("node{}.", n) : "";
    for (std::size_t part = 0; part < layout_.parts().size(); ++part) {
      const auto& [name, gpu, capacity] = layout_.parts()[part];
      const int rank = gpu < 0 ? gpu : n * network_.node.gpus + gpu;
      const ResourceId added =
          fluid.add_resource({.name = prefix + name + suffix, .unit = "B/s", .gpu = rank}, capacity.value);
      if (n == 0 && part == 0) firsts_.push_back(added);
    }
  }
}

Route Interconnect::route_in(std::vector<Demand>& demands, int stream, int rank) const {
  const ResourceId first = firsts_[firsts_.size() > 1 ? static_cast<std::size_t>(stream) : 0];
  const auto node = static_cast<ResourceId>(folded_ ? 0 : node_of(rank));
  return {demands, first + node * static_cast<ResourceId>(layout_.parts().size())};
}

void Interconnect::add_route(std::vector<Demand>& demands, int stream, int src, int dst,
                             Bytes wire_bytes) const {
  if (src == dst || (folded_ && src != 0)) throw std::logic_error("Interconnect::add_route: no such route");
  Route from = route_in(demands, stream, src);
  if (node_of(src) == node_of(dst)) {
    links_->add_route(from, gpu_of(src), gpu_of(dst), wire_bytes);
    return;
  }
  Route to = route_in(demands, stream, dst);
  nics_->add_out(from, gpu_of(src), wire_bytes);
  nics_->add_in(to, folded_ ? 0 : gpu_of(dst), wire_bytes);
}

void Interconnect::check_switch(int rank) const {
  if (network_.node.topology != NodeTopology::switched) {
    throw InfeasibleError(fmt::format("node '{}': no switch joins its GPUs, so none can reduce or multicast",
                                      network_.node.name));
  }
  if (rank < 0 || rank >= (folded_ ? 1 : ranks())) throw std::logic_error("Interconnect: no such port");
}

void Interconnect::add_to_switch(std::vector<Demand>& demands, int stream, int rank, Bytes wire_bytes) const {
  check_switch(rank);
  Route route = route_in(demands, stream, rank);
  links_->add_to_switch(route, gpu_of(rank), wire_bytes);
}

void Interconnect::add_from_switch(std::vector<Demand>& demands, int stream, int rank, Bytes wire_bytes) const {
  check_switch(rank);
  Route route = route_in(demands, stream, rank);
  links_->add_from_switch(route, gpu_of(rank), wire_bytes);
}

Seconds Interconnect::latency(int src, int dst) const {
  if (src == dst) return {};
  if (node_of(src) == node_of(dst)) return links_->latency(gpu_of(src), gpu_of(dst));
  const FabricSpec& fabric = *network_.fabric;
  return 2.0 * network_.node.pcie.latency + fabric.nic.latency + fabric.switch_latency;
}

bool is_symmetric(const NetworkSpec& network) {
  if (!is_symmetric(network.node)) return false;
  if (network.nodes == 1) return true;
  const int gpus = network.node.gpus;
  const int nics = network.fabric->nics_per_node;
  return gpus % nics == 0 || nics % gpus == 0;
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
