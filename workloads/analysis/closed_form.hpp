#pragma once
/// How long a step takes by closed form, without simulating it.

#include "workloads/analysis/isolated_schedule.hpp"
#include "workloads/experiment.hpp"

namespace c3 { inline namespace workloads {

/// A step by closed form, of the ranks with most to do.
struct ClosedFormTime {
  Seconds time;           ///< of the step
  Seconds kernels;        ///< of their kernels alone, added up
  Seconds communication;  ///< of their collectives alone, added up
  double bubble = 0.0;    ///< share of the step that the pipeline's schedule alone leaves idle
};

/// Kernels and collectives last as long as ClosedFormTimes says that they take alone, messages nothing;
/// operations begin when their stream and the events for which they wait allow it (schedule()). Of a pipeline,
/// the longest script is divided by the share of the time in which its schedule alone lets a GPU work. Wrong
/// when: operations that run at the same time slow each other, hosts are late, stages are unlike or messages
/// are exposed: all of them take longer, as does a collective that is late because one of its members is.
/// \throws InfeasibleError as describe() does
ClosedFormTime closed_form_time(const Experiment& experiment);

/// The same of the whole of \p facts whose \p outline ExperimentFile::outline() is, from few micro-batches and
/// some more: each further one takes as long.
ClosedFormTime closed_form_time(const Experiment& outline, const StepFacts& facts);

}}  // namespace c3::workloads
