#pragma once
/// How two GPUs of a wired node reach each other: directly, through host memory, or over the network. The rules
/// are NCCL's (src/graph/paths.cc, ncclTopoCheckP2p; src/transport/shm.cc, 2.30.7).

#include <vector>

#include "interconnect/spec.hpp"
#include "interconnect/wiring.hpp"

namespace c3 { inline namespace interconnect {

enum class GpuPath {
  peers,        ///< the sender stores into the receiver's memory
  host_memory,  ///< the sender writes to memory of the receiver's socket, from which the receiver reads
  network,      ///< out through a NIC and in through another
};

class HostPaths {
 public:
  explicit HostPaths(const NodeSpec& node);  ///< \p node must outlive it
  HostPaths(const HostPaths&) = delete;
  HostPaths& operator=(const HostPaths&) = delete;

  const Wiring& wiring() const { return wiring_; }
  /// Between two different GPUs.
  GpuPath between(int src, int dst) const { return paths_[index(src, dst)]; }
  int sockets_between(int src, int dst) const;  ///< on the direct way
  /// The socket whose memory holds what \p gpu receives: the nearest, the first of several.
  int memory_of(int gpu) const;
  bool is_socket(int vertex) const;

 private:
  GpuPath find(int src, int dst) const;
  std::size_t index(int src, int dst) const { return static_cast<std::size_t>(src * node_.gpus + dst); }

  const NodeSpec& node_;
  Wiring wiring_;
  std::vector<GpuPath> paths_;  ///< [src][dst]
};

}}  // namespace c3::interconnect
