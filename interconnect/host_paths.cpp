#include "interconnect/host_paths.hpp"

#include <algorithm>

namespace c3 { inline namespace interconnect {

HostPaths::HostPaths(const NodeSpec& node)
    : node_(node),
      wiring_(node),
      paths_(static_cast<std::size_t>(node.gpus) * static_cast<std::size_t>(node.gpus), GpuPath::peers) {
  for (int src = 0; src < node.gpus; ++src) {
    for (int dst = 0; dst < node.gpus; ++dst) {
      if (src != dst) paths_[index(src, dst)] = find(src, dst);
    }
  }
}

bool HostPaths::is_socket(int vertex) const {
  return std::ranges::find(node_.host.sockets, vertex) != node_.host.sockets.end();
}

int HostPaths::sockets_between(int src, int dst) const {
  const std::vector<int> passed = wiring_.vertices(src, dst);
  return static_cast<int>(std::ranges::count_if(passed, [this](int vertex) { return is_socket(vertex); }));
}

int HostPaths::memory_of(int gpu) const {
  return *std::ranges::min_element(node_.host.sockets, {},
                                   [&](int socket) { return wiring_.route(gpu, socket).size(); });
}

GpuPath HostPaths::find(int src, int dst) const {
  const int sockets = sockets_between(src, dst);
  P2pReach needed = P2pReach::all;
  if (wiring_.route(src, dst).size() == 1) {
    needed = P2pReach::wires;
  } else if (sockets <= 1) {
    needed = sockets == 0 ? P2pReach::direct : P2pReach::host;
  }
  if (node_.host.p2p >= needed) return GpuPath::peers;
  return node_.host.shm ? GpuPath::host_memory : GpuPath::network;
}

}}  // namespace c3::interconnect
