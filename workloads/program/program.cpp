#include "workloads/program/program.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace c3 { inline namespace workloads {

const CollectiveCall* Program::call_of(const Operation& operation) const {
  const auto* join = std::get_if<JoinCall>(&operation.work);
  return join == nullptr ? nullptr : &calls[join->call].what;
}

std::uint32_t Program::script_number(int rank) const {
  if (ranks.empty()) return 0;
  const auto after = std::ranges::upper_bound(ranks, rank, {}, &RankSpan::begin);
  return std::prev(after)->script;
}

std::optional<std::size_t> Program::stream_named(const std::string& name) const {
  const auto found = std::ranges::find(streams, name);
  if (found == streams.end()) return std::nullopt;
  return static_cast<std::size_t>(found - streams.begin());
}

std::size_t Program::operations() const {
  std::size_t count = 0;
  for_each_operation(*this, [&](const Operation& /*each*/) { ++count; });
  return count;
}

StreamContent content_of(const Program& program, std::size_t stream) {
  StreamContent content;
  for (const Script& script : program.scripts) {
    for (const Operation& operation : script.streams[stream]) {
      content.any = true;
      content.kernels = content.kernels || computes(operation);
      content.collectives = content.collectives || communicates(operation);
    }
  }
  return content;
}

bool reaches_hosts(const Program& program) {
  bool reaches = false;
  for_each_operation(program, [&](const Operation& operation) {
    reaches = reaches || std::holds_alternative<HostCopy>(operation.work);
  });
  return reaches;
}

bool compares_streams(const Program& program) {
  bool kernels = false, collectives = false;
  for (std::size_t stream = 0; stream < program.streams.size(); ++stream) {
    const StreamContent content = content_of(program, stream);
    kernels = kernels || content.kernels;
    collectives = collectives || content.collectives;
  }
  return program.streams.size() > 1 && kernels != collectives;
}

bool sides_may_overlap(const Program& program) {
  std::set<std::size_t> streams;
  bool in_turn = false;
  for (const Script& script : program.scripts)
    for (std::size_t stream = 0; stream < script.streams.size(); ++stream)
      if (!script.streams[stream].empty()) streams.insert(stream);
  for_each_operation(program, [&](const Operation& operation) {
    in_turn = in_turn || operation.recorded || std::holds_alternative<Exchange>(operation.work);
  });
  return streams.size() > 1 && !in_turn;
}

namespace {

std::optional<OperationPlace> place_of_record(const Script& script, EventId event) {
  for (std::size_t s = 0; s < script.streams.size(); ++s) {
    for (std::size_t i = 0; i < script.streams[s].size(); ++i) {
      const auto* record = std::get_if<RecordEvent>(&script.streams[s][i].work);
      if (record != nullptr && record->event == event) return OperationPlace{s, i};
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<OperationPlace> producer_of(const Script& script, OperationPlace place) {
  bool followed = false;  // an event, of which one is enough
  while (place.operation > 0) {
    const Operation& before = script.streams[place.stream][--place.operation];
    if (kernel_of(before) != nullptr) return place;
    if (std::holds_alternative<RecordEvent>(before.work)) continue;
    const auto* wait = std::get_if<WaitEvent>(&before.work);
    if (wait == nullptr || std::exchange(followed, true)) return std::nullopt;
    const auto record = place_of_record(script, wait->event);
    if (!record) return std::nullopt;
    place = *record;
  }
  return std::nullopt;
}

}}  // namespace c3::workloads
