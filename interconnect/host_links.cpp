#include "interconnect/host_links.hpp"

#include <fmt/format.h>

#include "engine/errors.hpp"

namespace c3 { inline namespace interconnect {

HostLinks::HostLinks(LinkLayout& layout, const NodeSpec& node, const NicLinks* nics, const LinkSet& links,
                     bool folded)
    : node_(node),
      nics_(nics),
      links_(links),
      is_wired_(node.topology == NodeTopology::wired && !node.host.sockets.empty()) {
  if (is_wired_) return;  // the links of the topology lead there
  const bool has_c2c = node.c2c.raw > BytesPerSecond{};
  const LinkSpec& link = has_c2c ? node.c2c : node.pcie;
  if (link.raw <= BytesPerSecond{}) {
    throw InfeasibleError(fmt::format(
        "node '{}' has no link to its host (c2c_raw, nic_slots with pcie_raw, or sockets of a wired "
        "node), so that nothing can be copied there or back",
        node.name));
  }
  if (has_c2c || nics == nullptr) {
    for (int gpu = 0; gpu < (folded ? 1 : node.gpus); ++gpu)
      own_.push_back(add_duplex(layout, fmt::format("host{}", gpu), gpu, link, 1.0, Counted::nothing));
  }
  if (node.host.memory > BytesPerSecond{})
    memory_.push_back(layout.add("host.memory", -1, node.host.memory / (folded ? double(node.gpus) : 1.0)));
}

void HostLinks::add_within(Route& route, int gpu, Bytes bytes) const {
  if (is_wired_) return links_.add_host_memory(route, gpu, bytes);
  for (const ResourceId memory : memory_)
    route.add(memory, bytes);
}

void HostLinks::add_out(Route& route, int gpu, Bytes bytes) const {
  if (is_wired_)
    links_.add_to_host(route, gpu, bytes);
  else if (own_.empty())
    nics_->add_pcie_out(route, gpu, bytes);
  else
    add_forward(route, own_[static_cast<std::size_t>(gpu)], bytes);
  add_within(route, gpu, bytes);
}

void HostLinks::add_in(Route& route, int gpu, Bytes bytes) const {
  if (is_wired_)
    links_.add_from_host(route, gpu, bytes);
  else if (own_.empty())
    nics_->add_pcie_in(route, gpu, bytes);
  else
    add_backward(route, own_[static_cast<std::size_t>(gpu)], bytes);
  add_within(route, gpu, bytes);
}

BytesPerSecond HostLinks::rate(int gpu) const {
  if (is_wired_) return links_.host_rate(gpu);
  return node_.c2c.raw > BytesPerSecond{} ? node_.c2c.one_way : node_.pcie.one_way;
}

Seconds HostLinks::latency(int gpu) const {
  if (is_wired_) return links_.host_latency(gpu);
  return node_.c2c.raw > BytesPerSecond{} ? node_.c2c.latency : node_.pcie.latency;
}

}}  // namespace c3::interconnect
