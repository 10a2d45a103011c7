#include "importers/machines/node_wires.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace c3 { inline namespace importers {
namespace {

constexpr int kUsualLanes = 16;

class WireList {
 public:
  WireList(const Machine& machine, const PcieLink& plain, int own_generation)
      : machine_(machine), plain_(plain), own_generation_(own_generation) {}

  void add_links(const GpuJoin& join) {
    const std::string kind = join.base_is_pcie ? " nvlink" : "";
    for (const GpuLink& link : join.links) {
      const std::string count = link.count > 1 ? fmt::format(" x{}", link.count) : "";
      list_.wires.push_back(fmt::format("gpu{} - gpu{}{}{}", link.a, link.b, kind, count));
      list_.has_nvlink_kind |= join.base_is_pcie;
    }
  }

  void add_pcie() {
    for (std::size_t gpu = 0; gpu < machine_.gpus.size(); ++gpu) {
      const MachineGpu& one = machine_.gpus[gpu];
      add(fmt::format("gpu{}", gpu), hub_name(one.hub), one.up);
    }
    std::vector<std::string> processors;
    for (const Hub& hub : machine_.hubs) {
      if (hub.is_processor()) processors.push_back(hub.name);
      if (!hub.is_processor()) add(hub.name, hub_name(hub.parent), hub.up);
    }
    for (std::size_t a = 0; a < processors.size(); ++a) {
      for (std::size_t b = a + 1; b < processors.size(); ++b)
        list_.wires.push_back(fmt::format("{} - {} socket", processors[a], processors[b]));
    }
    list_.sockets = processors;
    for (const MachineNic& nic : machine_.nics)
      list_.nic_at.push_back(nic.hub < 0 ? processors.front() : hub_name(nic.hub));
  }

  NodeWires list() && { return std::move(list_); }

 private:
  const std::string& hub_name(int hub) const { return machine_.hubs[static_cast<std::size_t>(hub)].name; }

  void add(const std::string& a, const std::string& b, PcieLink link) {
    if (link.generation == 0) link.generation = own_generation_;
    if (link.lanes == 0) link.lanes = kUsualLanes;
    if (link == plain_) {
      list_.wires.push_back(fmt::format("{} - {}", a, b));
      return;
    }
    const std::string kind = fmt::format("pcie{}x{}", link.generation, link.lanes);
    list_.pcie[kind] = link;
    list_.wires.push_back(fmt::format("{} - {} {}", a, b, kind));
  }

  const Machine& machine_;
  PcieLink plain_;
  int own_generation_;
  NodeWires list_;
};

}  // namespace

NodeWires wires_of(const Machine& machine, const GpuJoin& join, const PcieLink& plain, int own_generation) {
  WireList list(machine, plain, own_generation);
  list.add_links(join);
  Machine joined = machine;
  joined.links = join.links;
  if (!links_join_all(joined)) list.add_pcie();
  return std::move(list).list();
}

}}  // namespace c3::importers
