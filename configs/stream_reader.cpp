#include "configs/stream_reader.hpp"

#include "engine/errors.hpp"
#include "engine/interrupt.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace c3::inline configs {
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
  std::vector<std::string> recorded;
  const auto each = [&](auto visit) { for_each_written(streams, origins, visit); };
  each([&](const WrittenOperation& operation, const Origin& at, const std::string& where) {
    const auto* record = std::get_if<WrittenRecord>(&operation.work);
    if (record == nullptr) return;
    if (std::ranges::find(recorded, record->event) != recorded.end()) {
      throw ConfigError(at, where, fmt::format("event '{}' is recorded twice", record->event));
    }
    recorded.push_back(record->event);
  });
  each([&](const WrittenOperation& operation, const Origin& at, const std::string& where) {
    const auto* wait = std::get_if<WrittenWait>(&operation.work);
    if (wait == nullptr || std::ranges::find(recorded, wait->event) != recorded.end()) return;
    throw ConfigError(at, where, unknown_name("event", wait->event, recorded));
  });
}

/// Groups, roots and sizes of collectives, which depend on the number of ranks.
void check_groups(const WrittenOperation& operation, int ranks, const Origin& at, const std::string& where) {
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

}  // namespace

std::vector<WrittenStream> read_streams(Section& root, const std::optional<LayerInput>& layer, int ranks) {
  const OperationReader reader(layer);
  std::vector<WrittenStream> streams;
  std::vector<std::vector<Origin>> origins;
  for (Section& section : root.tables("stream", kMostStreams)) {
    PlacedStream placed = read_stream(section, reader, streams);
    streams.push_back(std::move(placed.stream));
    origins.push_back(std::move(placed.origins));
  }
  root.explain("stream", "operations that run one after another, beside those of other streams");
  check_events(streams, origins);
  if (!root.is_rehearsal()) {
    for_each_written(streams, origins, [&](const auto& operation, const Origin& at, const std::string& where) {
      check_groups(operation, ranks, at, where);
    });
  }
  const auto works = [](const WrittenOperation& operation) {
    return std::holds_alternative<Operator>(operation.work) ||
           std::holds_alternative<CollectiveCall>(operation.work);
  };
  if (std::ranges::none_of(streams,
                           [&](const WrittenStream& s) { return std::ranges::any_of(s.operations, works); })) {
    throw ConfigError(origins.front().front(), "stream",
                      "every operation is an event, so there is nothing to time");
  }
  return streams;
}

}  // namespace c3::configs
