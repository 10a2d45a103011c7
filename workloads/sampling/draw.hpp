#pragma once
/// Invocations drawn by a plan, and the time of the whole program that follows from theirs.

#include <cstdint>
#include <vector>

#include "workloads/sampling/plan.hpp"

namespace c3 { inline namespace sampling {

struct ChosenInvocation {
  std::uint32_t invocation = 0;
  std::uint32_t cluster = 0;  ///< position in the plan
  Seconds duration;
  double weight = 1.0;  ///< how many invocations of the program it stands for
};

struct DrawnSample {
  /// Each invocation once, in the order in which they ran.
  std::vector<ChosenInvocation> chosen;
  Seconds estimate;  ///< of the whole program: the sum of weight x duration
  Seconds cost;      ///< the time that was, or would be, simulated

  /// |estimate - total| / total.
  double error(Seconds total) const;
  /// Time of the program over the time simulated.
  double speedup(Seconds total) const { return total / cost; }
};

/// \param seed another one draws other invocations; which ones a cluster draws depends on its own kernel and
/// members only
DrawnSample draw(const SamplePlan& plan, std::uint64_t seed);

}}  // namespace c3::sampling
