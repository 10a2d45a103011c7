#include "workloads/sampling/methods/all_together.hpp"

namespace c3 { inline namespace sampling {
namespace {

/// A simulation that is cut off: the first invocations of the program stand for all. No bound.
SamplePlan plan_first(const Invocations& invocations, const SampleRequest& request) {
  return plan_all_together(kFirst.name, DrawRule::first, invocations, request);
}

}  // namespace

const SamplingMethod kFirst = {
    .name = "first", .about = "the program's first invocations: a simulation cut off", .plan = plan_first};

}}  // namespace c3::sampling
