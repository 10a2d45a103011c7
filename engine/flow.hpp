#pragma once
/// The one thing that shares resources: a flow.

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "engine/bound_law.hpp"
#include "engine/observer.hpp"

namespace c3 { inline namespace engine {

/// What a flow takes from one resource for its whole progress (0 to 1), in the resource's unit times seconds:
/// bytes of a bandwidth, CU-seconds of a CU count.
struct Demand {
  ResourceId resource = 0;
  double amount = 0.0;  ///< > 0
};

/// Adds \p amount of \p resource, merging it with a demand that is there already; nothing when amount is 0.
inline void add_demand(std::vector<Demand>& demands, ResourceId resource, double amount) {
  if (amount <= 0.0) return;
  for (Demand& demand : demands) {
    if (demand.resource != resource) continue;
    demand.amount += amount;
    return;
  }
  demands.push_back({resource, amount});
}

/// Priority of a flow at every resource it uses. 0 is served first.
using PriorityClass = std::uint8_t;
inline constexpr int kPriorityClasses = 4;

inline constexpr double kUnbounded = std::numeric_limits<double>::infinity();

/// Names a flow for as long as it is in flight; later it names nothing (never another flow).
struct FlowId {
  std::uint32_t index = 0;
  std::uint32_t generation = 0;
  friend bool operator==(FlowId, FlowId) = default;
};

/// Told when a flow or a timer ends. The tag is the caller's.
class Completion {
 public:
  Completion() = default;
  Completion(const Completion&) = delete;
  Completion& operator=(const Completion&) = delete;
  virtual void on_complete(std::uint64_t tag) = 0;

 protected:
  ~Completion() = default;
};

/// A flow's rate x' [1/s] is the largest that weighted max-min fairness gives it: all flows of a class rise
/// with a common level L, x' = min(bound, weight L), until a resource is full (sum of amount times rate =
/// capacity). Source: Bertsekas and Gallager, "Data Networks", 1992, section 6.5.2, with weights and bounds.
/// A flow that follows the speed of a domain states how by `laws`: the bound is then the least of its own and
/// of those (FluidSystem; FlowSolver looks at `bound` alone). Wrong when: hardware slows a flow below
/// saturation; then the caller lowers `bound` with load.
struct FlowSpec {
  std::span<const Demand> demands;  ///< copied; each resource at most once
  double bound = kUnbounded;        ///< largest rate [1/s], > 0; finite when there are no demands and no laws
  std::span<const BoundTerm> laws = {};  ///< copied
  double weight = 1.0;                   ///< > 0
  PriorityClass priority = 0;
  ActivityId activity = kNoActivity;  ///< for observers: what it carries
  ActivityId account = kNoActivity;   ///< for observers: whose bytes these are, where it carries nothing
};

}}  // namespace c3::engine
