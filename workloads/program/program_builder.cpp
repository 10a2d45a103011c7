#include "workloads/program/program_builder.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "engine/random.hpp"

namespace c3 { inline namespace workloads {
namespace {

/// Scripts of one program are about as long as each other.
void reserve_like(const Script& before, Script& script) {
  for (std::size_t stream = 0; stream < before.streams.size(); ++stream)
    script.streams[stream].reserve(before.streams[stream].size());
  script.events.reserve(before.events.size());
}

}  // namespace

std::uint64_t DrawKeys::next(std::string_view stream, std::string_view name) {
  // A newline is in no name, so that no two triples make one text.
  const std::uint64_t names = stable_hash("\n", stable_hash(name, stable_hash("\n", stable_hash(stream))));
  const fmt::format_int before(occurrences_[names]++);
  return stable_hash({before.data(), before.size()}, names);
}

void ProgramBuilder::begin_script(const std::vector<int>& ranks, std::string_view name) {
  if (!script_of_.empty()) program_.scripts.push_back({});
  script().name = this->name(name);
  script().streams.resize(program_.streams.size());
  const auto number = static_cast<std::uint32_t>(program_.scripts.size() - 1);
  if (number > 0) reserve_like(program_.scripts[number - 1], script());
  for (const int rank : ranks)
    script_of_[rank] = number;
  draws_ = {};
  joined_.clear();
}

Program ProgramBuilder::take(int ranks) {
  if (std::ssize(script_of_) < ranks && !script_of_.empty()) {
    program_.scripts.push_back({});
    for (int rank = 0; rank < ranks; ++rank)
      script_of_.emplace(rank, static_cast<std::uint32_t>(program_.scripts.size() - 1));
  }
  for (Script& each : program_.scripts)
    each.streams.resize(program_.streams.size());
  for (const auto& [rank, script] : script_of_) {
    if (program_.ranks.empty() || program_.ranks.back().script != script)
      program_.ranks.push_back({rank, rank, script});
    program_.ranks.back().end = rank + 1;
  }
  return std::move(program_);
}

NameId ProgramBuilder::name(std::string_view text) {
  const auto known = names_.find(text);
  if (known != names_.end()) return known->second;
  const auto number = static_cast<NameId>(program_.names.size());
  names_.emplace(text, number);
  program_.names.emplace_back(text);
  return number;
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

EventId ProgramBuilder::event(std::string_view name, std::uint32_t number) {
  auto base = bases_.find(name);
  if (base == bases_.end()) base = bases_.emplace(name, bases_.size()).first;
  const auto [entry, is_new] = numbered_.try_emplace(base->second << 32 | number);
  if (is_new) entry->second = this->name(fmt::format("{} {}", name, number));
  script().events.push_back(entry->second);
  return static_cast<EventId>(script().events.size() - 1);
}

CommunicatorId ProgramBuilder::communicator(std::string_view name, RankGroups groups) {
  program_.communicators.push_back({this->name(name), groups});
  return static_cast<CommunicatorId>(program_.communicators.size() - 1);
}

OperationPlace ProgramBuilder::add(Stream stream, Operation operation) {
  operation.range = range_;
  std::vector<Operation>& operations = script().streams[stream];
  operations.push_back(std::move(operation));
  return {stream, operations.size() - 1};
}

OperationPlace ProgramBuilder::add_drawn(Stream stream, Operation operation) {
  operation.draw = draws_.next(program_.streams[stream], program_.names[operation.name]);
  return add(stream, std::move(operation));
}

OperationPlace ProgramBuilder::kernel(Stream stream, std::string_view name, const Operator& op) {
  return add_drawn(stream, {.work = op, .name = this->name(name)});
}

OperationPlace ProgramBuilder::timed(Stream stream, std::string_view name, const TimedKernel& kernel) {
  return add_drawn(stream, {.work = kernel, .name = this->name(name)});
}

CallId ProgramBuilder::call_number(Stream stream, const CollectiveCall& call) {
  const RankGroups groups = call.groups.value_or(RankGroups{});
  const Grouping grouping{groups.size, groups.stride, call.ranks};
  const std::size_t number = joined_[grouping]++;
  std::vector<std::vector<CallId>>& known = calls_[grouping];
  if (number == known.size()) known.emplace_back();
  const auto found = std::ranges::find_if(known[number], [&](CallId id) {
    return program_.calls[id].stream == stream && program_.calls[id].what == call;
  });
  if (found != known[number].end()) return *found;
  program_.calls.push_back({.what = call, .stream = stream});
  known[number].push_back(static_cast<CallId>(program_.calls.size() - 1));
  return known[number].back();
}

OperationPlace ProgramBuilder::collective(Stream stream, std::string_view name, CollectiveCall call) {
  const std::size_t before = program_.calls.size();
  const CallId number = call_number(stream, call);
  const OperationPlace place = add_drawn(stream, {.work = JoinCall{number}, .name = this->name(name)});
  if (program_.calls.size() > before) {
    const Operation& first = script().streams[place.stream][place.operation];
    program_.calls[number].name = first.name;
    program_.calls[number].draw = first.draw;
  }
  return place;
}

OperationPlace ProgramBuilder::exchange(Stream stream, std::string_view name, Exchange exchange) {
  return add_drawn(stream, {.work = std::move(exchange), .name = this->name(name)});
}

OperationPlace ProgramBuilder::host_copy(Stream stream, std::string_view name, HostCopy copy) {
  return add_drawn(stream, {.work = copy, .name = this->name(name)});
}

OperationPlace ProgramBuilder::record(Stream stream, EventId event) {
  return add(stream, {.work = RecordEvent{event}, .name = script().events[event]});
}

OperationPlace ProgramBuilder::wait(Stream stream, EventId event) {
  return add(stream, {.work = WaitEvent{event}, .name = script().events[event]});
}

}}  // namespace c3::workloads
