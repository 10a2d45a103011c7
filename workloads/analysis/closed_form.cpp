#include "workloads/analysis/closed_form.hpp"

#include "workloads/analysis/closed_form_times.hpp"
#include "workloads/analysis/shorter_steps.hpp"
#include "workloads/analysis/step_outline.hpp"

namespace c3 { inline namespace workloads {
namespace {

/// Of the longest script, as if its stage never waited for another one.
ClosedFormTime busy_time(const Experiment& experiment) {
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
  return longest;
}

ClosedFormTime with_bubble(ClosedFormTime busy, const std::optional<PipelineFacts>& pipeline) {
  if (!pipeline) return busy;
  busy.bubble = pipeline->bubble_share;
  busy.time = busy.time * (1.0 / (1.0 - busy.bubble));
  return busy;
}

}  // namespace

ClosedFormTime closed_form_time(const Experiment& experiment) {
  return with_bubble(busy_time(experiment), experiment.step ? experiment.step->pipeline : std::nullopt);
}

ClosedFormTime closed_form_time(const Experiment& outline, const StepFacts& facts) {
  const Sizes sizes = micro_batches_of(*outline.family);
  const auto of = [&](std::int64_t micro_batches) {
    return busy_time(resized(outline, {outline.family->size().layers, micro_batches}));
  };
  if (outlined_micro_batches(outline) == sizes.whole) return with_bubble(of(sizes.whole), facts.pipeline);
  const ClosedFormTime few = of(sizes.of[0]), more = of(sizes.of[1]);
  const double beyond =
      static_cast<double>(sizes.whole - sizes.of[1]) / static_cast<double>(sizes.of[1] - sizes.of[0]);
  const auto whole = [&](auto member) { return more.*member + beyond * (more.*member - few.*member); };
  return with_bubble({.time = whole(&ClosedFormTime::time),
                      .kernels = whole(&ClosedFormTime::kernels),
                      .communication = whole(&ClosedFormTime::communication)},
                     facts.pipeline);
}

}}  // namespace c3::workloads
