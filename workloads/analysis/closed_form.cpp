#include "workloads/analysis/closed_form.hpp"

#include "workloads/analysis/closed_form_times.hpp"

namespace c3 { inline namespace workloads {
ClosedFormTime closed_form_time(const Experiment& experiment) {
  const Program& program = experiment.program;
  ClosedFormTimes times(experiment);
  ClosedFormTime longest;
  for (const Script& script : program.scripts) {
    ClosedFormTime its;
    std::vector<std::vector<Seconds>> lasts;
    for (const std::vector<Operation>& stream : script.streams) {
      std::vector<Seconds>& of_stream = lasts.emplace_back();
      for (const Operation& operation : stream) {
        of_stream.push_back(times.of(operation));
        (communicates(operation) ? its.communication : its.kernels) += of_stream.back();
      }
    }
    its.time = schedule(program, script, lasts).time;
    if (its.time >= longest.time) longest = its;
  }
  if (experiment.step && experiment.step->pipeline) {
    longest.bubble = experiment.step->pipeline->bubble_share;
    longest.time = longest.time * (1.0 / (1.0 - longest.bubble));
  }
  return longest;
}

}}  // namespace c3::workloads
