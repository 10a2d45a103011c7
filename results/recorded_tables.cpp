#include "results/recorded_tables.hpp"

#include <algorithm>

#include "engine/observer.hpp"
#include "files/io_error.hpp"
#include "results/hdf5_column.hpp"
#include "workloads/traces/replay/recorded_spans.hpp"

namespace c3 { inline namespace results {
namespace {

constexpr const char* kRecorded = "recorded";
constexpr const char* kWorkTable = "recorded/work";
constexpr const char* kRanksTable = "recorded/ranks";

void write_spans(const H5Id& group, const RecordedRun& run, NameTable& names) {
  Column<NameIndex> name(group, {"name", "1", "what ran"});
  Column<ActivityKind> kind(group, {"kind", "1", "kind of activity"});
  Column<std::int32_t> rank(group, {"rank", "1", "rank of the trace; recorded/ranks says who repeats it"});
  Column<std::int32_t> stream(group, {"stream", "1", "index of the stream in the experiment"});
  Column<std::int64_t> start(group, {"start", "ps", "recorded start, on the axis of activities/start"});
  Column<std::int64_t> last_start(
      group, {"last_start", "ps", "of a collective when the last of its recorded members came; else start"});
  Column<std::int64_t> end(group, {"end", "ps", "recorded end"});
  const std::vector<std::vector<RecordedSpan>> ranks = recorded_spans(run);
  for (std::size_t row = 0; row < ranks.size(); ++row) {
    for (const RecordedSpan& span : ranks[row]) {
      name.push(names.index(run.text(span.name)));
      kind.push(span.communicates ? ActivityKind::collective : ActivityKind::kernel);
      rank.push(run.ranks[row].number);
      stream.push(static_cast<std::int32_t>(span.stream));
      start.push(span.start.count);
      last_start.push(span.last_start.count);
      end.push(span.end.count);
    }
  }
  flush_all(name, kind, rank, stream, start, last_start, end);
}

}  // namespace

const std::vector<RecordedActivity>& RecordedTimeline::of(int gpu, int stream) const {
  static const std::vector<RecordedActivity> kNothing;
  if (gpu < 0 || gpu >= std::ssize(rank_of)) return kNothing;
  const auto found = streams.find({rank_of[static_cast<std::size_t>(gpu)], stream});
  return found == streams.end() ? kNothing : found->second;
}

std::int64_t RecordedTimeline::end() const {
  std::int64_t last = 0;
  for (const auto& [_, activities] : streams) {
    for (const RecordedActivity& activity : activities)
      last = std::max(last, activity.end);
  }
  return last;
}

void write_recorded(const H5Id& strategy, const PlacedRun& recording, NameTable& names) {
  const H5Id recorded = h5_create_group(strategy, kRecorded);
  const H5Id work = h5_create_group(recorded, "work");
  write_spans(work, recording.run, names);
  const H5Id ranks = h5_create_group(recorded, "ranks");
  Column<std::int32_t> rank(
      ranks, {"rank", "1", "by rank of the system: rank of the trace that it repeats, -1: none"});
  for (const std::uint32_t row : recording.roles)
    rank.push(row == kNoIndex ? -1 : recording.run.ranks[row].number);
  rank.flush();
}

std::optional<RecordedTimeline> read_recorded(const ResultReader& file, const std::string& strategy) {
  if (!file.has_table(strategy, kRecorded)) return std::nullopt;
  RecordedTimeline timeline;
  timeline.rank_of = file.table(strategy, kRanksTable).values<std::int64_t>("rank");
  const ResultTable work = file.table(strategy, kWorkTable);
  const auto& names = work.values<std::string>("name");
  const auto& kinds = work.values<std::string>("kind");
  const auto& ranks = work.values<std::int64_t>("rank");
  const auto& streams = work.values<std::int64_t>("stream");
  const auto& starts = work.values<std::int64_t>("start");
  const auto& last_starts = work.values<std::int64_t>("last_start");
  const auto& ends = work.values<std::int64_t>("end");
  for (std::size_t row = 0; row < work.rows(); ++row) {
    if (last_starts[row] < starts[row] || ends[row] < last_starts[row])
      throw IoError(file.path(), "read", "table 'recorded/work' has work that ends before it starts");
    timeline.streams[{ranks[row], streams[row]}].push_back(
        {names[row], kinds[row], starts[row], last_starts[row], ends[row]});
  }
  return timeline;
}

}}  // namespace c3::results
