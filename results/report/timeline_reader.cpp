#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "files/io_error.hpp"
#include "results/recorded_tables.hpp"
#include "results/report/timeline.hpp"
#include "results/resource_steps.hpp"
#include "results/step_tables.hpp"

namespace c3 { inline namespace results {
namespace {

using Id = std::int64_t;

constexpr std::size_t kMostActivities = std::size_t{1} << 28U;  // a table by number is held: 2 GB

/// Rows of resources/steps from which on curves are coarsened.
constexpr std::uint64_t kManySteps = 2'000'000;

/// What is drawn, or is a part of nothing, with what its parts say of it.
struct Activity {
  Slice slice;
  int gpu = -1, stream = -1, engine = -1;
  Id parent = 0;
  Id first_part = 0;  ///< the part that started first
};

/// While any part of an activity runs. Work groups are most of a timeline: they are united as they come.
struct Parts {
  Id first = 0;
  std::int64_t running = 0;  ///< start of the first
  std::vector<Interval> busy;
  std::size_t united_at = 64;          ///< length from which on to unite
  std::vector<SlicePhase> named = {};  ///< parts of one name together, of the first few names

  void add(Id id, Interval part, const std::string& name) {
    add_named(part, name);
    if (busy.empty() || part.begin < running) {
      running = part.begin;
      first = id;
    }
    busy.push_back(part);
    if (busy.size() < united_at) return;
    busy = united(std::move(busy));
    united_at = 2 * busy.size() + united_at;
  }

  /// The parts as phases of \p slice, if they have names of their own.
  std::vector<SlicePhase> phases_of(const Slice& slice) {
    if (slice.kind != "kernel" || (named.size() == 1 && named.front().name == slice.name)) return {};
    return std::move(named);
  }

 private:
  void add_named(Interval part, const std::string& name) {
    constexpr std::size_t kMostNames = 16;
    const auto found = std::ranges::find(named, name, &SlicePhase::name);
    if (found != named.end()) {
      found->start = std::min(found->start, part.begin);
      found->end = std::max(found->end, part.end);
    } else if (named.size() < kMostNames) {
      named.push_back({name, part.begin, part.end});
    }
  }
};

struct Activities {
  std::unordered_map<Id, Activity> by_id;
  std::vector<Id> ids;             ///< ids in by_id, in order of end
  std::vector<Id> parents;         ///< indexed by id, for all activities; 0 for none
  std::vector<std::int64_t> ends;  ///< likewise [ps]

  Id parent_of(Id id) const { return of(parents, id); }
  std::int64_t end_of(Id id) const { return of(ends, id); }

 private:
  static std::int64_t of(const std::vector<std::int64_t>& column, Id id) {
    const auto place = static_cast<std::size_t>(id);  // a negative one is beyond, too
    return place < column.size() ? column[place] : 0;
  }
};

bool is_part(const std::string& kind) { return kind == "cohort" || kind == "channel" || kind == "transfer"; }
bool is_on_stream(const std::string& kind) {
  return kind == "kernel" || kind == "collective" || kind == "wait";
}

/// The rows of one block that are drawn, or a part of nothing; of the others who they are parts of.
void add_block(Activities& activities, std::unordered_map<Id, Parts>& parts, const ResultTable& table) {
  const auto& id = table.values<std::int64_t>("id");
  const auto& name = table.values<std::string>("name");
  const auto& kind = table.values<std::string>("kind");
  const auto& gpu = table.values<std::int64_t>("gpu");
  const auto& stream = table.values<std::int64_t>("stream");
  const auto& engine = table.values<std::int64_t>("engine");
  const auto& parent = table.values<std::int64_t>("parent");
  const auto& start = table.values<std::int64_t>("start");
  const auto& end = table.values<std::int64_t>("end");
  const auto& bytes = table.values<double>("bytes");
  const auto& flops = table.values<double>("flops");
  for (std::size_t row = 0; row < id.size(); ++row) {
    const auto place = static_cast<std::size_t>(id[row]);
    if (place > kMostActivities) throw IoError(table.path, "report", "activities have impossible numbers");
    if (place >= activities.parents.size()) {
      activities.parents.resize(place + kChunkRows, 0);
      activities.ends.resize(place + kChunkRows, 0);
    }
    activities.parents[place] = parent[row];
    activities.ends[place] = end[row];
    if (is_part(kind[row]) && parent[row] != 0)
      parts[parent[row]].add(id[row], {start[row], end[row]}, name[row]);
    if (parent[row] != 0 && !is_on_stream(kind[row]) && engine[row] < 0) continue;
    activities.ids.push_back(id[row]);
    activities.by_id[id[row]] = {.slice = {.name = name[row],
                                           .kind = kind[row],
                                           .start = start[row],
                                           .running = start[row],
                                           .end = end[row],
                                           .bytes = bytes[row],
                                           .flops = flops[row]},
                                 .gpu = static_cast<int>(gpu[row]),
                                 .stream = static_cast<int>(stream[row]),
                                 .engine = static_cast<int>(engine[row]),
                                 .parent = parent[row]};
  }
}

Activities read_activities(const ResultReader& file, const std::string& strategy) {
  Activities activities;
  std::unordered_map<Id, Parts> parts;
  TableBlocks blocks(file, strategy, "activities");
  while (const auto block = blocks.next())
    add_block(activities, parts, *block);
  for (auto& [id, activity] : activities.by_id) {
    auto& slice = activity.slice;
    const auto activity_parts = parts.find(id);
    if (activity_parts == parts.end()) {
      slice.busy = {{slice.start, slice.end}};
      continue;
    }
    slice.running = activity_parts->second.running;
    activity.first_part = activity_parts->second.first;
    slice.busy = united(std::move(activity_parts->second.busy));
    slice.phases = activity_parts->second.phases_of(slice);
  }
  return activities;
}

std::string reason(const std::string& kind, const std::string& predecessor) {
  if (kind == "slot") return "CU slots of " + predecessor;
  if (kind == "data") return "data of " + predecessor;
  if (kind == "event") return "event " + predecessor;
  return "the end of " + predecessor;
}

/// What released a slice, and what the first part of it waited for then, other than its own parts.
void join_dependencies(Activities& activities, const ResultTable& table) {
  const auto& successor = table.values<std::int64_t>("successor");
  const auto& predecessor = table.values<std::int64_t>("predecessor");
  const auto& kind = table.values<std::string>("kind");
  auto& by_id = activities.by_id;
  const auto whole = [&](Id id) {
    const auto found = by_id.find(id);
    if (found != by_id.end() && (found->second.parent == 0 || is_on_stream(found->second.slice.kind)))
      return found;  // what a kernel or collective is a part of is a range
    return by_id.find(activities.parent_of(id));
  };
  for (std::size_t row = 0; row < table.rows(); ++row) {
    if (kind[row] == "launch") continue;
    const auto waiting = whole(successor[row]);
    if (waiting == by_id.end()) continue;
    auto& [id, activity] = *waiting;
    if (successor[row] != id && successor[row] != activity.first_part) continue;
    const auto waited = whole(predecessor[row]);
    if (waited == by_id.end() || waiting == waited) continue;
    // Slots that were free before it was released did not hold it up.
    if (kind[row] == "slot" && activities.end_of(predecessor[row]) <= activity.slice.start) continue;
    auto& reasons = successor[row] == id ? activity.slice.released_by : activity.slice.waited_for;
    const auto text = reason(kind[row], waited->second.slice.name);
    if (std::ranges::find(reasons, text) == reasons.end()) reasons.push_back(text);
  }
}

/// A collective or message begins on all its ranks at once, when the last of them has come: those that came
/// before waited for that one.
void join_last_comers(Activities& activities) {
  std::map<std::pair<std::string_view, std::int64_t>, std::vector<Activity*>> meetings;
  for (const Id id : activities.ids) {
    Activity& activity = activities.by_id.at(id);
    if (activity.slice.kind == "collective" && activity.first_part != 0)
      meetings[{activity.slice.name, activity.slice.running}].push_back(&activity);
  }
  const auto start = [](const Activity* activity) { return activity->slice.start; };
  for (auto& [_, members] : meetings) {
    const std::int64_t last = start(*std::ranges::max_element(members, {}, start));
    const bool is_one = std::ranges::count(members, last, start) == 1;
    const Activity& comer = **std::ranges::find(members, last, start);
    const std::string reason = is_one ? fmt::format("rank {} to come", comer.gpu) : "other ranks to come";
    for (Activity* const member : members)
      if (start(member) < last) member->slice.waited_for.push_back(reason);
  }
}

GpuTimeline& gpu_of(std::map<int, GpuTimeline>& gpus, int rank) {
  auto& gpu = gpus[rank];
  gpu.rank = rank;
  return gpu;
}

void add_slice(std::vector<Lane>& lanes, int number, const std::string& label, Slice slice) {
  auto lane = std::ranges::find(lanes, number, &Lane::number);
  if (lane == lanes.end()) lane = lanes.insert(lanes.end(), {.number = number, .label = label, .slices = {}});
  lane->slices.push_back(std::move(slice));
}

void add_lanes(std::map<int, GpuTimeline>& gpus, Activities activities,
               const std::vector<std::string>& streams) {
  for (const auto id : activities.ids) {
    auto& activity = activities.by_id.at(id);
    auto& slice = activity.slice;
    if (is_on_stream(slice.kind) && activity.stream >= 0) {
      const auto stream = static_cast<std::size_t>(activity.stream);
      add_slice(gpu_of(gpus, activity.gpu).streams, activity.stream,
                stream < streams.size() ? streams[stream] : fmt::format("stream {}", stream), std::move(slice));
    } else if (slice.kind == "transfer" && activity.engine >= 0) {
      add_slice(gpu_of(gpus, activity.gpu).engines, activity.engine, fmt::format("engine {}", activity.engine),
                std::move(slice));
    }
  }
  for (auto& [_, gpu] : gpus) {
    for (auto* lanes : {&gpu.streams, &gpu.engines}) {
      std::ranges::sort(*lanes, {}, &Lane::number);
      for (auto& lane : *lanes) {
        std::ranges::stable_sort(lane.slices, {}, &Slice::start);
      }
    }
  }
}

/// Lays what was recorded beside what was simulated.
void add_recorded(StrategyTimeline& timeline, const RecordedTimeline& recorded) {
  timeline.recorded_end = recorded.end();
  for (GpuTimeline& gpu : timeline.gpus) {
    for (Lane& lane : gpu.streams) {
      for (const RecordedActivity& activity : recorded.of(gpu.rank, lane.number))
        lane.recorded.push_back({.name = activity.name,
                                 .kind = activity.kind,
                                 .start = activity.start,
                                 .running = activity.last_start,
                                 .end = activity.end,
                                 .busy = {{activity.last_start, activity.end}}});
    }
  }
}

/// A resource of an interconnect is one that is not named after a GPU. The limit on both directions of a link
/// together is no link of its own.
bool is_link(const std::string& name, const std::string& unit) {
  return unit == "B/s" && !name.starts_with("gpu") && !name.ends_with(".duplex");
}

/// Channels are drawn of the first GPU alone.
bool is_first(const std::map<int, GpuTimeline>& gpus, int rank) { return gpus.begin()->first == rank; }

/// Position of a member in one curve.
struct Membership {
  UseCurve* curve = nullptr;
  std::size_t member = 0;
};

/// For each resource, by its number: the curves that it is part of.
std::vector<std::vector<Membership>> memberships(const ResultTable& list, std::map<int, GpuTimeline>& gpus) {
  const auto& names = list.values<std::string>("name");
  const auto& units = list.values<std::string>("unit");
  const auto& ranks = list.values<std::int64_t>("gpu");
  const auto& capacities = list.values<double>("capacity");
  std::vector<std::vector<Membership>> found(names.size());
  for (auto& [rank, gpu] : gpus) {
    gpu.each_link.reserve(names.size());  // pointers to its elements are kept
    if (is_first(gpus, rank)) gpu.channels.reserve(names.size());
  }
  for (std::size_t row = 0; row < names.size(); ++row) {
    const auto gpu = gpus.find(static_cast<int>(ranks[row]));
    if (gpu == gpus.end() || !std::isfinite(capacities[row])) continue;
    const auto join = [&](UseCurve& curve) {
      found[row].push_back({&curve, curve.add_member(capacities[row])});
    };
    if (names[row].ends_with(".cus")) join(gpu->second.cus);
    if (names[row].ends_with(".hbm")) join(gpu->second.hbm);
    if (is_first(gpus, gpu->first) && names[row].find(".hbm.channel") != std::string::npos)
      join(gpu->second.channels.emplace_back(names[row].substr(names[row].rfind('.') + 1)));
    if (!is_link(names[row], units[row])) continue;
    join(gpu->second.links);
    join(gpu->second.each_link.emplace_back(names[row]));
  }
  return found;
}

/// A plot has some hundred bins: a hundredth of one is fine enough.
void coarsen(std::map<int, GpuTimeline>& gpus, std::int64_t time) {
  constexpr std::int64_t kSteps = std::int64_t{64} * 1024;
  for (auto& [_, gpu] : gpus) {
    for (UseCurve* const curve : {&gpu.cus, &gpu.hbm, &gpu.links})
      curve->coarsen(time / kSteps);
    for (UseCurve& link : gpu.each_link)
      link.coarsen(time / kSteps);
    for (UseCurve& channel : gpu.channels)
      channel.coarsen(time / kSteps);
  }
}

void add_use(std::map<int, GpuTimeline>& gpus, const ResultReader& file, const std::string& strategy) {
  const auto members = memberships(file.table(strategy, "resources/list"), gpus);
  if (file.rows(strategy, "resources/steps") > kManySteps) coarsen(gpus, recorded_picoseconds(file, strategy));
  each_resource_step(file, strategy, members.size(),
                     [&](std::size_t resource, std::int64_t time, double used, double capacity) {
                       for (const auto& [curve, member] : members[resource])
                         curve->step(member, time, used, capacity);
                     });
}

}  // namespace

StrategyTimeline read_timeline(const ResultReader& file, const std::string& strategy) {
  auto activities = read_activities(file, strategy);
  TableBlocks dependencies(file, strategy, "dependencies");
  while (const auto block = dependencies.next())
    join_dependencies(activities, *block);
  join_last_comers(activities);
  std::map<int, GpuTimeline> gpus;
  add_lanes(gpus, std::move(activities), file.streams());
  if (gpus.empty())
    throw IoError(file.path(), "report", "strategy '" + strategy + "' ran nothing on any stream");
  add_use(gpus, file, strategy);

  StrategyTimeline timeline{.time = recorded_picoseconds(file, strategy), .gpus = {}};
  for (auto& [_, gpu] : gpus)
    timeline.gpus.push_back(std::move(gpu));
  if (const auto recorded = read_recorded(file, strategy)) add_recorded(timeline, *recorded);
  return timeline;
}

}}  // namespace c3::results
