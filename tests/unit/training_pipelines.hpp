#pragma once
/// Small training steps in stages of a pipeline, and what each stage has on its streams.

#include <string>
#include <vector>

#include "tests/unit/training_setups.hpp"

namespace c3::test {

/// Chunks where the schedule has them, and messages as it has them by default.
inline TrainingSetup pipelined(TrainingSetup setup, int stages, std::int64_t micro_batches,
                               ScheduleKind schedule = ScheduleKind::one_f_one_b) {
  setup.sharding = Sharding::none;
  setup.micro_batches = micro_batches;
  setup.pipeline.stages = stages;
  setup.pipeline.schedule = schedule;
  if (schedule == ScheduleKind::interleaved || schedule == ScheduleKind::zb_v) {
    setup.pipeline.virtual_stages = 2;
    setup.pipeline.messages = PipelineMessages::overlapped;
  }
  if (schedule == ScheduleKind::dualpipe) setup.pipeline.messages = PipelineMessages::overlapped;
  return setup;
}

inline const std::vector<Operation>& stream_of(const WrittenStep& step, std::size_t stage,
                                               const std::string& stream) {
  static const std::vector<Operation> none;
  const auto number = step.program.stream_named(stream);
  return number ? step.program.scripts[stage].streams[*number] : none;
}

inline std::vector<std::string> exchanges_of(const WrittenStep& step, std::size_t stage,
                                             const std::string& stream) {
  std::vector<std::string> names;
  for (const Operation& operation : stream_of(step, stage, stream))
    if (std::holds_alternative<Exchange>(operation.work)) names.push_back(step.program.name_of(operation));
  return names;
}

/// Bytes that a rank of \p stage sends over the communicator called \p over.
inline Bytes sent_by(const WrittenStep& step, std::size_t stage, const std::string& over) {
  Bytes sum;
  for_each_operation(step.program.scripts[stage], [&](const Operation& operation) {
    const auto* exchange = std::get_if<Exchange>(&operation.work);
    if (exchange == nullptr) return;
    if (step.program.names[step.program.communicators[exchange->communicator].name] != over) return;
    for (const Message& message : exchange->messages)
      if (message.sends) sum += message.bytes;
  });
  return sum;
}

}  // namespace c3::test
