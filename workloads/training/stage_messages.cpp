#include "workloads/training/stage_messages.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace c3 { inline namespace workloads {

StageMessages::StageMessages(const PipelineSetup& setup, const PipelineSchedule& schedule, int stage,
                             BoundaryTensor tensor, StepCommunicators over, StepProgram& program)
    : setup_(setup),
      schedule_(schedule),
      stage_(stage),
      tensor_(std::move(tensor)),
      over_(over),
      program_(program),
      compute_(program.stream("compute")),
      steady_to_(tasks().size()) {
  if (setup.messages != PipelineMessages::steady) return;
  const auto is = [](PipelinePass pass) {
    return [pass](const PipelineTask& task) { return task.pass == pass; };
  };
  const auto backward = std::ranges::find_if(tasks(), is(PipelinePass::backward));
  const auto forward = std::find_if(tasks().rbegin(), tasks().rend(), is(PipelinePass::forward));
  // The forward pass before the first backward pass is one of a pair, and so is the backward pass after the
  // last forward pass.
  steady_from_ = static_cast<std::size_t>(backward - tasks().begin()) - 1;
  steady_to_ = static_cast<std::size_t>(tasks().rend() - forward) + 1;
}

bool StageMessages::overlaps(std::size_t number) const { return number >= steady_from_ && number < steady_to_; }

std::optional<StageMessages::Link> StageMessages::link(ChunkPlace own, std::optional<ChunkPlace> other,
                                                       bool other_is_first) const {
  if (!other || other->stage == own.stage) return std::nullopt;
  const ChunkPlace first = other_is_first ? *other : own;
  return Link{other->stage, first.stage, schedule_.path != ChunkPath::loop && first.chunk == 1};
}

std::optional<StageMessages::Link> StageMessages::source_of(const PipelineTask& task) const {
  const ChunkPlace own{stage_, task.chunk};
  if (task.pass == PipelinePass::forward) return link(own, schedule_.before(own), true);
  if (task.pass == PipelinePass::backward) return link(own, schedule_.after(own), false);
  return std::nullopt;
}

std::optional<StageMessages::Link> StageMessages::target_of(const PipelineTask& task) const {
  const ChunkPlace own{stage_, task.chunk};
  if (task.pass == PipelinePass::forward) return link(own, schedule_.after(own), false);
  if (task.pass == PipelinePass::backward) return link(own, schedule_.before(own), true);
  return std::nullopt;
}

Message StageMessages::message(const Link& link, bool sends) const {
  return {.offset = link.peer - stage_, .bytes = message_bytes(), .sends = sends};
}

// Neighbouring links differ; where the number of stages is odd, so does the one from the last stage to the
// first.
std::string StageMessages::stream_name(PipelinePass pass, const Link& link) const {
  const bool closes_odd = schedule_.stages() % 2 == 1 && link.number + 1 == schedule_.stages();
  return fmt::format("pipeline_{}_{}{}", pass == PipelinePass::forward ? "forward" : "backward",
                     closes_odd ? 2 : link.number % 2, link.returns ? "_back" : "");
}

std::size_t StageMessages::next_with_messages(std::size_t number) const {
  while (number < tasks().size() && tasks()[number].pass == PipelinePass::weights)
    ++number;
  return number;
}

StageMessages::Tensor StageMessages::hold(const char* name, Bytes bytes) {
  return program_.memory().allocate(compute_, MemoryClass::communication, name, bytes);
}

void StageMessages::before(std::size_t number) {
  if (tasks()[number].pass == PipelinePass::weights) return;
  if (is_batched()) {
    if (number == received_to_) launch_batch(number);
    wait_for_batch();
    gather(number);
    return;
  }
  receive(number);
  if (overlaps(number)) receive(next_with_messages(number + 1));
  wait_for_sends();
  const auto received = received_.find(number);
  if (received == received_.end()) return;
  if (!received->second.event) record_on(received->second.stream);
  program_.wait(compute_, received->second.event.value());
  gather(number);
}

void StageMessages::wait_for_sends() {
  if (const auto stream = std::exchange(awaited_, std::nullopt)) program_.order(*stream, compute_, "sent");
}

// What was received is a part of what the task needs.
void StageMessages::gather(std::size_t number) {
  if (!setup_.scatter_gather) return;
  const auto received = received_.find(number);
  if (received == received_.end()) return;
  const Tensor whole = hold("received", tensor_.bytes);
  const StepProgram::Stream stream = program_.stream("pipeline_gather");
  program_.order(compute_, stream, "parts received");
  program_.collective(stream, "pipeline all_gather", tensor_.gather);
  program_.order(stream, compute_, "parts gathered");
  program_.memory().release(std::exchange(received->second.buffer, whole));
}

void StageMessages::after(std::size_t number) {
  const PipelineTask& task = tasks()[number];
  if (const auto received = received_.find(number); received != received_.end()) {
    program_.memory().release(received->second.buffer);
    received_.erase(received);
  }
  if (task.pass == PipelinePass::weights) return;
  const std::optional<Link> target = target_of(task);
  if (!is_batched()) {
    if (target) send(task);
    if (target && !overlaps(number)) awaited_ = program_.stream(stream_name(task.pass, *target));
    return;
  }
  if (target) {
    outputs_.push_back(hold("sent", tensor_.bytes));
    batch_.emplace_back(message(*target, true),
                        fmt::format("{} to stage {}", text_of(task, schedule_.chunks), target->peer));
  }
  const bool goes_on = number + 1 < tasks().size() && tasks()[number + 1].with_before;
  if (!goes_on) launch_batch(next_with_messages(number + 1));
}

/// Messages that have gathered, and the receives of the tasks that go together from \p next on.
void StageMessages::launch_batch(std::size_t next) {
  for (std::size_t number = next; number >= received_to_ && number < tasks().size(); ++number) {
    const PipelineTask& task = tasks()[number];
    if (number > next && !task.with_before) break;
    received_to_ = number + 1;
    const std::optional<Link> source = source_of(task);
    if (!source) continue;
    received_.emplace(number, Received{hold("received", message_bytes()), compute_, std::nullopt});
    batch_.emplace_back(message(*source, false),
                        fmt::format("{} from stage {}", text_of(task, schedule_.chunks), source->peer));
  }
  if (batch_.empty()) return;
  const StepProgram::Stream stream = program_.stream("pipeline");
  Exchange exchange{.communicator = over_.activations, .messages = {}};
  std::string name;
  for (const auto& [message, what] : batch_) {
    exchange.messages.push_back(message);
    name += (name.empty() ? "" : ", ") + what;
  }
  batch_.clear();
  program_.order(compute_, stream, "passes ended");
  program_.exchange(stream, name, std::move(exchange));
  is_batch_under_way_ = true;
}

void StageMessages::wait_for_batch() {
  if (!std::exchange(is_batch_under_way_, false)) return;
  program_.order(program_.stream("pipeline"), compute_, "messages ended");
  for (const Tensor output : std::exchange(outputs_, {}))
    program_.memory().release(output);
}

void StageMessages::receive(std::size_t number) {
  if (number < received_to_ || number >= tasks().size()) return;
  received_to_ = number + 1;
  const PipelineTask& task = tasks()[number];
  const std::optional<Link> source = source_of(task);
  if (!source) return;
  const StepProgram::Stream stream = program_.stream(stream_name(task.pass, *source));
  record_on(stream);
  const Tensor buffer = hold("received", message_bytes());
  const bool is_forward = task.pass == PipelinePass::forward;
  program_.exchange(stream, fmt::format("{} from stage {}", text_of(task, schedule_.chunks), source->peer),
                    {.communicator = is_forward ? over_.activations : over_.gradients,
                     .messages = {message(*source, false)}});
  received_.emplace(number, Received{buffer, stream, std::nullopt});
}

/// Records an event behind the receive that was launched last on \p stream.
void StageMessages::record_on(StepProgram::Stream stream) {
  for (auto& [number, message] : received_) {
    if (message.stream == stream && !message.event) message.event = program_.record(stream, "received");
  }
}

void StageMessages::send(const PipelineTask& task) {
  if (const auto before = leaving_.find(task.pass); before != leaving_.end())
    program_.memory().release(before->second);
  const Link target = target_of(task).value();
  const StepProgram::Stream stream = program_.stream(stream_name(task.pass, target));
  const Tensor output = hold("sent", tensor_.bytes);
  const bool is_forward = task.pass == PipelinePass::forward;
  program_.order(compute_, stream, "pass ended");
  program_.exchange(
      stream, fmt::format("{} to stage {}", text_of(task, schedule_.chunks), target.peer),
      {.communicator = is_forward ? over_.activations : over_.gradients, .messages = {message(target, true)}});
  leaving_[task.pass] = output;
  sends_on_.insert(stream);
}

void StageMessages::end() {
  wait_for_batch();
  for (const StepProgram::Stream stream : sends_on_)
    program_.order(stream, compute_, "sent");
  for (const auto& [pass, output] : leaving_)
    program_.memory().release(output);
  leaving_.clear();
}

}}  // namespace c3::workloads
