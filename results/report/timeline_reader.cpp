#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_map>
#include <utility>

#include "results/io_error.hpp"
#include "results/report/timeline.hpp"
#include "results/step_tables.hpp"

namespace c3 {
namespace {

using Id = std::int64_t;

/// Rows of activities, by id, with what their parts say of them.
struct Activity {
  Slice slice;
  int gpu = -1, stream = -1, engine = -1;
  Id parent = 0;
  Id first_part = 0;  ///< the part that started first
  std::vector<Interval> parts = {};
};
using Activities = std::unordered_map<Id, Activity>;

bool is_part(const std::string& kind) { return kind == "cohort" || kind == "channel" || kind == "transfer"; }
bool is_on_stream(const std::string& kind) {
  return kind == "kernel" || kind == "collective" || kind == "wait";
}

Activities read_activities(const ResultTable& table) {
  const auto& id = table.values<std::int64_t>("id");
  const auto& name = table.values<std::string>("name");
  const auto& kind = table.values<std::string>("kind");
  const auto integer = [&](const char* column, std::size_t row) {
    return table.values<std::int64_t>(column)[row];
  };
  Activities activities;
  activities.reserve(id.size());
  for (std::size_t row = 0; row < id.size(); ++row) {
    const auto start = integer("start", row);
    activities[id[row]] = {.slice = {.name = name[row],
                                     .kind = kind[row],
                                     .start = start,
                                     .running = start,
                                     .end = integer("end", row),
                                     .bytes = table.values<double>("bytes")[row],
                                     .flops = table.values<double>("flops")[row]},
                           .gpu = static_cast<int>(integer("gpu", row)),
                           .stream = static_cast<int>(integer("stream", row)),
                           .engine = static_cast<int>(integer("engine", row)),
                           .parent = integer("parent", row)};
  }
  return activities;
}

/// A kernel or collective runs while any of its work groups, channels or transfers does.
void join_parts(Activities& activities, const std::vector<Id>& ids) {
  for (const auto id : ids) {
    const auto& part = activities.at(id);
    const auto parent = activities.find(part.parent);
    if (parent == activities.end() || !is_part(part.slice.kind)) continue;
    auto& whole = parent->second;
    if (whole.parts.empty() || part.slice.start < whole.slice.running) {
      whole.slice.running = part.slice.start;
      whole.first_part = id;
    }
    whole.parts.push_back({part.slice.start, part.slice.end});
  }
  for (auto& [_, activity] : activities) {
    if (activity.parts.empty()) activity.parts.push_back({activity.slice.start, activity.slice.end});
    activity.slice.busy = united(std::move(activity.parts));
  }
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
  const auto whole = [&](Id id) {
    const auto found = activities.find(id);
    if (found == activities.end() || found->second.parent == 0 || is_on_stream(found->second.slice.kind))
      return found;  // what a kernel or collective is a part of is a range
    return activities.find(found->second.parent);
  };
  for (std::size_t row = 0; row < table.rows(); ++row) {
    if (kind[row] == "launch") continue;
    const auto waiting = whole(successor[row]), waited = whole(predecessor[row]);
    if (waiting == activities.end() || waited == activities.end() || waiting == waited) continue;
    auto& [id, activity] = *waiting;
    if (successor[row] != id && successor[row] != activity.first_part) continue;
    auto& reasons = successor[row] == id ? activity.slice.released_by : activity.slice.waited_for;
    const auto text = reason(kind[row], waited->second.slice.name);
    if (std::ranges::find(reasons, text) == reasons.end()) reasons.push_back(text);
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

void add_lanes(std::map<int, GpuTimeline>& gpus, Activities activities, const std::vector<Id>& ids,
               const std::vector<std::string>& streams) {
  for (const auto id : ids) {
    auto& activity = activities.at(id);
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

/// A resource of an interconnect is one that is not named after a GPU. The limit on both directions of a link
/// together is no link of its own.
bool is_link(const std::string& name, const std::string& unit) {
  return unit == "B/s" && !name.starts_with("gpu") && !name.ends_with(".duplex");
}

/// Position of a member in one curve.
struct Membership {
  UseCurve* curve = nullptr;
  std::size_t member = 0;
};

/// Which curves every resource is part of, by its name.
std::unordered_map<std::string, std::vector<Membership>> memberships(const ResultTable& list,
                                                                     std::map<int, GpuTimeline>& gpus) {
  std::unordered_map<std::string, std::vector<Membership>> found;
  const auto& names = list.values<std::string>("name");
  const auto& units = list.values<std::string>("unit");
  const auto& ranks = list.values<std::int64_t>("gpu");
  const auto& capacities = list.values<double>("capacity");
  for (auto& [rank, gpu] : gpus)
    gpu.each_link.reserve(names.size());  // pointers to its elements are kept
  for (std::size_t row = 0; row < names.size(); ++row) {
    const auto gpu = gpus.find(static_cast<int>(ranks[row]));
    if (gpu == gpus.end() || !std::isfinite(capacities[row])) continue;
    const auto join = [&](UseCurve& curve) {
      found[names[row]].push_back({&curve, curve.add_member(capacities[row])});
    };
    if (names[row].ends_with(".cus")) join(gpu->second.cus);
    if (names[row].ends_with(".hbm")) join(gpu->second.hbm);
    if (!is_link(names[row], units[row])) continue;
    join(gpu->second.links);
    join(gpu->second.each_link.emplace_back(names[row]));
  }
  return found;
}

void add_use(std::map<int, GpuTimeline>& gpus, const ResultReader& file, const std::string& strategy) {
  const auto members = memberships(file.table(strategy, "resources/list"), gpus);
  const auto steps = file.table(strategy, "resources/steps");
  const auto& resource = steps.values<std::string>("resource");
  const auto& time = steps.values<std::int64_t>("time");
  const auto& used = steps.values<double>("used");
  const auto& capacity = steps.values<double>("capacity");
  for (std::size_t row = 0; row < steps.rows(); ++row) {
    const auto curves = members.find(resource[row]);
    if (curves == members.end()) continue;
    for (const auto& [curve, member] : curves->second)
      curve->step(member, time[row], used[row], capacity[row]);
  }
}

}  // namespace

StrategyTimeline read_timeline(const ResultReader& file, const std::string& strategy) {
  const auto table = file.table(strategy, "activities");
  auto activities = read_activities(table);
  const auto& ids = table.values<std::int64_t>("id");
  join_parts(activities, ids);
  join_dependencies(activities, file.table(strategy, "dependencies"));
  std::map<int, GpuTimeline> gpus;
  add_lanes(gpus, std::move(activities), ids, file.streams());
  if (gpus.empty())
    throw IoError(file.path(), "report", "strategy '" + strategy + "' ran nothing on any stream");
  add_use(gpus, file, strategy);

  StrategyTimeline timeline{.time = recorded_picoseconds(file, strategy), .gpus = {}};
  for (auto& [_, gpu] : gpus)
    timeline.gpus.push_back(std::move(gpu));
  return timeline;
}

}  // namespace c3
