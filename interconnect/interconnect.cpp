#include "interconnect/interconnect.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "engine/errors.hpp"
#include "interconnect/wiring.hpp"

namespace c3 { inline namespace interconnect {
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

Interconnect::Interconnect(FluidSystem& fluid, const NetworkSpec& network, const Setup& setup)
    : network_(network), folded_(setup.folded), fluid_(fluid), shares_(setup.shares) {
  const NodeSpec& node = network.node;
  if (folded_ && !shares_.empty()) throw std::logic_error("Interconnect: one rank stands for unlike links");
  if (folded_ && !is_symmetric(node)) {
    throw InfeasibleError(
        fmt::format("node '{}': its GPUs have different links, so that one cannot represent all; simulate "
                    "every rank (fold = false)",
                    node.name));
  }
  if (network.nodes > 1 && network.fabric == nullptr)
    throw InfeasibleError(fmt::format("{} nodes of '{}' require a fabric", network.nodes, node.name));
  if (folded_ && !is_symmetric(network)) {
    throw InfeasibleError(fmt::format(
        "fabric '{}': ranks of several nodes have different links, so that one cannot represent all; simulate "
        "every rank (fold = false)",
        network.fabric->name));
  }
  links_ = make_links(layout_, node, folded_);
  node_parts_ = layout_.parts().size();
  if (network.nodes > 1) {
    nics_.emplace(layout_, node, *network.fabric, *links_, folded_);
    switches_ =
        folded_ ? make_folded_switch_network(network) : make_switch_network(*network.fabric, network.nodes);
    check_links();
  }
  if (setup.reaches_hosts) hosts_.emplace(layout_, node, nics_ ? &*nics_ : nullptr, *links_, folded_);
  for (std::size_t i = 0; i < (setup.private_links ? setup.streams.size() : 1); ++i)
    suffixes_.push_back(setup.private_links ? "." + setup.streams[i] : "");
  if (setup.folded_before != nullptr) {
    folded_links_ = setup.folded_before;
  } else if (setup.classes != nullptr) {
    make_folded_links(*setup.classes, setup.folding);
  } else {
    for (const std::string& suffix : suffixes_)
      add_resources(suffix);
  }
}

void Interconnect::make_folded_links(const RankPartition& classes, LinkFolding folding) {
  std::vector<FoldedLinks::Link> links;
  for (int node = 0; node < network_.nodes; ++node) {
    const std::string prefix = network_.nodes > 1 ? fmt::format("node{}.", node) : "";
    for (std::size_t part = 0; part < layout_.parts().size(); ++part) {
      const LinkLayout::Part& link = layout_.parts()[part];
      const int rank = link.gpu < 0 ? -1 : node * network_.node.gpus + link.gpu;
      const bool between_pairs = part < node_parts_ && network_.node.topology != NodeTopology::switched;
      links.push_back(
          {prefix + link.name, rank, capacity(part, node).value, link.counted, rank >= 0 && !between_pairs});
    }
  }
  if (switches_ != nullptr) {
    switches_->add_links([&](const std::string& name, BytesPerSecond capacity) {
      links.push_back({name, -1, capacity.value, Counted::nothing, false});
    });
  }
  folded_links_ = std::make_shared<FoldedLinks>(
      std::move(links), classes, folding,
      [this](const Edge& edge, std::vector<FoldedLinks::Use>& uses) { add_uses(edge, uses); });
}

// A link is as sound as the worse of the GPUs at its ends.
BytesPerSecond Interconnect::capacity(std::size_t part, int node) const {
  const LinkLayout::Part& link = layout_.parts()[part];
  if (shares_.empty()) return link.capacity;
  double share = 1.0;
  for (const int gpu : {link.gpu, link.peer}) {
    if (gpu < 0) continue;
    const LinkShares& gpu_shares = shares_[static_cast<std::size_t>(node * network_.node.gpus + gpu)];
    if (part < node_parts_)
      share = std::min(share, gpu_shares.links);
    else if (nics_->is_nic(static_cast<ResourceId>(part)))
      share = std::min(share, gpu_shares.nics);
  }
  return link.capacity * share;
}

void Interconnect::fold_links() {
  if (!folded_links_ || std::exchange(has_links_, true)) return;
  folded_links_->close();
  for (const std::string& suffix : suffixes_) {
    for (std::size_t i = 0; i < folded_links_->classes(); ++i) {
      const FoldedLinks::Link& link = folded_links_->link(i);
      const std::string whole = link.name + suffix;
      const ResourceId added = fluid_.add_resource({.name = whole,
                                                    .unit = "B/s",
                                                    .gpu = link.gpu,
                                                    .counted = link.counted,
                                                    .of_gpu = folded_links_->links_of_each_gpu(i)},
                                                   link.capacity);
      if (i == 0) firsts_.push_back(added);
    }
  }
}

/// Appends what one byte takes, with links numbered as make_folded_links numbers them: node by node, then the
/// links between switches.
void Interconnect::add_uses(const Edge& edge, std::vector<FoldedLinks::Use>& uses) const {
  constexpr Bytes kOne{1.0};
  const auto parts = static_cast<ResourceId>(layout_.parts().size());
  const auto switches = static_cast<ResourceId>(network_.nodes) * parts;
  std::vector<Demand> demands;
  const auto in_node = [&](int rank) { return Route(demands, static_cast<ResourceId>(node_of(rank)) * parts); };
  Route from = in_node(edge.src);
  switch (edge.kind) {
    case EdgeKind::to_switch:
      links_->add_to_switch(from, gpu_of(edge.src), kOne);
      break;
    case EdgeKind::from_switch:
      links_->add_from_switch(from, gpu_of(edge.src), kOne);
      break;
    case EdgeKind::to_fabric:
      nics_->add_bytes_out(from, gpu_of(edge.src), kOne);
      break;
    case EdgeKind::from_fabric:
      nics_->add_bytes_in(from, gpu_of(edge.src), kOne);
      break;
    case EdgeKind::to_host:
    case EdgeKind::from_host:
    case EdgeKind::within_host:
      add_host_way(from, edge.kind, gpu_of(edge.src), kOne);
      break;
    case EdgeKind::route:
      if (!crosses(edge.src, edge.dst)) {
        links_->add_route(from, gpu_of(edge.src), gpu_of(edge.dst), kOne, 0);
        break;
      }
      check_nics(edge.src, edge.dst);
      const int relay = relay_of(edge.src, edge.dst);
      if (relay != edge.src) links_->add_route(from, gpu_of(edge.src), gpu_of(relay), kOne, 0);
      nics_->add_bytes_out(from, gpu_of(relay), kOne);
      add_switches(demands, switches, relay, edge.dst, kOne, edge.lane, /*connections=*/1);
      Route to = in_node(edge.dst);
      nics_->add_bytes_in(to, gpu_of(edge.dst), kOne);
      break;
  }
  for (const Demand& demand : demands) {
    const bool is_nic = nics_ && demand.resource < switches && nics_->is_nic(demand.resource % parts);
    uses.push_back({demand.resource, demand.amount, is_nic});
  }
}

void Interconnect::add_first(std::vector<Demand>& demands, int stream, EdgeSetId set, Bytes wire_bytes,
                             double messages) const {
  for (const FoldedLinks::Share& share : folded_links_->alone(set))
    demands.push_back({first_of(stream) + share.number, taken(share, wire_bytes, messages).value});
}

void Interconnect::add_set(std::vector<Demand>& demands, int stream, EdgeSetId set, Bytes wire_bytes,
                           double messages) const {
  for (const FoldedLinks::Share& share : folded_links_->shares(set))
    add_demand(demands, first_of(stream) + share.number, taken(share, wire_bytes, messages).value);
}

Bytes Interconnect::taken(const FoldedLinks::Share& share, Bytes wire_bytes, double messages) const {
  const Bytes part = wire_bytes * share.bytes;
  return (share.has_messages ? nics_->with_messages(part, messages) : part) * share.uses;
}

void Interconnect::check_links() const {
  constexpr double kMostLinks = 2e7;  // some GB
  if (switches_ == nullptr || switches_->links() <= kMostLinks) return;
  throw InfeasibleError(
      fmt::format("fabric '{}' has {:.2g} links between switches; at most {:.2g} can be simulated",
                  network_.fabric->name, switches_->links(), kMostLinks));
}

void Interconnect::add_resources(const std::string& suffix) {
  const int nodes = folded_ ? 1 : network_.nodes;
  for (int n = 0; n < nodes; ++n) {
    const std::string prefix = nodes > 1 ? fmt::format("node{}.", n) : "";
    for (std::size_t part = 0; part < layout_.parts().size(); ++part) {
      const LinkLayout::Part& link = layout_.parts()[part];
      const int rank = link.gpu < 0 ? -1 : n * network_.node.gpus + link.gpu;
      const ResourceId added = fluid_.add_resource(
          {.name = prefix + link.name + suffix, .unit = "B/s", .gpu = rank, .counted = link.counted},
          capacity(part, n).value);
      if (n == 0 && part == 0) firsts_.push_back(added);
    }
  }
  if (switches_ == nullptr) return;
  switches_->add_links([&](const std::string& name, BytesPerSecond capacity) {
    fluid_.add_resource({.name = name + suffix, .unit = "B/s", .gpu = -1}, capacity.value);
  });
}

ResourceId Interconnect::first_of(int stream) const {
  return firsts_[firsts_.size() > 1 ? static_cast<std::size_t>(stream) : 0];
}

Route Interconnect::route_in(std::vector<Demand>& demands, int stream, int rank) const {
  const auto node = static_cast<ResourceId>(folded_ ? 0 : node_of(rank));
  return {demands, first_of(stream) + node * static_cast<ResourceId>(layout_.parts().size())};
}

void Interconnect::add_route(std::vector<Demand>& demands, int stream, int src, int dst, Bytes wire_bytes,
                             int lane, double messages, int alike, int connections) const {
  if (src == dst || (folded_ && src != 0)) throw std::logic_error("Interconnect::add_route: no such route");
  Route from = route_in(demands, stream, src);
  if (!crosses(src, dst)) {
    const int around = alike > 0 ? alike : network_.node.gpus;
    links_->add_route(from, gpu_of(src), gpu_of(dst), wire_bytes, around - gpu_of(dst));
    return;
  }
  check_nics(src, dst);
  Route to = route_in(demands, stream, dst);
  int relay = relay_of(src, dst);
  if (relay != src)
    links_->add_route(from, gpu_of(src), gpu_of(relay), wire_bytes, network_.node.gpus - gpu_of(relay));
  // Folded, what others relay by this rank's NIC is what it relays by theirs, to as many receivers of its rail.
  const int receiver = folded_ && relay != src ? node_of(dst) * network_.node.gpus : dst;
  if (folded_) relay = src;
  nics_->add_out(from, gpu_of(relay), wire_bytes, messages);
  const auto nodes = static_cast<ResourceId>(folded_ ? 1 : network_.nodes);
  const ResourceId switches = first_of(stream) + nodes * static_cast<ResourceId>(layout_.parts().size());
  add_switches(demands, switches, relay, receiver, wire_bytes, lane, connections);
  nics_->add_in(to, folded_ ? 0 : gpu_of(dst), wire_bytes, messages);
}

int Interconnect::relay_of(int src, int dst) const {
  const bool may_relay = network_.relays && network_.node.topology != NodeTopology::wired;
  if (!may_relay || node_of(src) == node_of(dst)) return src;
  const bool same_rail = nics_->range_of(gpu_of(src)).first == nics_->range_of(gpu_of(dst)).first;
  return same_rail ? src : node_of(src) * network_.node.gpus + gpu_of(dst);
}

/// \param first the first link of the switches.
void Interconnect::add_switches(std::vector<Demand>& demands, ResourceId first, int src, int dst,
                                Bytes wire_bytes, int lane, int connections) const {
  if (switches_ == nullptr) return;
  const FabricSpec& fabric = *network_.fabric;
  Route route(demands, first);
  const NicRange from = nics_->range_of(gpu_of(src));
  const NicRange to = nics_->range_of(gpu_of(dst));
  const int rails = std::max(from.count, to.count);
  const bool hashes = fabric.routing == FabricRouting::ecmp;
  const int flows = hashes ? fabric.flows * network_.queue_pairs * connections : 1;
  const Bytes part = wire_bytes / (double(rails) * flows);
  for (int rail = 0; rail < rails; ++rail) {
    const int out = nic_number(src, from, rail);
    const int in = nic_number(dst, to, rail);
    for (int flow = 0; flow < flows; ++flow)
      switches_->add_path(route, out, in, part, flow_hash(fabric.seed, out, in, lane, flow));
  }
}

/// The network-wide number of NIC \p rail among those that \p rank has.
int Interconnect::nic_number(int rank, const NicRange& range, int rail) const {
  return node_of(rank) * network_.fabric->nics_per_node + range.first + rail % range.count;
}

void Interconnect::add_host_way(Route& route, EdgeKind kind, int gpu, Bytes bytes) const {
  if (kind == EdgeKind::to_host) return hosts_->add_out(route, gpu, bytes);
  if (kind == EdgeKind::from_host) return hosts_->add_in(route, gpu, bytes);
  if (kind == EdgeKind::within_host) return hosts_->add_within(route, gpu, bytes);
  throw std::logic_error("Interconnect: an edge that no host is at");
}

void Interconnect::add_host(std::vector<Demand>& demands, int stream, EdgeKind kind, int rank,
                            Bytes bytes) const {
  Route route = route_in(demands, stream, rank);
  add_host_way(route, kind, gpu_of(rank), bytes);
}

void Interconnect::check_switch(int rank) const {
  if (network_.node.topology != NodeTopology::switched) {
    throw InfeasibleError(fmt::format("node '{}' has no switch between its GPUs that could reduce or multicast",
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
  if (!crosses(src, dst)) return links_->latency(gpu_of(src), gpu_of(dst));
  check_nics(src, dst);
  const FabricSpec& fabric = *network_.fabric;
  const int relay = relay_of(src, dst);
  const int out = nic_number(relay, nics_->range_of(gpu_of(relay)), 0);
  const int in = nic_number(dst, nics_->range_of(gpu_of(dst)), 0);
  const int switches = 1 + (switches_ == nullptr ? 0 : switches_->hops(out, in));
  const Seconds to_relay = relay == src ? Seconds{} : links_->latency(gpu_of(src), gpu_of(relay));
  return to_relay + nics_->latency(gpu_of(relay)) + nics_->latency(gpu_of(dst)) + fabric.nic.latency +
         fabric.message_latency + fabric.switch_latency * double(switches);
}

void Interconnect::check_nics(int src, int dst) const {
  if (nics_) return;
  throw InfeasibleError(fmt::format(
      "node '{}': gpu{} and gpu{} reach each other neither directly (p2p = \"{}\") nor through host memory "
      "(shm = false), and a single node has no fabric; allow one of the two, or simulate several nodes",
      network_.node.name, gpu_of(src), gpu_of(dst), name_of(network_.node.host.p2p)));
}

void Interconnect::check_fabric_reduces(int rank) const {
  if (network_.nodes == 1 || !network_.fabric->switch_reduces) {
    throw InfeasibleError(
        network_.nodes == 1
            ? fmt::format("node '{}' has no fabric whose switches could reduce or multicast",
                          network_.node.name)
            : fmt::format("the switches of fabric '{}' do not reduce or multicast", network_.fabric->name));
  }
  if (rank < 0 || rank >= (folded_ ? 1 : ranks())) throw std::logic_error("Interconnect: no such NIC");
}

void Interconnect::add_to_fabric(std::vector<Demand>& demands, int stream, int rank, Bytes wire_bytes,
                                 double messages) const {
  check_fabric_reduces(rank);
  Route route = route_in(demands, stream, rank);
  nics_->add_out(route, gpu_of(rank), wire_bytes, messages);
}

void Interconnect::add_from_fabric(std::vector<Demand>& demands, int stream, int rank, Bytes wire_bytes,
                                   double messages) const {
  check_fabric_reduces(rank);
  Route route = route_in(demands, stream, rank);
  nics_->add_in(route, gpu_of(rank), wire_bytes, messages);
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

BytesPerSecond raw_egress(const NetworkSpec& network) {
  const BytesPerSecond within = raw_egress(network.node);
  if (network.nodes == 1) return within;
  BytesPerSecond out = network.fabric->nic.raw * std::max(1.0, nics_per_gpu(network));
  if (network.node.nic_at.empty()) out = std::min(out, network.node.pcie.raw);
  return within + out;
}

}}  // namespace c3::interconnect
