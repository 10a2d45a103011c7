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
};

/// Makes the links of \p spec. \p suffix ends every resource's name. Folded: only routes from rank 0 exist, and
/// load what all ranks together load.
std::unique_ptr<LinkSet> make_full_mesh(FluidSystem& fluid, const NodeSpec& spec, bool folded,
                                        const std::string& suffix);
std::unique_ptr<LinkSet> make_switched(FluidSystem& fluid, const NodeSpec& spec, bool folded,
                                       const std::string& suffix);

}  // namespace c3
