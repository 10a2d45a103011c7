#include "interconnect/nic_links.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace c3 { inline namespace interconnect {

NicRange nics_of(int gpu, int gpus, int nics) {
  const int first = gpu * nics / gpus;
  return {first, std::max(1, (gpu + 1) * nics / gpus - first)};
}

double nics_per_gpu(const NetworkSpec& network) {
  return double(network.fabric->nics_per_node) / network.node.gpus;
}

DuplexPart add_duplex(LinkLayout& layout, const std::string& name, int gpu, const LinkSpec& link, double share,
                      Counted out) {
  return {.forward = layout.add(name + ".out", gpu, link.one_way * share, out),
          .backward = layout.add(name + ".in", gpu, link.one_way * share),
          .duplex = layout.add(name + ".duplex", gpu, link.both_ways * (2.0 * share))};
}

NicLinks::NicLinks(LinkLayout& layout, const NodeSpec& node, const FabricSpec& fabric, const LinkSet& links,
                   bool folded)
    : node_(node), fabric_(fabric), links_(links) {
  const int count = fabric.nics_per_node;
  for (int gpu = 0; node.nic_at.empty() && gpu < (folded ? 1 : node.gpus); ++gpu)
    pcie_.push_back(add_duplex(layout, fmt::format("pcie{}", gpu), gpu, node.pcie, 1.0, Counted::nothing));
  const double share = folded ? std::min(1.0, double(count) / node.gpus) : 1.0;
  for (int nic = 0; nic < (folded ? range_of(0).count : count); ++nic) {
    const int gpu = nic * node.gpus / count;  // the first that uses it
    nics_.push_back(add_duplex(layout, fmt::format("nic{}", nic), gpu, fabric.nic, share, Counted::nic));
  }
}

int NicLinks::vertex_of(int nic) const {
  const auto slots = node_.nic_at.size();
  return node_.nic_at[static_cast<std::size_t>(nic) * slots / static_cast<std::size_t>(fabric_.nics_per_node)];
}

Bytes NicLinks::with_messages(Bytes wire_bytes, double messages) const {
  if (fabric_.message_size > Bytes{}) messages = std::max(messages, wire_bytes / fabric_.message_size);
  return wire_bytes + fabric_.nic.one_way * fabric_.message_cost * messages;
}

template <class OfNic>
void NicLinks::spread_out(Route& route, int gpu, Bytes wire_bytes, OfNic of_nic) const {
  const NicRange range = range_of(gpu);
  const Bytes part = wire_bytes / double(range.count);
  if (!pcie_.empty()) add_forward(route, pcie_[static_cast<std::size_t>(gpu)], wire_bytes);
  for (int nic = range.first; nic < range.first + range.count; ++nic) {
    if (pcie_.empty()) links_.add_to_nic(route, gpu, vertex_of(nic), part);
    add_forward(route, nics_[static_cast<std::size_t>(nic)], of_nic(part));
  }
}

template <class OfNic>
void NicLinks::spread_in(Route& route, int gpu, Bytes wire_bytes, OfNic of_nic) const {
  const NicRange range = range_of(gpu);
  const Bytes part = wire_bytes / double(range.count);
  for (int nic = range.first; nic < range.first + range.count; ++nic) {
    add_backward(route, nics_[static_cast<std::size_t>(nic)], of_nic(part));
    if (pcie_.empty()) links_.add_from_nic(route, gpu, vertex_of(nic), part);
  }
  if (!pcie_.empty()) add_backward(route, pcie_[static_cast<std::size_t>(gpu)], wire_bytes);
}

void NicLinks::add_out(Route& route, int gpu, Bytes wire_bytes, double messages) const {
  spread_out(route, gpu, wire_bytes, [&](Bytes part) { return with_messages(part, messages); });
}

void NicLinks::add_in(Route& route, int gpu, Bytes wire_bytes, double messages) const {
  spread_in(route, gpu, wire_bytes, [&](Bytes part) { return with_messages(part, messages); });
}

void NicLinks::add_bytes_out(Route& route, int gpu, Bytes wire_bytes) const {
  spread_out(route, gpu, wire_bytes, [](Bytes part) { return part; });
}

void NicLinks::add_bytes_in(Route& route, int gpu, Bytes wire_bytes) const {
  spread_in(route, gpu, wire_bytes, [](Bytes part) { return part; });
}

void NicLinks::add_pcie_out(Route& route, int gpu, Bytes bytes) const {
  add_forward(route, pcie_.at(static_cast<std::size_t>(gpu)), bytes);
}

void NicLinks::add_pcie_in(Route& route, int gpu, Bytes bytes) const {
  add_backward(route, pcie_.at(static_cast<std::size_t>(gpu)), bytes);
}

Seconds NicLinks::latency(int gpu) const {
  if (!pcie_.empty()) return node_.pcie.latency;
  const NicRange range = range_of(gpu);
  Seconds longest;
  for (int nic = range.first; nic < range.first + range.count; ++nic)
    longest = std::max(longest, links_.nic_latency(gpu, vertex_of(nic)));
  return longest;
}

}}  // namespace c3::interconnect
