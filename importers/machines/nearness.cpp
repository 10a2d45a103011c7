#include "importers/machines/nearness.hpp"

#include <map>
#include <numeric>

namespace c3 { inline namespace importers {
namespace {

/// Sets of devices that pairs of at most one nearness join.
class Groups {
 public:
  Groups(std::size_t devices, const std::vector<NearPair>& pairs, Nearness farthest) : up_(devices) {
    std::iota(up_.begin(), up_.end(), std::size_t{0});
    for (const NearPair& pair : pairs) {
      if (pair.nearness <= farthest)
        up_[root(static_cast<std::size_t>(pair.a))] = root(static_cast<std::size_t>(pair.b));
    }
    for (std::size_t device = 0; device < devices; ++device)
      ++sizes_[root(device)];
  }

  std::size_t root(std::size_t device) {
    while (up_[device] != device) {
      up_[device] = up_[up_[device]];
      device = up_[device];
    }
    return device;
  }
  bool is_alone(std::size_t device) { return sizes_[root(device)] == 1; }

 private:
  std::vector<std::size_t> up_;
  std::map<std::size_t, int> sizes_;
};

}  // namespace

void plug_in(Machine& machine, const std::vector<NearPair>& pairs) {
  const std::size_t devices = machine.gpus.size() + machine.nics.size();
  Groups near(devices, pairs, Nearness::one_switch);
  Groups below(devices, pairs, Nearness::switches);
  Groups local(devices, pairs, Nearness::processor);
  std::map<std::size_t, int> processors;
  std::map<std::size_t, int> upper;
  std::map<std::size_t, int> lower;
  const auto hub_of = [&](std::map<std::size_t, int>& hubs, std::size_t group, int parent) {
    const auto [found, is_new] = hubs.try_emplace(group, static_cast<int>(machine.hubs.size()));
    if (is_new) machine.hubs.push_back({.name = {}, .parent = parent});
    return found->second;
  };
  for (std::size_t device = 0; device < devices; ++device) {
    int hub = hub_of(processors, local.root(device), -1);
    if (!below.is_alone(device)) hub = hub_of(upper, below.root(device), hub);
    if (!near.is_alone(device)) hub = hub_of(lower, near.root(device), hub);
    if (device < machine.gpus.size())
      machine.gpus[device].hub = hub;
    else
      machine.nics[device - machine.gpus.size()].hub = hub;
  }
}

}}  // namespace c3::importers
