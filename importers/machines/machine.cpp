#include "importers/machines/machine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>

namespace c3 { inline namespace importers {
namespace {

constexpr int kUsualLanes = 16;

std::size_t at(int index) { return static_cast<std::size_t>(index); }

/// What is directly below a hub.
struct Below {
  int hubs = 0;
  int gpus = 0;
  int nics = 0;

  bool leads_to_gpu() const { return hubs + gpus > 0; }
};

std::vector<Below> below(const Machine& machine, const std::vector<bool>& is_gone) {
  std::vector<Below> found(machine.hubs.size());
  for (std::size_t hub = 0; hub < machine.hubs.size(); ++hub) {
    if (!is_gone[hub] && machine.hubs[hub].parent >= 0) ++found[at(machine.hubs[hub].parent)].hubs;
  }
  for (const MachineGpu& gpu : machine.gpus) {
    if (gpu.hub >= 0) ++found[at(gpu.hub)].gpus;
  }
  for (const MachineNic& nic : machine.nics) {
    if (nic.hub >= 0) ++found[at(nic.hub)].nics;
  }
  return found;
}

/// Moves what plugs in at \p from to where `target` leads from there.
template <class Device>
void move_up(std::vector<Device>& devices, const Machine& machine, const std::vector<int>& target) {
  for (Device& device : devices) {
    while (device.hub >= 0 && target[at(device.hub)] != device.hub) {
      device.up = narrower(device.up, machine.hubs[at(device.hub)].up);
      device.hub = target[at(device.hub)];
    }
  }
}

/// The hub at which what is at each hub plugs in instead; itself where it stays.
std::vector<int> targets(const Machine& machine) {
  std::vector<int> target(machine.hubs.size());
  std::iota(target.begin(), target.end(), 0);
  std::vector<bool> is_gone(machine.hubs.size());
  std::vector<Below> found = below(machine, is_gone);
  for (std::size_t hub = machine.hubs.size(); hub-- > 0;) {  // what is below comes later
    const Hub& one = machine.hubs[hub];
    if (one.is_processor()) continue;
    Below& up = found[at(one.parent)];
    const bool is_empty = !found[hub].leads_to_gpu();
    const bool is_passage = found[hub].hubs + found[hub].gpus == 1 && found[hub].nics == 0;
    if (!is_empty && !is_passage) continue;
    target[hub] = one.parent;
    --up.hubs;
    up.hubs += found[hub].hubs;
    up.gpus += found[hub].gpus;
    up.nics += found[hub].nics;
  }
  return target;
}

/// Processors without GPUs hand their NICs to the first that has some.
void leave_out_processors(const Machine& machine, std::vector<int>& target) {
  std::vector<bool> has_gpu(machine.hubs.size());
  for (const MachineGpu& gpu : machine.gpus) {
    for (int hub = gpu.hub; hub >= 0; hub = machine.hubs[at(hub)].parent) {
      if (has_gpu[at(hub)]) break;
      has_gpu[at(hub)] = true;
    }
  }
  int first = -1;
  for (int hub = 0; hub < static_cast<int>(machine.hubs.size()); ++hub) {
    if (first < 0 && machine.hubs[at(hub)].is_processor() && has_gpu[at(hub)]) first = hub;
  }
  if (first < 0) return;
  for (int hub = 0; hub < static_cast<int>(machine.hubs.size()); ++hub) {
    if (machine.hubs[at(hub)].is_processor() && !has_gpu[at(hub)]) target[at(hub)] = first;
  }
}

/// A switch that alone is below the only processor takes its place: what is at the processor moves down, and
/// the link between them is on nobody's way. \returns whether there is one
bool lower_lone_root(Machine& machine, std::vector<int>& target) {
  int root = -1;
  int child = -1;
  for (int hub = 0; hub < static_cast<int>(machine.hubs.size()); ++hub) {
    if (target[at(hub)] != hub) continue;
    int parent = machine.hubs[at(hub)].parent;
    while (parent >= 0 && target[at(parent)] != parent)
      parent = target[at(parent)];
    int& one = parent < 0 ? root : child;
    if (parent >= 0 && parent != root) continue;
    if (one >= 0) return false;
    one = hub;
  }
  const auto is_at_root = [&](const MachineGpu& gpu) { return gpu.hub == root; };
  if (child < 0 || std::ranges::any_of(machine.gpus, is_at_root)) return false;
  for (MachineNic& nic : machine.nics) {
    if (nic.hub == root) nic.hub = child;
  }
  target[at(root)] = child;
  machine.hubs[at(child)].parent = -1;
  return true;
}

/// Drops the hubs that `target` moves away from, and names those that stay.
void renumber(Machine& machine, const std::vector<int>& target) {
  std::vector<int> number(machine.hubs.size(), -1);
  std::vector<Hub> kept;
  int processors = 0;
  int switches = 0;
  for (std::size_t hub = 0; hub < machine.hubs.size(); ++hub) {
    if (target[hub] != static_cast<int>(hub)) continue;
    Hub one = machine.hubs[hub];
    int parent = one.parent;
    while (parent >= 0 && target[at(parent)] != parent) {
      one.up = narrower(one.up, machine.hubs[at(parent)].up);
      parent = target[at(parent)];
    }
    one.parent = parent < 0 ? -1 : number[at(parent)];
    one.name = parent < 0 ? fmt::format("cpu{}", processors++) : fmt::format("sw{}", switches++);
    number[hub] = static_cast<int>(kept.size());
    kept.push_back(one);
  }
  for (MachineGpu& gpu : machine.gpus)
    gpu.hub = gpu.hub < 0 ? -1 : number[at(gpu.hub)];
  for (MachineNic& nic : machine.nics)
    nic.hub = nic.hub < 0 ? -1 : number[at(nic.hub)];
  machine.hubs = kept;
}

/// Hubs from \p hub up to its processor.
std::vector<int> ancestors(const Machine& machine, int hub) {
  std::vector<int> found;
  for (; hub >= 0; hub = machine.hubs[at(hub)].parent)
    found.push_back(hub);
  return found;
}

/// Hops between two hubs; through another processor they are farther than any within one.
int distance(const Machine& machine, int a, int b) {
  const std::vector<int> from_a = ancestors(machine, a);
  const std::vector<int> from_b = ancestors(machine, b);
  for (std::size_t up = 0; up < from_a.size(); ++up) {
    const auto met = std::ranges::find(from_b, from_a[up]);
    if (met != from_b.end()) return static_cast<int>(up) + static_cast<int>(met - from_b.begin());
  }
  return std::numeric_limits<int>::max();
}

/// The narrowest link between two hubs.
PcieLink between(const Machine& machine, int a, int b) {
  const std::vector<int> from_a = ancestors(machine, a);
  const std::vector<int> from_b = ancestors(machine, b);
  PcieLink least;
  for (const int hub : from_a) {
    if (std::ranges::find(from_b, hub) == from_b.end()) least = narrower(least, machine.hubs[at(hub)].up);
  }
  for (const int hub : from_b) {
    if (std::ranges::find(from_a, hub) == from_a.end()) least = narrower(least, machine.hubs[at(hub)].up);
  }
  return least;
}

}  // namespace

double raw_rate(const PcieLink& link) {
  // GT/s of a lane, less 8b/10b, 128b/130b or, from 6.0 on, the flits' 1.6 %.
  constexpr std::array kLane = {0.0,
                                2.5 * 0.8 / 8,
                                5.0 * 0.8 / 8,
                                8.0 * 128 / 130 / 8,
                                16.0 * 128 / 130 / 8,
                                32.0 * 128 / 130 / 8,
                                64.0 * 0.984 / 8};
  return kLane.at(at(link.generation)) * (link.lanes > 0 ? link.lanes : kUsualLanes);
}

PcieLink narrower(const PcieLink& a, const PcieLink& b) {
  if (a.generation == 0) return b;
  if (b.generation == 0) return a;
  return raw_rate(b) < raw_rate(a) ? b : a;
}

void prune_hubs(Machine& machine) {
  std::vector<int> target = targets(machine);
  move_up(machine.gpus, machine, target);
  move_up(machine.nics, machine, target);
  leave_out_processors(machine, target);
  for (MachineNic& nic : machine.nics) {
    if (nic.hub >= 0) nic.hub = target[at(nic.hub)];
  }
  machine.is_below_one_switch = lower_lone_root(machine, target);
  renumber(machine, target);
}

int switch_count(const Machine& machine) {
  return static_cast<int>(
      std::ranges::count_if(machine.hubs, [](const Hub& hub) { return !hub.is_processor(); }));
}

bool links_join_all(const Machine& machine) {
  std::vector<int> group(machine.gpus.size() + 1);  // the last is the switch
  std::iota(group.begin(), group.end(), 0);
  const auto root = [&](int one) {
    while (group[at(one)] != one) {
      group[at(one)] = group[at(group[at(one)])];
      one = group[at(one)];
    }
    return one;
  };
  const auto switch_vertex = static_cast<int>(machine.gpus.size());
  for (const GpuLink& link : machine.links)
    group[at(root(link.a))] = root(link.b == GpuLink::kSwitch ? switch_vertex : link.b);
  for (int gpu = 1; gpu < static_cast<int>(machine.gpus.size()); ++gpu) {
    if (root(gpu) != root(0)) return false;
  }
  return true;
}

PcieLink path_to_nic(const Machine& machine) {
  PcieLink least;
  for (const MachineGpu& gpu : machine.gpus) {
    if (gpu.hub < 0) continue;
    const auto nearest = std::ranges::min_element(machine.nics, {}, [&](const MachineNic& nic) {
      return nic.hub < 0 ? std::numeric_limits<int>::max() : distance(machine, gpu.hub, nic.hub);
    });
    if (nearest == machine.nics.end() || nearest->hub < 0) return least;
    const PcieLink way = narrower(gpu.up, between(machine, gpu.hub, nearest->hub));
    least = narrower(least, narrower(way, nearest->up));
  }
  return least;
}

void order_nics(Machine& machine) {
  const auto nearest_gpu = [&](const MachineNic& nic) {
    if (nic.hub < 0) return 0;
    const auto gpu = std::ranges::min_element(machine.gpus, {}, [&](const MachineGpu& one) {
      return one.hub < 0 ? std::numeric_limits<int>::max() : distance(machine, one.hub, nic.hub);
    });
    return static_cast<int>(gpu - machine.gpus.begin());
  };
  std::vector<std::pair<int, std::size_t>> order;
  for (std::size_t nic = 0; nic < machine.nics.size(); ++nic)
    order.emplace_back(nearest_gpu(machine.nics[nic]), nic);
  std::ranges::sort(order);
  std::vector<MachineNic> sorted;
  for (const auto& [gpu, nic] : order)
    sorted.push_back(std::move(machine.nics[nic]));
  machine.nics = std::move(sorted);
}

}}  // namespace c3::importers
