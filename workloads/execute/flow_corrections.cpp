#include "workloads/execute/flow_corrections.hpp"

#include <algorithm>
#include <utility>

namespace c3 { inline namespace workloads {

double FlowCorrections::of(const GpuSpec& gpu, const Place& place, NameId name, const Operator& op,
                           const KernelDescription& kernel) {
  auto at = std::ranges::find(found_, place, &At::place);
  if (at == found_.end()) at = found_.insert(at, {place, {}});
  return at->corrections.of(name, op, [&] { return cohorts_over_flow(gpu, kernel, place.range); });
}

std::shared_ptr<FlowCorrections> corrections_for(const Experiment& experiment,
                                                 std::shared_ptr<FlowCorrections> given) {
  const Measure& measure = experiment.measure;
  const bool is_automatic =
      measure.kernel_grain == KernelGrain::automatic || measure.vector_grain == KernelGrain::automatic;
  const bool is_estimated = experiment.family && measure.estimate == Estimator::steady;
  if (!is_automatic || !is_estimated || measure.memory_grain == MemoryGrain::channels) return nullptr;
  return given ? std::move(given) : std::make_shared<FlowCorrections>();
}

}}  // namespace c3::workloads
