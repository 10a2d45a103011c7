#pragma once
/// A sampling method on a program whose whole time is known, as a line of the study.

#include <string>
#include <vector>

#include "studies/study.hpp"
#include "workloads/sampling/methods/method.hpp"
#include "workloads/sampling/trials.hpp"

namespace c3 { inline namespace studies {

/// A method at a bound, over kSamplingSeeds seeds.
struct MethodTrials {
  SamplePlan plan;
  TrialErrors errors;
};
MethodTrials try_method(const Invocations& invocations, std::string_view method, const SampleRequest& request);

/// The figure of \p id is \p value, with what else is known of the trials beside it.
StudyLine method_line(const PublishedFigures& published, const std::string& id, const std::string& label,
                      double value, const MethodTrials& trials);

/// Random invocations that take as long as the plan's.
MethodTrials random_at_equal_cost(const Invocations& invocations, const MethodTrials& trials,
                                  const SampleRequest& request);

}}  // namespace c3::studies
