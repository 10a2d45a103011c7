#include "results/trace_writer.hpp"

#include <algorithm>
#include <cmath>
#include <system_error>

#include <fmt/format.h>

#include "base/json.hpp"
#include "files/io_error.hpp"
#include "results/picoseconds.hpp"
#include "workloads/execute/partition.hpp"
#include "workloads/execute/run.hpp"
#include "workloads/program/joiners.hpp"

namespace c3 { inline namespace results {
namespace {

/// Processes of the trace are GPUs, by rank, and beside each its host.
constexpr int kFirstHost = 1'000'000;
/// Tracks of a GPU are its streams, by index, then its copy engines. PyTorch's own stream is 7; HTA needs it
/// above 0.
constexpr std::int64_t kFirstStream = 7;
constexpr std::int64_t kFirstEngine = 1000;
/// The host's track for what spans the whole run.
constexpr std::int64_t kStepTrack = 0;
constexpr double kPicosecondsPerNanosecond = 1000;

void make_folder(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw IoError(folder.string(), "create", error.message());
}

/// Caches and ports of single dies, and what has no limit but power, are left to the HDF5 file: most steps,
/// least looked at.
bool is_shown(const ResourceInfo& info, double capacity) {
  return (std::isfinite(capacity) || info.unit == "W") && info.gpu >= 0 &&
         info.name.find(".xcd") == std::string_view::npos && !info.name.ends_with(".duplex");
}

bool becomes_slice(const ActivityInfo& info) {
  switch (info.kind) {
    case ActivityKind::kernel:
    case ActivityKind::collective:
    case ActivityKind::wait:
    case ActivityKind::range:
      return true;
    case ActivityKind::transfer:
      return info.engine >= 0;
    case ActivityKind::cohort:
    case ActivityKind::channel:
    case ActivityKind::command:
      return false;
  }
  return false;
}

/// Kineto's names.
const char* name_of_copy(HostWay way) {
  switch (way) {
    case HostWay::to_host:
      return "Memcpy DtoH (Device -> Pinned)";
    case HostWay::from_host:
      return "Memcpy HtoD (Pinned -> Device)";
    case HostWay::within:
      break;
  }
  return "host";
}

/// Uses the names of Nsight Compute, which Kineto's range profiler writes into its traces.
void add_moved(Json& args, const MovedBytes& moved) {
  args["dram__bytes_read.sum"] = moved.hbm_read.value;
  args["dram__bytes_write.sum"] = moved.hbm_written.value;
  args["lts__t_bytes.sum"] = moved.l2.value;
  if (moved.link.value > 0.0) args["nvltx__bytes.sum"] = moved.link.value;
  if (moved.nic.value > 0.0) args["nic bytes sent"] = moved.nic.value;
}

}  // namespace

TraceWriter::TraceWriter(const std::filesystem::path& folder, const Experiment& experiment,
                         const Strategy& strategy)
    : experiment_(experiment), strategy_(strategy), simulated_(simulated_ranks(experiment, strategy)) {
  make_folder(folder / strategy.name);
  const bool folded = simulated_.classes() == 1;
  for (int number = 0; number < simulated_.classes(); ++number) {
    const auto path = folder / strategy.name / fmt::format("rank{}.json", simulated_.representative(number));
    files_.push_back(std::make_unique<TraceFile>(path));
  }
  const ProcessGroups groups(experiment);
  const Program& program = experiment.program;
  for (const std::string& stream : program.streams)
    message_labels_.push_back(message_label(policy_of(strategy, stream).backend));
  for (const CallId number : calls_by_stream(program)) {
    const Call& call = program.calls[number];
    const auto policy = policy_of(strategy, program.streams[call.stream]);
    labels_.emplace(std::pair(static_cast<int>(call.stream), program.names[call.name]),
                    CollectiveLabels(call.what, policy, experiment, groups, folded));
  }
}

void TraceWriter::begin(const Experiment& recorded, const std::string& shortened) {
  experiment_ = recorded;
  shortened_ = shortened;
  const ProcessGroups groups(experiment_);
  for (std::size_t i = 0; i < files_.size(); ++i) {
    const int rank = simulated_.representative(static_cast<int>(i));
    TraceFile& file = *files_[i];
    file.begin(trace_header(experiment_, groups, strategy_, simulated_, rank, shortened));
    file.name_process(rank, fmt::format("GPU {}", rank), experiment_.cluster.gpu.name, 2 * rank + 1);
    file.name_process(kFirstHost + rank, fmt::format("host of GPU {}", rank), "CPU", 2 * rank);
    file.name_thread({kFirstHost + rank, kStepTrack}, "step");
    const Program& program = experiment_.program;
    launches_.emplace_back(program, rank, kFirstHost + rank, kLaunchLead);
    const auto& host = program.script_of(rank).host;
    for (std::size_t stream = 0; stream < program.streams.size(); ++stream) {
      const auto name = fmt::format("stream {}: {}", stream, program.streams[stream]);
      const auto thread = kFirstStream + static_cast<std::int64_t>(stream);
      file.name_thread({rank, thread}, name);
      if (!host) file.name_thread({kFirstHost + rank, thread}, "launch, " + name);
    }
    for (std::size_t thread = 0; host && thread < host->threads.size(); ++thread)
      file.name_thread({kFirstHost + rank, kFirstStream + static_cast<std::int64_t>(thread)},
                       fmt::format("thread {}: {}", thread, program.names[host->threads[thread].name]));
    // HTA drops a launch or kernel that is the first event of all.
    file.slice({.track = {kFirstHost + rank, kStepTrack},
                .name = experiment_.name + ", " + strategy_.name,
                .category = "user_annotation",
                .start = 0,
                .end = 0});
  }
}

void TraceWriter::resource_added(ResourceId, const ResourceInfo& info, double capacity) {
  moved_.resource_added(info);
  auto& counter = counters_.emplace_back();
  if (!is_shown(info, capacity)) return;
  constexpr double kGiga = 1e9;
  const bool is_rate = info.unit == "B/s";
  counter.name = fmt::format("{} [{}]", info.name, is_rate ? "GB/s" : info.unit);
  counter.scale = is_rate ? 1 / kGiga : 1;
  counter.gpu = info.gpu;
}

void TraceWriter::utilisation(ResourceId id, Seconds at, double used) {
  auto& counter = counters_.at(id);
  if (counter.name.empty()) return;
  const auto date = picoseconds(at) + kLaunchLead;
  if (date > counter.at) write_step(counter);
  counter.at = date;
  counter.used = used;
}

void TraceWriter::write_step(Counter& counter) {
  if (counter.used == counter.written) return;
  file_of(counter.gpu).counter(counter.gpu, counter.name, counter.at, counter.used * counter.scale);
  counter.written = counter.used;
}

void TraceWriter::activity_started(ActivityId id, const ActivityInfo& info, Seconds at) {
  moved_.started(id, info);
  if (!becomes_slice(info)) return;
  const auto [opened, _] = open_.emplace(id, OpenActivity{.name = std::string(info.name),
                                                          .kind = info.kind,
                                                          .gpu = info.gpu,
                                                          .stream = info.stream,
                                                          .engine = info.engine,
                                                          .parent = info.parent,
                                                          .start = picoseconds(at) + kLaunchLead,
                                                          .bytes = info.bytes,
                                                          .flops = info.flops,
                                                          .work_groups = info.work_groups});
  OpenActivity& activity = opened->second;
  TraceLaunches& launches = launches_of(activity.gpu);
  if (activity.kind == ActivityKind::transfer) return write_copy_launch(id, activity);
  if (activity.kind == ActivityKind::wait) activity.operation = launches.next_wait(activity.stream);
  if (activity.kind == ActivityKind::kernel) activity.operation = launches.next_kernel(activity.stream);
  if (activity.kind == ActivityKind::collective) {
    activity.operation = launches.next_communication(activity.stream, activity.name);
    if (std::holds_alternative<HostCopy>(operation_of(activity).work)) {
      launches.started(activity.stream, activity.operation, id, track_of(activity), activity.start);
      return;
    }
    if (is_of_copy_engines(activity)) return;
  }
  if (activity.kind == ActivityKind::kernel || activity.kind == ActivityKind::collective)
    launches.started(activity.stream, activity.operation, id, track_of(activity), activity.start);
}

void TraceWriter::launched(const HostLaunch& launch) { launches_of(launch.rank).launched(launch); }

// What is no call of the program is a message between two ranks.
const CollectiveLabel& TraceWriter::label_of(const OpenActivity& activity) const {
  const auto found = labels_.find({activity.stream, activity.name});
  if (found != labels_.end()) return found->second.of(activity.gpu);
  return message_labels_.at(static_cast<std::size_t>(activity.stream));
}

bool TraceWriter::is_of_copy_engines(const OpenActivity& activity) const {
  return label_of(activity).backend == Backend::dma;
}

void TraceWriter::write_copy_launch(ActivityId id, const OpenActivity& activity) {
  const TraceTrack device = track_of(activity);
  const TraceTrack host{kFirstHost + activity.gpu, device.thread};
  std::int64_t& last = launched_[{host.process, host.thread}];
  const std::int64_t start = std::max(last, activity.start - kLaunchLead);
  last = activity.start;
  auto& file = file_of(activity.gpu);
  file.slice({.track = host,
              .name = "cudaMemcpyAsync",
              .category = "cuda_runtime",
              .start = start,
              .end = activity.start,
              .args = Json::object({{"correlation", id}, {"operation", activity.name}}).dump()});
  file.launch_arrow(id, host, start, device, activity.start);
}

TraceTrack TraceWriter::track_of(const OpenActivity& activity) {
  if (activity.engine < 0) return {activity.gpu, kFirstStream + activity.stream};
  const TraceTrack track{activity.gpu, kFirstEngine + activity.engine};
  if (named_engines_.emplace(activity.gpu, activity.engine).second) {
    const std::string name = fmt::format("copy engine {}", activity.engine);
    file_of(activity.gpu).name_thread(track, name);
    file_of(activity.gpu).name_thread({kFirstHost + activity.gpu, track.thread}, "launch, " + name);
  }
  return track;
}

void TraceWriter::write_slice(const OpenActivity& activity, HeldSlice slice) {
  const auto range = open_.find(activity.parent);
  if (range != open_.end() && range->second.kind == ActivityKind::range) {
    range->second.held.push_back(std::move(slice));
  } else {
    file_of(activity.gpu).slice(slice.view());
  }
}

void TraceWriter::activity_finished(ActivityId id, Seconds at) {
  const MovedBytes moved = moved_.finished(id);
  const auto node = open_.extract(id);
  if (node.empty()) return;
  const auto& activity = node.mapped();
  const auto track = track_of(activity);
  const std::int64_t end = picoseconds(at) + kLaunchLead;
  end_ = std::max(end_, end);
  // HolisticTraceAnalysis takes a slice with a stream in its args for device work.
  Json work = {{"device", activity.gpu}, {"stream", track.thread}, {"correlation", id}};
  const auto write = [&](const std::string& name, const char* category, const Json& args) {
    write_slice(activity, {.track = track,
                           .name = name,
                           .category = category,
                           .start = activity.start,
                           .end = end,
                           .args = args.dump()});
  };
  if (activity.kind == ActivityKind::range) {
    write(activity.name, "user_annotation", Json::object());
    for (const HeldSlice& slice : activity.held)
      file_of(activity.gpu).slice(slice.view());
    return;
  }
  if (activity.kind == ActivityKind::wait) return write_wait(activity, end);
  if (activity.kind == ActivityKind::kernel) {
    const double nanoseconds = static_cast<double>(end - activity.start) / kPicosecondsPerNanosecond;
    work["grid"] = Json::array({activity.work_groups, 1, 1});
    work["flop"] = activity.flops.value;
    add_moved(work, moved);
    if (nanoseconds > 0) {
      work["TFLOP/s"] = activity.flops.value / nanoseconds / 1e3;
      work["memory bandwidth (GB/s)"] = (moved.hbm_read + moved.hbm_written).value / nanoseconds;
    }
    return write(activity.name, "kernel", work);
  }
  if (activity.kind == ActivityKind::collective) {
    if (const auto* copy = std::get_if<HostCopy>(&operation_of(activity).work)) {
      work["bytes"] = activity.bytes.value;
      work["operation"] = activity.name;
      return write(name_of_copy(copy->way), copy->way == HostWay::within ? "gpu_user_annotation" : "gpu_memcpy",
                   work);
    }
  }
  const auto& label = label_of(activity);
  if (activity.kind == ActivityKind::transfer) {
    work["bytes"] = activity.bytes.value;
    const auto nanoseconds = static_cast<double>(end - activity.start) / kPicosecondsPerNanosecond;
    if (nanoseconds > 0) work["memory bandwidth (GB/s)"] = activity.bytes.value / nanoseconds;
    return write(label.name, "gpu_memcpy", work);
  }
  // A collective of copy engines is no device work of its own, only the span of its copies.
  if (label.backend == Backend::dma)
    return write(activity.name, "gpu_user_annotation", Json::parse(label.args));
  work.update(Json::parse(label.args));
  if (const auto* join = std::get_if<JoinCall>(&operation_of(activity).work)) work["Seq"] = join->call + 1;
  work["operation"] = activity.name;
  add_moved(work, moved);
  write(label.name, "kernel", work);
}

const Operation& TraceWriter::operation_of(const OpenActivity& activity) const {
  const Script& script = experiment_.program.script_of(activity.gpu);
  return script.streams[static_cast<std::size_t>(activity.stream)][activity.operation];
}

/// Without "stream", which to HolisticTraceAnalysis is device work: the thread is the stream that waits.
void TraceWriter::write_wait(const OpenActivity& activity, std::int64_t end) {
  const auto stream = static_cast<std::size_t>(activity.stream);
  const auto& wait = std::get<WaitEvent>(operation_of(activity).work);
  const TraceLaunches& launches = launches_of(activity.gpu);
  Json args = {{"event", activity.name}, {"correlation", launches.correlation_of(stream, activity.operation)}};
  if (const auto record = launches.record_of(wait.event)) {
    args["wait_on_stream"] = kFirstStream + static_cast<std::int64_t>(record->stream);
    args["wait_on_cuda_event_record_corr_id"] = record->correlation;
    args["wait_on_cuda_event_id"] = wait.event;
  }
  write_slice(activity, {.track = track_of(activity),
                         .name = "Stream Wait Event",
                         .category = "cuda_sync",
                         .start = activity.start,
                         .end = end,
                         .args = args.dump()});
}

/// The host waits for the end of all that it launched.
void TraceWriter::write_synchronisation(int number, std::int64_t launched) {
  constexpr std::int64_t kCorrelation = (std::int64_t{1} << 40) - 1;  // before those of events
  const TraceTrack host{kFirstHost + simulated_.representative(number), kStepTrack};
  const std::string args = Json::object({{"correlation", kCorrelation}}).dump();
  const auto write = [&](const char* name, const char* category) {
    files_[static_cast<std::size_t>(number)]->slice({.track = host,
                                                     .name = name,
                                                     .category = category,
                                                     .start = std::min(launched, end_),
                                                     .end = end_,
                                                     .args = args});
  };
  write("cudaDeviceSynchronize", "cuda_runtime");
  write("Context Sync", "cuda_sync");
}

void TraceWriter::finish() {
  for (auto& counter : counters_) {
    if (!counter.name.empty()) write_step(counter);
  }
  for (std::size_t rank = 0; rank < files_.size(); ++rank) {
    const int number = static_cast<int>(rank);
    const std::int64_t launched = launches_[rank].write(*files_[rank]);
    const auto annotate = [&](const std::string& name) {
      files_[rank]->slice({.track = {kFirstHost + simulated_.representative(number), kStepTrack},
                           .name = name,
                           .category = "user_annotation",
                           .start = 0,
                           .end = end_});
    };
    annotate("ProfilerStep#0");
    if (!shortened_.empty()) annotate("shortened: " + shortened_ + " (c3sim run --exact simulates all)");
    write_synchronisation(number, launched);
    files_[rank]->finish();
  }
}

void TraceWriter::commit() {
  for (const auto& file : files_)
    file->commit();
}

}}  // namespace c3::results
