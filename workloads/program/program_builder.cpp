#include "workloads/program/program_builder.hpp"

#include <fmt/format.h>

#include "engine/random.hpp"

namespace c3::inline workloads {

std::uint64_t DrawKeys::next(std::string_view stream, std::string_view name) {
  const int before = occurrences_[{std::string(stream), std::string(name)}]++;
  // A newline is in no name, so that no two triples make one text.
  return stable_hash(fmt::format("{}\n{}\n{}", stream, name, before));
}

NameId ProgramBuilder::name(std::string_view text) {
  const auto [entry, is_new] = names_.emplace(text, static_cast<NameId>(program_.names.size()));
  if (is_new) program_.names.emplace_back(text);
  return entry->second;
}

ProgramBuilder::Stream ProgramBuilder::stream(std::string_view name) {
  if (const auto known = program_.stream_named(std::string(name))) return *known;
  program_.streams.emplace_back(name);
  script().streams.emplace_back();
  return program_.streams.size() - 1;
}

EventId ProgramBuilder::event(std::string_view name) {
  script().events.push_back(this->name(name));
  return static_cast<EventId>(script().events.size() - 1);
}

OperationPlace ProgramBuilder::add(Stream stream, Operation operation) {
  operation.range = range_;
  operation.draw = draws_.next(program_.streams[stream], program_.names[operation.name]);
  if (const auto* join = std::get_if<JoinCall>(&operation.work)) {
    Call& call = program_.calls[join->call];
    call.name = operation.name;
    call.stream = stream;
    call.draw = operation.draw;
  }
  std::vector<Operation>& operations = script().streams[stream];
  operations.push_back(std::move(operation));
  return {stream, operations.size() - 1};
}

OperationPlace ProgramBuilder::kernel(Stream stream, std::string_view name, const Operator& op) {
  return add(stream, {.work = op, .name = this->name(name)});
}

OperationPlace ProgramBuilder::collective(Stream stream, std::string_view name, CollectiveCall call) {
  program_.calls.push_back({.what = std::move(call)});
  const auto number = static_cast<CallId>(program_.calls.size() - 1);
  return add(stream, {.work = JoinCall{number}, .name = this->name(name)});
}

OperationPlace ProgramBuilder::record(Stream stream, EventId event) {
  return add(stream, {.work = RecordEvent{event}, .name = script().events[event]});
}

OperationPlace ProgramBuilder::wait(Stream stream, EventId event) {
  return add(stream, {.work = WaitEvent{event}, .name = script().events[event]});
}

}  // namespace c3::workloads
