#pragma once
/// The links of one topology as solver resources.

#include <memory>
#include <string>
#include <vector>

#include "engine/fluid_system.hpp"
#include "interconnect/spec.hpp"

namespace c3 {

/// What every topology must say: which resources a transfer takes.
class LinkSet {
 public:
  LinkSet() = default;
  LinkSet(const LinkSet&) = delete;
  LinkSet& operator=(const LinkSet&) = delete;
  virtual ~LinkSet() = default;

  /// Appends what \p wire_bytes from \p src to \p dst take; src != dst, and src == 0 when folded.
  virtual void add_route(std::vector<Demand>& demands, int src, int dst, Bytes wire_bytes) const = 0;
  virtual Seconds latency(int src, int dst) const = 0;  ///< of the way between two different GPUs

  /// What the port of \p gpu sends to a switch that reads, adds or multicasts itself, and what it gets from
  /// there; gpu == 0 when folded. A topology without such a switch is never asked.
  virtual void add_to_switch(std::vector<Demand>& demands, int gpu, Bytes wire_bytes) const;
  virtual void add_from_switch(std::vector<Demand>& demands, int gpu, Bytes wire_bytes) const;
};

/// Makes the links of \p spec. \p suffix ends every resource's name. Folded: only routes from rank 0 exist, and
/// load what all ranks together load; wired nodes have no such representative.
std::unique_ptr<LinkSet> make_full_mesh(FluidSystem& fluid, const NodeSpec& spec, bool folded,
                                        const std::string& suffix);
std::unique_ptr<LinkSet> make_switched(FluidSystem& fluid, const NodeSpec& spec, bool folded,
                                       const std::string& suffix);
std::unique_ptr<LinkSet> make_wired(FluidSystem& fluid, const NodeSpec& spec, const std::string& suffix);

}  // namespace c3
