#include "studies/bert/whole_step.hpp"

#include "workloads/analysis/steady_state.hpp"

namespace c3 { inline namespace studies {

SimulationJob whole_step(const Experiment& step, WholeStepTimes& times) {
  return {.run =
              [&step] {
                const RunResult result = run_step(step, step.strategies.front(), {});
                const StepBreakdown& of = result.classes.front().times;
                return SimulatedTime{.time = result.time,
                                     .values = {of.communication.value, of.exposed.value, of.idle.value}};
              },
          .take =
              [&times](const SimulatedTime& found) {
                times = {.time = found.time.value(),
                         .communication = Seconds{found.values.at(0)},
                         .exposed = Seconds{found.values.at(1)},
                         .idle = Seconds{found.values.at(2)}};
              }};
}

}}  // namespace c3::studies
