#include "workloads/sampling/methods/all_together.hpp"

namespace c3 { inline namespace sampling {
namespace {

/// Any invocations, without replacement. Its bound is what the spread of all durations lets expect, with the
/// margin that all bounds have.
SamplePlan plan_random(const Invocations& invocations, const SampleRequest& request) {
  SamplePlan plan = plan_all_together(kRandom.name, DrawRule::without_replacement, invocations, request);
  plan.bound = *plan.expected_error() / kFilledBound;
  return plan;
}

}  // namespace

const SamplingMethod kRandom = {
    .name = "random", .about = "any invocations, whatever their kernel", .plan = plan_random};

}}  // namespace c3::sampling
