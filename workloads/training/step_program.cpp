#include "workloads/training/step_program.hpp"

#include <algorithm>
#include <utility>

namespace c3 { inline namespace workloads {

void StepProgram::begin_range(std::string name, HostPass pass) {
  range_ = std::move(name);
  pass_ = pass;
  if (content_ == StepContent::operations) builder_.set_range(range_);
  memory_.set_moment(range_);
}

void StepProgram::begin_graph() { graph_ = costs_.forward_launch; }

bool StepProgram::writes(Stream stream) {
  launched_.resize(std::max(launched_.size(), stream + 1));
  ++launched_[stream];
  return content_ == StepContent::operations;
}

void StepProgram::launch(OperationPlace place, Seconds cost) {
  if (graph_) cost = std::exchange(*graph_, Seconds{});
  host_.steps.push_back({.launches = place, .cost = cost});
}

void StepProgram::kernel(Stream stream, const std::string& name, const Operator& op) {
  if (writes(stream)) launch(builder_.kernel(stream, name, op), kernel_cost());
}

void StepProgram::timed(Stream stream, const std::string& name, const TimedKernel& kernel) {
  if (writes(stream)) launch(builder_.timed(stream, name, kernel), kernel_cost());
}

void StepProgram::host_launches(int count) { host_work(kernel_cost() * static_cast<double>(count)); }

void StepProgram::collective(Stream stream, const std::string& name, CollectiveCall call) {
  if (writes(stream)) launch(builder_.collective(stream, name, std::move(call)), costs_.collective_launch);
}

void StepProgram::exchange(Stream stream, const std::string& name, Exchange messages) {
  if (writes(stream)) launch(builder_.exchange(stream, name, std::move(messages)), costs_.collective_launch);
}

void StepProgram::host_copy(Stream stream, const std::string& name, HostCopy copy) {
  if (writes(stream)) launch(builder_.host_copy(stream, name, copy), kernel_cost());
}

EventId StepProgram::record(Stream stream, const std::string& name) {
  if (!writes(stream)) return {};
  const EventId event = builder_.event(name, ++events_);
  launch(builder_.record(stream, event), costs_.event);
  return event;
}

void StepProgram::wait(Stream stream, EventId event) {
  if (writes(stream)) launch(builder_.wait(stream, event), costs_.event);
}

void StepProgram::host_wait(EventId event) {
  if (content_ == StepContent::operations) host_.steps.push_back({.waits_for = event});
}

void StepProgram::host_work(Seconds time) {
  if (time.value > 0.0 && !graph_ && content_ == StepContent::operations) host_.steps.push_back({.cost = time});
}

void StepProgram::finish() {
  if (content_ == StepContent::memory) return;
  HostProgram host{.launch_queue = framework_.launch_queue, .hardware_queues = framework_.hardware_queues};
  host.stalls = stalls_;
  host.threads.push_back(std::move(host_));
  builder_.set_host(std::move(host));
}

}}  // namespace c3::workloads
