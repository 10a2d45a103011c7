#include "workloads/program/written_streams.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "workloads/program/program_builder.hpp"

namespace c3 { inline namespace workloads {
namespace {

/// Ranks that run an operation; empty: all of them.
std::vector<int> ranks_of(const WrittenOperation& operation, int ranks) {
  const auto* call = std::get_if<CollectiveCall>(&operation.work);
  if (call == nullptr || call->ranks.empty()) return operation.on;
  std::vector<int> members = members_of(*call, ranks);
  if (operation.on.empty()) return members;
  std::erase_if(members, [&](int rank) { return std::ranges::find(operation.on, rank) == operation.on.end(); });
  return members;
}

/// Writes streams into a program, one script after another.
class StreamWriter {
 public:
  explicit StreamWriter(const WrittenCommunicators& communicators) {
    for (const auto& [name, groups] : communicators)
      communicators_.emplace(name, builder_.communicator(name, groups));
  }

  void begin_script(const WrittenRanks& its) {
    builder_.begin_script(its.ranks, its.name);
    events_.clear();
  }

  void add(const std::vector<WrittenStream>& streams) {
    for (const WrittenStream& written : streams)
      builder_.stream(written.name);
    for (const WrittenStream& written : streams) {
      for (const WrittenOperation& operation : written.operations)
        note_record(operation);
    }
    for (const WrittenStream& written : streams) {
      for (const WrittenOperation& operation : written.operations)
        add(builder_.stream(written.name), operation);
    }
  }

  Program take(int ranks = 0) { return builder_.take(ranks); }

 private:
  void note_record(const WrittenOperation& operation) {
    const auto* record = std::get_if<WrittenRecord>(&operation.work);
    if (record != nullptr) event(record->event);
  }

  /// One that nobody records is waited for without end: a deadlock.
  EventId event(const std::string& name) {
    const auto found = events_.find(name);
    return found != events_.end() ? found->second : events_.emplace(name, builder_.event(name)).first->second;
  }

  CommunicatorId communicator(const std::string& name) const {
    const auto found = communicators_.find(name);
    if (found == communicators_.end()) throw std::logic_error("program_of: no communicator " + name);
    return found->second;
  }

  void add(ProgramBuilder::Stream stream, const WrittenOperation& operation) {
    builder_.set_range(operation.range);
    if (const auto* op = std::get_if<Operator>(&operation.work)) {
      builder_.kernel(stream, operation.name, *op);
    } else if (const auto* call = std::get_if<CollectiveCall>(&operation.work)) {
      builder_.collective(stream, operation.name, *call);
    } else if (const auto* kernel = std::get_if<TimedKernel>(&operation.work)) {
      builder_.timed(stream, operation.name, *kernel);
    } else if (const auto* exchange = std::get_if<WrittenExchange>(&operation.work)) {
      builder_.exchange(stream, operation.name, {communicator(exchange->over), exchange->messages});
    } else if (const auto* copy = std::get_if<HostCopy>(&operation.work)) {
      builder_.host_copy(stream, operation.name, *copy);
    } else if (const auto* record = std::get_if<WrittenRecord>(&operation.work)) {
      builder_.record(stream, event(record->event));
    } else {
      builder_.wait(stream, event(std::get<WrittenWait>(operation.work).event));
    }
  }

  ProgramBuilder builder_;
  std::map<std::string, EventId> events_;  ///< of this script
  std::map<std::string, CommunicatorId> communicators_;
};

/// Which of the operations that only some ranks run each rank runs: their numbers, counted over all streams.
using Parts = std::vector<std::vector<std::size_t>>;

Script restricted(const Script& whole, const std::vector<bool>& is_partial,
                  const std::vector<std::size_t>& parts) {
  Script script{.streams = {}, .events = whole.events};
  std::size_t number = 0;
  for (const std::vector<Operation>& operations : whole.streams) {
    std::vector<Operation>& kept = script.streams.emplace_back();
    for (const Operation& operation : operations) {
      if (!is_partial[number] || std::ranges::binary_search(parts, number)) kept.push_back(operation);
      ++number;
    }
  }
  return script;
}

}  // namespace

Program program_of(const std::vector<WrittenRanks>& written, const WrittenCommunicators& communicators,
                   int ranks) {
  StreamWriter writer(communicators);
  for (const WrittenRanks& its : written) {
    writer.begin_script(its);
    writer.add(its.streams);
  }
  return writer.take(ranks);
}

Program program_of(const std::vector<WrittenStream>& streams, int ranks,
                   const WrittenCommunicators& communicators) {
  StreamWriter writer(communicators);
  writer.add(streams);
  Program program = writer.take();
  Parts parts(static_cast<std::size_t>(ranks));
  std::vector<bool> is_partial;
  for (const WrittenStream& stream : streams) {
    for (const WrittenOperation& operation : stream.operations) {
      const std::vector<int> some = ranks_of(operation, ranks);
      for (const int rank : some)
        parts[static_cast<std::size_t>(rank)].push_back(is_partial.size());
      is_partial.push_back(!some.empty());
    }
  }
  if (std::ranges::adjacent_find(parts, std::not_equal_to()) == parts.end()) return program;
  const Script whole = std::exchange(program.scripts, {}).front();
  std::map<std::vector<std::size_t>, std::uint32_t> scripts;
  for (int rank = 0; rank < ranks; ++rank) {
    const auto& its = parts[static_cast<std::size_t>(rank)];
    const auto [script, is_new] = scripts.emplace(its, static_cast<std::uint32_t>(program.scripts.size()));
    if (is_new) program.scripts.push_back(restricted(whole, is_partial, its));
    if (program.ranks.empty() || program.ranks.back().script != script->second)
      program.ranks.push_back({rank, rank, script->second});
    program.ranks.back().end = rank + 1;
  }
  return program;
}

}}  // namespace c3::workloads
