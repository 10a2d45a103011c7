#pragma once
/// The links of one node's topology.

#include <memory>

#include "interconnect/link_layout.hpp"
#include "interconnect/spec.hpp"

namespace c3 { inline namespace interconnect {

/// What every topology must say: which resources a transfer takes.
class LinkSet {
 public:
  LinkSet() = default;
  LinkSet(const LinkSet&) = delete;
  LinkSet& operator=(const LinkSet&) = delete;
  virtual ~LinkSet() = default;

  /// Appends what \p wire_bytes from \p src to \p dst take; src != dst. When folded, src == 0, and GPU \p from
  /// sends as much to GPU 0.
  virtual void add_route(Route& route, int src, int dst, Bytes wire_bytes, int from) const = 0;
  virtual Seconds latency(int src, int dst) const = 0;  ///< the way between two different GPUs
  /// Whether there is a way from \p src to \p dst, two different GPUs, that is not the network's.
  virtual bool joins(int /*src*/, int /*dst*/) const { return true; }

  /// What goes between \p gpu and the vertex of NodeSpec::nic_at where a NIC is, and its latency. Only a wired
  /// topology is asked.
  virtual void add_to_nic(Route& route, int gpu, int vertex, Bytes wire_bytes) const;
  virtual void add_from_nic(Route& route, int gpu, int vertex, Bytes wire_bytes) const;
  virtual Seconds nic_latency(int gpu, int vertex) const;

  /// What goes between \p gpu and the memory of its nearest processor without that memory, what that memory
  /// reads or writes; latency of the way, and its rate one way. Only a wired topology with sockets is asked.
  virtual void add_to_host(Route& route, int gpu, Bytes bytes) const;
  virtual void add_from_host(Route& route, int gpu, Bytes bytes) const;
  virtual void add_host_memory(Route& route, int gpu, Bytes bytes) const;
  virtual Seconds host_latency(int gpu) const;
  virtual BytesPerSecond host_rate(int gpu) const;

  /// What the port of \p gpu sends to a switch that reads, adds or multicasts itself, and what it gets from
  /// there; gpu == 0 when folded. A topology without such a switch is never asked.
  virtual void add_to_switch(Route& route, int gpu, Bytes wire_bytes) const;
  virtual void add_from_switch(Route& route, int gpu, Bytes wire_bytes) const;
};

/// Adds the links of \p spec to \p layout. Folded: only routes from GPU 0 exist, and load what all GPUs
/// together load; wired nodes have no such representative.
std::unique_ptr<LinkSet> make_full_mesh(LinkLayout& layout, const NodeSpec& spec, bool folded);
std::unique_ptr<LinkSet> make_switched(LinkLayout& layout, const NodeSpec& spec, bool folded);
std::unique_ptr<LinkSet> make_wired(LinkLayout& layout, const NodeSpec& spec);

}}  // namespace c3::interconnect
