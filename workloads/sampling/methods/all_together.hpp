#pragma once
/// Plans that take all kernels as one cluster.

#include "workloads/sampling/methods/method.hpp"

namespace c3 { inline namespace sampling {

/// One cluster of all \p invocations, sorted by duration, with SampleRequest::samples draws, or as many as the
/// error takes. Its kernel has no name, and the plan no bound.
SamplePlan plan_all_together(std::string_view method, DrawRule draws, const Invocations& invocations,
                             const SampleRequest& request);

}}  // namespace c3::sampling
