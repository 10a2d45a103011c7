#include "workloads/sampling/recorded/recorded_kernels.hpp"

#include "workloads/traces/kernel_class.hpp"

namespace c3::inline sampling {

RecordedKernels recorded_kernels(const std::vector<Rank>& ranks) {
  constexpr double kPicosecond = 1e-12;
  RecordedKernels kernels;
  for (const Rank& rank : ranks) {
    for (const TraceEvent& event : rank.trace.activities) {
      if (event.kind != EventKind::kernel) continue;
      const std::string& name = rank.trace.name_of(event);
      const Seconds duration{static_cast<double>(event.duration.count) * kPicosecond};
      if (work_class(event.kind, name) == WorkClass::collective) {
        ++kernels.collectives;
        kernels.collective_time += duration;
      } else {
        kernels.invocations.add(name, duration);
      }
    }
  }
  return kernels;
}

}  // namespace c3::sampling
