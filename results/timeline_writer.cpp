#include "results/timeline_writer.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "results/class_tables.hpp"
#include "results/picoseconds.hpp"
#include "results/step_tables.hpp"
#include "results/strategy_summary.hpp"

namespace c3 { inline namespace results {
namespace {

/// Share of a capacity: what changes by less is the rounding of the solver, half of all it says.
constexpr double kRounding = 1e-9;

/// A resource that is free is so exactly.
bool is_step(double written, double now, double capacity) {
  return std::abs(now - written) > kRounding * capacity || (now == 0.0 && written != 0.0);
}

std::int64_t row_id(ActivityId id) { return static_cast<std::int64_t>(id); }

}  // namespace

TimelineWriter::TimelineWriter(ResultFile& file, const std::string& strategy)
    : file_(file),
      strategy_(file.add_strategy(strategy)),
      activities_{.group = h5_create_group(strategy_, "activities")},
      dependencies_{.group = h5_create_group(strategy_, "dependencies")},
      resources_(h5_create_group(strategy_, "resources")),
      resource_list_{.group = h5_create_group(resources_, "list")},
      steps_{.group = h5_create_group(resources_, "steps")} {}

void TimelineWriter::resource_added(ResourceId id, const ResourceInfo& info, double capacity) {
  if (id != resource_states_.size())
    throw std::logic_error(fmt::format("resource {} is out of order", info.name));
  moved_.resource_added(info);
  resource_states_.push_back({.used = 0, .capacity = capacity, .written_capacity = capacity});
  resource_list_.name.push(file_.names().index(info.name));
  resource_list_.unit.push(file_.names().index(info.unit));
  resource_list_.gpu.push(info.gpu);
  resource_list_.capacity.push(capacity);
}

TimelineWriter::ResourceState& TimelineWriter::state_from(ResourceId id, Seconds at) {
  const std::int64_t date = picoseconds(at);
  if (date != pending_date_) write_pending_steps();
  pending_date_ = date;
  last_date_ = std::max(last_date_, at);
  ResourceState& state = resource_states_.at(id);
  state.total += state.used * (at - state.since).value;
  if (state.used > 0.0) state.busy += (at - state.since) * (state.used / state.capacity);
  state.since = at;
  if (!std::exchange(state.is_pending, true)) pending_steps_.push_back(id);
  return state;
}

void TimelineWriter::capacity_changed(ResourceId id, Seconds at, double capacity) {
  state_from(id, at).capacity = capacity;
}

void TimelineWriter::utilisation(ResourceId id, Seconds at, double used) { state_from(id, at).used = used; }

void TimelineWriter::write_pending_steps() {
  for (const ResourceId id : pending_steps_) {
    ResourceState& state = resource_states_[id];
    state.is_pending = false;
    if (!is_step(state.written_used, state.used, state.capacity) &&
        !is_step(state.written_capacity, state.capacity, state.capacity))
      continue;
    state.written_used = state.used;
    state.written_capacity = state.capacity;
    steps_.resource.push(static_cast<std::int32_t>(id));
    steps_.time.push(pending_date_);
    steps_.used.push(state.used);
    steps_.capacity.push(state.capacity);
  }
  pending_steps_.clear();
}

void TimelineWriter::activity_started(ActivityId id, const ActivityInfo& info, Seconds at) {
  open_.emplace(id, OpenActivity{.name = file_.names().index(info.name),
                                 .kind = info.kind,
                                 .gpu = info.gpu,
                                 .stream = info.stream,
                                 .engine = info.engine,
                                 .parent = info.parent,
                                 .start = picoseconds(at),
                                 .bytes = info.bytes,
                                 .flops = info.flops,
                                 .work_groups = info.work_groups});
  moved_.started(id, info);
}

void TimelineWriter::activity_finished(ActivityId id, Seconds at) {
  const auto node = open_.extract(id);
  if (node.empty()) throw std::logic_error(fmt::format("activity {} finished without having started", id));
  const auto& activity = node.mapped();
  last_date_ = std::max(last_date_, at);
  activities_.id.push(row_id(id));
  activities_.name.push(activity.name);
  activities_.kind.push(activity.kind);
  activities_.gpu.push(activity.gpu);
  activities_.stream.push(activity.stream);
  activities_.engine.push(activity.engine);
  activities_.parent.push(row_id(activity.parent));
  activities_.start.push(activity.start);
  activities_.end.push(picoseconds(at));
  activities_.bytes.push(activity.bytes.value);
  activities_.flops.push(activity.flops.value);
  activities_.work_groups.push(activity.work_groups);
  const MovedBytes moved = moved_.finished(id);
  activities_.hbm_read.push(moved.hbm_read.value);
  activities_.hbm_written.push(moved.hbm_written.value);
  activities_.l2.push(moved.l2.value);
  activities_.link.push(moved.link.value);
  activities_.nic.push(moved.nic.value);
}

void TimelineWriter::depends(ActivityId successor, ActivityId predecessor, DependencyKind kind) {
  dependencies_.successor.push(row_id(successor));
  dependencies_.predecessor.push(row_id(predecessor));
  dependencies_.kind.push(kind);
}

void TimelineWriter::write_collectives(std::span<const CollectiveRecord> collectives) {
  const auto group = h5_create_group(strategy_, "collectives");
  Column<NameIndex> name{group, {"name", "1", "operation of the experiment"}};
  Column<NameIndex> op{group, {"op", "1", "kind of collective"}};
  Column<NameIndex> algorithm{group, {"algorithm", "1", "order in which ranks exchange"}};
  Column<NameIndex> protocol{group, {"protocol", "1", "how channels tell their peers that data have come"}};
  Column<NameIndex> backend{group, {"backend", "1", "who moves the bytes"}};
  Column<std::int32_t> gpu{group, {"gpu", "1", "rank of the GPU"}};
  Column<std::int32_t> channels{group, {"channels", "1", "work groups (cu) or copy engines (dma)"}};
  Column<double> bytes{group, {"bytes", "B", "total buffer, as nccl-tests counts it"}};
  Column<std::int64_t> start{group, {"start", "ps", "start since the start of the run"}};
  Column<std::int64_t> end{group, {"end", "ps", "end since the start of the run"}};
  Column<double> algbw{group, {"algbw", "B/s", "algorithm bandwidth: bytes over time"}};
  Column<double> busbw{group, {"busbw", "B/s", "bus bandwidth, as nccl-tests defines it"}};
  for (const auto& record : collectives) {
    const bool on_channels = record.backend == Backend::cu;
    name.push(file_.names().index(record.name));
    op.push(file_.names().index(name_of(record.op)));
    algorithm.push(file_.names().index(name_of(record.method.algorithm)));
    protocol.push(file_.names().index(on_channels ? name_of(record.method.protocol) : "none"));
    backend.push(file_.names().index(name_of(record.backend)));
    gpu.push(record.gpu);
    channels.push(record.channels);
    bytes.push(record.bytes.value);
    start.push(picoseconds(record.start));
    end.push(picoseconds(record.end));
    algbw.push(record.algbw.value);
    busbw.push(record.busbw.value);
  }
  flush_all(name, op, algorithm, protocol, backend, gpu, channels, bytes, start, end, algbw, busbw);
}

void TimelineWriter::finish(const StrategyResult& result, std::span<const CollectiveRecord> collectives) {
  if (!open_.empty()) throw std::logic_error(fmt::format("{} activities never finished", open_.size()));
  auto& [_, id, name, kind, gpu, stream, engine, parent, start, end, bytes, flops, work_groups, hbm_read,
         hbm_written, l2, link, nic] = activities_;
  flush_all(id, name, kind, gpu, stream, engine, parent, start, end, bytes, flops, work_groups, hbm_read,
            hbm_written, l2, link, nic);
  flush_all(dependencies_.successor, dependencies_.predecessor, dependencies_.kind);
  for (const ResourceState& state : resource_states_) {
    resource_list_.total.push(state.total);
    resource_list_.utilisation.push(last_date_ > Seconds{} ? state.busy / last_date_ : 0.0);
  }
  flush_all(resource_list_.name, resource_list_.unit, resource_list_.gpu, resource_list_.capacity,
            resource_list_.total, resource_list_.utilisation);
  write_pending_steps();
  flush_all(steps_.resource, steps_.time, steps_.used, steps_.capacity);
  write_collectives(collectives);
  write_summary(strategy_, result);
  write_classes(strategy_, result.classes, file_.names());
  if (result.step) write_step(strategy_, result, last_date_, file_.names());
}

}}  // namespace c3::results
