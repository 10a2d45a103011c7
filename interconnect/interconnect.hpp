#pragma once
/// The links of one node as solver resources.

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/fluid_system.hpp"
#include "interconnect/link_set.hpp"
#include "interconnect/spec.hpp"

namespace c3 {

/// Routes between the GPUs of a node. Streams share the links, or have private copies (a counterfactual).
/// Folded, only routes from rank 0 exist, and traffic is taken to be the same on every rank.
class Interconnect {
 public:
  struct Setup {
    std::vector<std::string> streams;  ///< names; one set of links each when private_links
    bool private_links = false;
    bool folded = false;
  };
  /// \p spec must outlive it. \throws InfeasibleError when a wired node is to be folded
  Interconnect(FluidSystem& fluid, const NodeSpec& spec, const Setup& setup);
  Interconnect(const Interconnect&) = delete;
  Interconnect& operator=(const Interconnect&) = delete;

  /// Appends what \p wire_bytes from \p src to \p dst take. Requires src != dst, both in [0, gpus); src == 0
  /// when folded.
  void add_route(std::vector<Demand>& demands, int stream, int src, int dst, Bytes wire_bytes) const;
  /// What the port of \p gpu sends to a switch that reads, adds or multicasts itself, and what it gets from
  /// there. Requires gpu in [0, gpus); 0 when folded. \throws InfeasibleError when GPUs are not joined by a
  /// switch
  void add_to_switch(std::vector<Demand>& demands, int stream, int gpu, Bytes wire_bytes) const;
  void add_from_switch(std::vector<Demand>& demands, int stream, int gpu, Bytes wire_bytes) const;

  Seconds latency(int src, int dst) const;  ///< of all hops of the route
  int gpus() const { return spec_.gpus; }
  const NodeSpec& spec() const { return spec_; }

 private:
  const LinkSet& links(int stream) const {
    return *links_[links_.size() > 1 ? static_cast<std::size_t>(stream) : 0];
  }
  const LinkSet& switch_links(int stream, int gpu) const;

  const NodeSpec& spec_;
  bool folded_;
  std::vector<std::unique_ptr<LinkSet>> links_;  ///< one, or one a stream when private
};

/// Directed rings over \p members (different GPUs of the node), no two using the same link in the same
/// direction. Each lists the members in order, from the first. Full mesh: as many as a deterministic search
/// finds, members - 1 being the most there can be (for 4 and 6 members 2 less than that; they leave the links
/// between opposite members idle). Switched: one ring in the order of the members, which fills every port.
/// Wired: every ring with its reverse, over links that join members directly. When there is none, one ring over
/// routes, from each member to the nearest that is left.
std::vector<std::vector<int>> disjoint_rings(const NodeSpec& spec, std::span<const int> members);

}  // namespace c3
