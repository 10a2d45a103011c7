#include "workloads/program/step_writer.hpp"

#include <utility>

namespace c3 { inline namespace workloads {

void StepWriter::begin(OperatorKind kind) {
  if (overheads_) owed_ += overheads_->between + (*overheads_).*kind;
}

void StepWriter::launch(OperationPlace place, Seconds cost) {
  has_streams_ =
      has_streams_ || (!thread_.steps.empty() && thread_.steps.front().launches->stream != place.stream);
  thread_.steps.push_back({.launches = place, .cost = std::exchange(owed_, Seconds{}) + cost});
}

void StepWriter::run(ProgramBuilder::Stream stream, const HostedOperator& op) {
  const OperatorOverheads costs = overheads_.value_or(OperatorOverheads{});
  if (op.kernels.empty()) {
    owed_ += costs.between + costs.between_launches;
    return;
  }
  begin(op.kind);
  for (std::size_t i = 0; i < op.kernels.size(); ++i) {
    const std::string name = i == 0 ? op.name : op.name + "." + std::to_string(i);
    launch(builder_.kernel(stream, name, op.kernels[i]),
           costs.launch + (i == 0 ? Seconds{} : costs.between_launches));
  }
  owed_ += costs.after;
}

void StepWriter::run(ProgramBuilder::Stream stream, const std::vector<HostedOperator>& ops) {
  for (const HostedOperator& op : ops)
    run(stream, op);
}

void StepWriter::copy(ProgramBuilder::Stream stream, std::string_view name, HostCopy copy, bool waits) {
  const OperatorOverheads costs = overheads_.value_or(OperatorOverheads{});
  begin(&OperatorOverheads::to);
  launch(builder_.host_copy(stream, name, copy), costs.launch);
  if (waits && overheads_) {
    const EventId copied = builder_.event(std::string(name) + " copied");
    launch(builder_.record(stream, copied), Seconds{});
    thread_.steps.push_back({.waits_for = copied});
  }
  owed_ += costs.after;
}

void StepWriter::collective(ProgramBuilder::Stream stream, std::string_view name, CollectiveCall call) {
  const OperatorOverheads costs = overheads_.value_or(OperatorOverheads{});
  begin(&OperatorOverheads::all_to_all);
  launch(builder_.collective(stream, name, std::move(call)), costs.launch);
  owed_ += costs.after;
}

void StepWriter::order(ProgramBuilder::Stream earlier, ProgramBuilder::Stream later, std::string_view event) {
  const EventId reached = builder_.event(event);
  launch(builder_.record(earlier, reached), Seconds{});
  launch(builder_.wait(later, reached), Seconds{});
}

void StepWriter::finish() {
  if (!overheads_ && !has_streams_) return;
  thread_.steps.push_back({.cost = std::exchange(owed_, Seconds{})});
  HostProgram host;
  host.threads.push_back(std::exchange(thread_, {}));
  builder_.set_host(std::move(host));
}

}}  // namespace c3::workloads
