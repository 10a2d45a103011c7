#include "workloads/training/step_program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace c3::inline workloads {

StepProgram::Stream StepProgram::stream(const std::string& name) {
  const auto found = std::ranges::find(streams_, name, &StreamSpec::name);
  if (found != streams_.end()) return static_cast<Stream>(found - streams_.begin());
  streams_.push_back({.name = name, .operations = {}});
  return streams_.size() - 1;
}

void StepProgram::begin_range(std::string name, HostPass pass) {
  range_ = std::move(name);
  pass_ = pass;
  memory_.set_moment(range_);
}

void StepProgram::launch(Stream stream, Operation operation, Seconds cost) {
  operation.range = range_;
  std::vector<Operation>& operations = streams_[stream].operations;
  host_.steps.push_back({.launches = OperationPlace{stream, operations.size()}, .cost = cost});
  operations.push_back(std::move(operation));
}

void StepProgram::kernel(Stream stream, const std::string& name, const Operator& op) {
  launch(stream, {.name = name, .work = op},
         pass_ == HostPass::forward ? framework_.forward_launch : framework_.backward_launch);
}

void StepProgram::collective(Stream stream, const std::string& name, CollectiveCall call) {
  launch(stream, {.name = name, .work = std::move(call)}, framework_.collective_launch);
}

std::string StepProgram::record(Stream stream, const std::string& name) {
  std::string event = fmt::format("{} {}", name, ++events_);
  launch(stream, {.name = event, .work = RecordEvent{event}}, framework_.event_launch);
  return event;
}

void StepProgram::wait(Stream stream, const std::string& event) {
  launch(stream, {.name = event, .work = WaitEvent{event}}, framework_.event_launch);
}

void StepProgram::host_wait(const std::string& event) { host_.steps.push_back({.waits_for = event}); }

void StepProgram::host_work(Seconds time) {
  if (time.value > 0.0) host_.steps.push_back({.cost = time});
}

HostProgram StepProgram::take_host() {
  host_.launch_queue = framework_.launch_queue;
  host_.hardware_queues = framework_.hardware_queues;
  return std::move(host_);
}

}  // namespace c3::workloads
