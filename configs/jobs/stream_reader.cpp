#include "configs/jobs/stream_reader.hpp"

#include "engine/errors.hpp"
#include "engine/interrupt.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>

#include "configs/fields/operation_keys.hpp"
#include "configs/toml/rank_list.hpp"
#include "workloads/program/check_messages.hpp"

namespace c3 { inline namespace configs {
namespace {

constexpr std::size_t kMostStreams = 64;

/// A stream and where each of its operations is written.
struct PlacedStream {
  WrittenStream stream;
  std::vector<Origin> origins;
};

constexpr auto kStreamKeys = std::to_array<KeyText>({
    {"name", "the stream's name, by which strategies and results refer to it"},
    {"run", "operations in order: names of a layer's products, or tables with one key each"},
});

PlacedStream read_stream(Section& section, const OperationReader& reader,
                         const std::vector<WrittenStream>& earlier) {
  WrittenStream stream{.name = section.slug("name"), .operations = {}};
  if (std::ranges::find(earlier, stream.name, &WrittenStream::name) != earlier.end()) {
    section.fail("name", fmt::format("there are two streams '{}'", stream.name));
  }
  if (stream.name == "serial" || stream.name == "order" || stream.name == "hbm_arbitration") {
    section.fail("name", fmt::format("'{}' is a key of a strategy, choose another name", stream.name));
  }
  const Node& run = section.node("run", OperationReader::run_rule);
  section.explain(kStreamKeys);
  if (run.array() == nullptr) section.fail("run", "must be a list of operations");
  if (run.array()->empty()) section.fail("run", "is empty: a stream runs at least one operation");
  std::vector<Origin> origins;
  for (const Node& entry : *run.array()) {
    const std::string where = fmt::format("stream.{}.run[{}]", stream.name, stream.operations.size());
    checkpoint();  // there may be 100,000 of them
    stream.operations.push_back(reader.read(entry, where));
    origins.push_back(entry.origin);
  }
  section.finish();
  return {std::move(stream), std::move(origins)};
}

/// Calls \p visit with each operation, where it is written, and its dotted name.
template <class Visit>
void for_each_written(const std::vector<WrittenStream>& streams,
                      const std::vector<std::vector<Origin>>& origins, Visit visit) {
  for (std::size_t s = 0; s < streams.size(); ++s) {
    for (std::size_t i = 0; i < streams[s].operations.size(); ++i) {
      const std::string where = fmt::format("stream.{}.run[{}]", streams[s].name, i);
      visit(streams[s].operations[i], origins[s][i], where);
    }
  }
}

/// An event that nobody records would hang its stream; one recorded twice would be ambiguous.
void check_events(const std::vector<WrittenStream>& streams, const std::vector<std::vector<Origin>>& origins) {
  std::set<std::string, std::less<>> recorded;
  const auto for_each_operation = [&](auto visit) { for_each_written(streams, origins, visit); };
  for_each_operation([&](const WrittenOperation& operation, const Origin& at, const std::string& where) {
    const auto* record = std::get_if<WrittenRecord>(&operation.work);
    if (record == nullptr) return;
    if (!recorded.insert(record->event).second)
      throw ConfigError(at, where, fmt::format("event '{}' is recorded twice", record->event));
  });
  for_each_operation([&](const WrittenOperation& operation, const Origin& at, const std::string& where) {
    const auto* wait = std::get_if<WrittenWait>(&operation.work);
    if (wait == nullptr || recorded.contains(wait->event)) return;
    throw ConfigError(at, where,
                      unknown_name("event", wait->event, std::vector(recorded.begin(), recorded.end())));
  });
}

/// Groups, roots and sizes of collectives, which depend on the number of ranks.
void check_groups(const WrittenOperation& operation, int ranks, const WrittenCommunicators& communicators,
                  const Origin& at, const std::string& where) {
  if (const auto* exchange = std::get_if<WrittenExchange>(&operation.work)) {
    std::vector<std::string> known;
    for (const auto& [name, groups] : communicators)
      known.push_back(name);
    if (!communicators.contains(exchange->over))
      throw ConfigError(at, where, unknown_name("communicator", exchange->over, known));
  }
  for (const int rank : operation.on) {
    if (rank >= ranks) throw ConfigError(at, where, fmt::format("there is no rank {} of {}", rank, ranks));
  }
  const auto* call = std::get_if<CollectiveCall>(&operation.work);
  if (call == nullptr) return;
  try {
    const std::vector<int> members = members_of(*call, ranks);
    if (call->groups || any_takes_part(members, operation.on)) return;
  } catch (const InfeasibleError& error) {
    throw ConfigError(at, where, error.what());
  }
  throw ConfigError(at, where, fmt::format("{}: 'on' names no rank of the group", name_of(call->kind)));
}

bool works(const WrittenOperation& operation) {
  return !std::holds_alternative<WrittenRecord>(operation.work) &&
         !std::holds_alternative<WrittenWait>(operation.work);
}

/// The streams of one table.
std::vector<WrittenStream> read_streams(Section& table, const OperationReader& reader, int ranks,
                                        const WrittenCommunicators& communicators) {
  std::vector<WrittenStream> streams;
  std::vector<std::vector<Origin>> origins;
  for (Section& section : table.tables("stream", kMostStreams)) {
    PlacedStream placed = read_stream(section, reader, streams);
    streams.push_back(std::move(placed.stream));
    origins.push_back(std::move(placed.origins));
  }
  check_events(streams, origins);
  const auto has_work = [](const WrittenStream& stream) {
    return std::ranges::any_of(stream.operations, works);
  };
  if (std::ranges::none_of(streams, has_work))
    throw ConfigError(origins.front().front(), table.dotted("stream"),
                      "every operation is an event, so there is nothing to time");
  if (!table.is_rehearsal()) {
    for_each_written(streams, origins, [&](const auto& operation, const Origin& at, const std::string& where) {
      check_groups(operation, ranks, communicators, at, where);
    });
  }
  return streams;
}

constexpr auto kRootKeys = std::to_array<KeyText>({
    {"stream", "operations that run one after another, beside those of other streams"},
    {"ranks", "ranks with streams of their own, in place of [[stream]]"},
    {"communicator", "groups of ranks by name, within which messages go"},
});

constexpr auto kRanksKeys = std::to_array<KeyText>({
    {"name", "what these ranks are called"},
    {"ranks", "which they are: a list, or \"0-3,6\""},
    {"stream", "their streams, in order of definition"},
});

WrittenCommunicators read_communicators(Section& root, int ranks) {
  WrittenCommunicators communicators;
  if (!root.has("communicator")) return communicators;
  Section section = root.table("communicator");
  for (const ChosenKey& key : section.chosen_keys()) {
    Section entry = section.table(key.name);
    RankGroups groups{.size = static_cast<int>(entry.integer("size", 2, kMostRanks))};
    if (entry.has("stride")) groups.stride = static_cast<int>(entry.integer("stride", 1, kMostRanks));
    entry.explain(kGroupKeys);
    entry.finish();
    if (!entry.is_rehearsal() && ranks % groups.block() != 0)
      entry.fail("size", fmt::format("groups of {} ranks, {} apart, do not divide {} ranks", groups.size,
                                     groups.stride, ranks));
    communicators.emplace(key.name, groups);
    section.explain(key.name, "groups of ranks, by a name of your own");
  }
  return communicators;
}

/// Ranks with streams of their own.
std::vector<WrittenRanks> read_classes(Section& root, const OperationReader& reader, int ranks,
                                       const WrittenCommunicators& communicators) {
  constexpr std::size_t kMostClasses = 4096;
  std::vector<WrittenRanks> classes;
  std::vector<bool> is_taken(static_cast<std::size_t>(ranks));
  for (Section& section : root.tables("ranks", kMostClasses)) {
    WrittenRanks written{.name = section.slug("name"), .ranks = read_ranks(section, "ranks"), .streams = {}};
    for (const int rank : written.ranks) {
      if (section.is_rehearsal()) break;
      if (rank >= ranks) section.fail("ranks", fmt::format("there is no rank {} of {}", rank, ranks));
      if (is_taken[static_cast<std::size_t>(rank)])
        section.fail("ranks", fmt::format("rank {} is in two tables of [[ranks]]", rank));
      is_taken[static_cast<std::size_t>(rank)] = true;
    }
    written.streams = read_streams(section, reader, ranks, communicators);
    for (const WrittenStream& stream : written.streams) {
      if (std::ranges::any_of(stream.operations, [](const auto& operation) { return !operation.on.empty(); }))
        section.fail("stream", "`on` cannot be used in [[ranks]], whose `ranks` say who runs a stream");
    }
    section.explain(kRanksKeys);
    section.finish();
    classes.push_back(std::move(written));
  }
  return classes;
}

}  // namespace

Program read_streams(Section& root, const OperationReader& reader, int ranks) {
  const WrittenCommunicators communicators = read_communicators(root, ranks);
  const bool by_ranks = root.has("ranks");
  std::vector<WrittenRanks> written;
  if (!by_ranks || root.has("stream")) {
    if (by_ranks) root.refuse("ranks", "cannot be combined with [[stream]], which is of all ranks");
    written.push_back({{}, {}, read_streams(root, reader, ranks, communicators)});
  }
  if (by_ranks) {
    std::vector<WrittenRanks> classes = read_classes(root, reader, ranks, communicators);
    if (written.empty()) written = std::move(classes);
  }
  root.explain(kRootKeys);
  if (root.is_rehearsal()) return {};
  Program program = by_ranks ? program_of(written, communicators, ranks)
                             : program_of(written.front().streams, ranks, communicators);
  try {
    check_messages(program, ranks);
  } catch (const InfeasibleError& error) {
    root.fail(by_ranks ? "ranks" : "stream", error.what());
  }
  return program;
}

}}  // namespace c3::configs
