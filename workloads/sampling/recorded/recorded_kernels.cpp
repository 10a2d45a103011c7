#include "workloads/sampling/recorded/recorded_kernels.hpp"

namespace c3 { inline namespace sampling {
namespace {

constexpr double kPicosecond = 1e-12;

void add(RecordedKernels& kernels, WorkClass work_class, const std::string& name, Seconds duration) {
  if (work_class == WorkClass::collective) {
    ++kernels.collectives;
    kernels.collective_time += duration;
  } else {
    kernels.invocations.add(name, duration);
  }
}

}  // namespace

RecordedKernels recorded_kernels(const std::vector<Rank>& ranks) {
  RecordedKernels kernels;
  for (const Rank& rank : ranks) {
    for (std::size_t i = 0; i < rank.classes.size(); ++i) {
      const TraceEvent& event = rank.trace.activities[i];
      if (event.kind != EventKind::kernel) continue;
      add(kernels, rank.classes[i], rank.trace.name_of(event),
          Seconds{static_cast<double>(event.duration.count) * kPicosecond});
    }
  }
  return kernels;
}

RecordedKernels recorded_kernels(const RecordedRun& run) {
  RecordedKernels kernels;
  for (const RecordedRank& rank : run.ranks) {
    for (const RecordedWork& work : rank.work) {
      if (!work.has_time || work.work_class == WorkClass::copy || work.work_class == WorkClass::memset)
        continue;
      add(kernels, work.work_class, run.text(work.name),
          Seconds{static_cast<double>(work.duration.count) * kPicosecond});
    }
  }
  return kernels;
}

}}  // namespace c3::sampling
