#pragma once
/// The links of one node as solver resources.

#include <memory>
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
  /// \p spec must outlive it.
  Interconnect(FluidSystem& fluid, const NodeSpec& spec, const Setup& setup);
  Interconnect(const Interconnect&) = delete;
  Interconnect& operator=(const Interconnect&) = delete;

  /// Appends what \p wire_bytes from \p src to \p dst take. Requires src != dst, both in [0, gpus); src == 0
  /// when folded.
  void add_route(std::vector<Demand>& demands, int stream, int src, int dst, Bytes wire_bytes) const;
  Seconds latency(int src, int dst) const;
  int gpus() const { return spec_.gpus; }
  const NodeSpec& spec() const { return spec_; }

 private:
  const NodeSpec& spec_;
  bool folded_;
  std::vector<std::unique_ptr<LinkSet>> links_;  ///< one, or one a stream when private
};

/// Directed rings over all GPUs of a full mesh, no two using the same link in the same direction; as many as a
/// deterministic search finds, gpus - 1 being the most there can be (for 4 and 6 GPUs gpus - 2; they leave the
/// links between opposite GPUs idle). Each ring lists the ranks in order, from rank 0.
std::vector<std::vector<int>> disjoint_rings(const NodeSpec& spec);

}  // namespace c3
