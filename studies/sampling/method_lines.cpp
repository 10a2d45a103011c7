#include "studies/sampling/method_lines.hpp"

#include <algorithm>
#include <cmath>

#include "studies/sampling/parts.hpp"

namespace c3 { inline namespace studies {
namespace {

constexpr double kPercent = 100.0;

}  // namespace

MethodTrials try_method(const Invocations& invocations, std::string_view method, const SampleRequest& request) {
  MethodTrials trials{.plan = sampling_method(method).plan(invocations, request), .errors = {}};
  trials.errors = try_seeds(trials.plan, kSamplingSeeds);
  return trials;
}

StudyLine method_line(const PublishedFigures& published, const std::string& id, const std::string& label,
                      double value, const MethodTrials& trials) {
  StudyLine line{.figure = {.of = published.find(id)}, .label = label};
  line.figure.simulated = value;
  line.rows = trials.plan.invocations();
  line.beside = {{"clusters [count]", static_cast<double>(trials.plan.clusters.size())},
                 {"samples [count]", static_cast<double>(trials.plan.samples())},
                 {"speedup [times]", trials.errors.speedup},
                 {"mean error [%]", kPercent * trials.errors.mean},
                 {"p95 [%]", kPercent * trials.errors.p95}};
  return line;
}

MethodTrials random_at_equal_cost(const Invocations& invocations, const MethodTrials& trials,
                                  const SampleRequest& request) {
  const Seconds mean = invocations.total() / static_cast<double>(invocations.size());
  SampleRequest equal = request;
  equal.samples = static_cast<std::size_t>(std::max(1.0, std::round(trials.plan.expected_cost() / mean)));
  return try_method(invocations, "random", equal);
}

}}  // namespace c3::studies
