#pragma once
/// \file
/// Events of a trace, as they were recorded: what Kineto, PyTorch's profiler, writes of one rank.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "workloads/traces/picoseconds.hpp"
#include "workloads/traces/text_pool.hpp"

namespace c3 { inline namespace traces {

enum class EventKind : std::uint8_t {
  op,          ///< a PyTorch operator on a host thread
  annotation,  ///< a range that a user or a library named: a step, a collective
  call,        ///< of the CUDA or HIP runtime or driver, on a host thread
  kernel,
  copy,
  memset,
  sync_record  ///< what a synchronisation waited for; recorded only on request
};

constexpr bool is_gpu_work(EventKind kind) {
  return kind == EventKind::kernel || kind == EventKind::copy || kind == EventKind::memset;
}

constexpr std::uint32_t kNoIndex = 0xFFFFFFFF;  ///< of what an event does not have
constexpr std::int64_t kUnknown = -1;           ///< correlation, stream or id that was not recorded

struct TraceEvent {
  Picoseconds start;  ///< since the trace's origin
  Picoseconds duration;
  std::int64_t correlation = kUnknown;  ///< a call and the GPU work that it launched have the same
  std::int64_t external_id = kUnknown;
  std::int64_t record_id = kUnknown;  ///< "Record function id": an execution trace has the same
  std::uint64_t position = 0;         ///< in traceEvents, for messages
  TextId name = 0;
  std::uint32_t track = kNoIndex;       ///< in threads, or in queues
  std::uint32_t details = kNoIndex;     ///< in op_details or sync_details
  std::uint32_t collective = kNoIndex;  ///< in collective_arguments
  EventKind kind = EventKind::op;

  Picoseconds end() const { return start + duration; }
};

/// A process and a thread in it, as the file spells them.
struct TraceThread {
  std::string process;
  std::string thread;
};

struct GpuQueue {
  std::int64_t device = kUnknown;
  std::int64_t stream = kUnknown;
};

/// Texts of JSON arrays, 0 where there are none.
struct OpDetails {
  TextId dims = 0;      ///< "Input Dims"
  TextId types = 0;     ///< "Input type"
  TextId concrete = 0;  ///< "Concrete Inputs"
};

/// "[[4, 8], []]" has sizes, "[[], []]" has none.
inline bool has_sizes(std::string_view dims) {
  return dims.find_first_of("0123456789") != std::string_view::npos;
}

/// What a kernel of a collective, or the operator that issued it, says of it. Absent: not recorded.
struct CollectiveArguments {
  TextId name = 0;   ///< allreduce, _allgather_base, wait, ..
  TextId dtype = 0;  ///< c10's name: Float, BFloat16, ..
  TextId group = 0;  ///< "Process Group Name"
  TextId group_description = 0;
  TextId ranks = 0;  ///< "[0, 1]"; cut off beyond 30 ranks
  TextId in_split = 0;
  TextId out_split = 0;
  std::optional<std::int64_t> in_elements;   ///< of one rank
  std::optional<std::int64_t> out_elements;  ///< of one rank
  std::optional<std::int64_t> group_size;
  std::optional<std::int64_t> sequence;
};

struct SyncDetails {
  std::int64_t stream = kUnknown;              ///< that waits, or that the host waits for
  std::int64_t waited_stream = kUnknown;       ///< on which the event was recorded
  std::int64_t record_correlation = kUnknown;  ///< of the call that recorded the event
};

struct GpuProperties {
  std::int64_t device = 0;
  std::string name;        ///< as the driver spells it; empty in some ROCm files
  std::int64_t units = 0;  ///< SMs or CUs
  std::int64_t memory_bytes = 0;
};

/// Ranks that communicate. Those into which a job is divided at once have one description, such as
/// "TENSOR_MODEL_PARALLEL_GROUP".
struct ProcessGroup {
  std::string name;
  std::string description;
  std::vector<int> ranks;
};

/// A duration that was recorded but cannot be.
struct ChangedDuration {
  std::uint64_t event = 0;  ///< position in traceEvents
  TextId name = 0;
  Picoseconds recorded;
  Picoseconds taken;  ///< instead
};

/// One file. Vectors of events are sorted by start, longer ones first, then by position.
struct Trace {
  std::string file;
  std::optional<int> rank;  ///< nothing: the file does not say
  std::optional<int> world_size;
  /// Ranks for which the file stands, with its own, first and last of each range: c3sim simulates ranks that do
  /// the same once. Empty: only its own.
  std::vector<std::pair<int, int>> represented;
  std::vector<ProcessGroup> groups;  ///< only with `represented`
  WidePicoseconds origin = 0;        ///< since 1970 or the host's start, of the dates of all events
  bool has_shapes = false;           ///< "record_shapes"
  /// GPU work begins when it was released, as in timelines of c3sim, and not when the GPU began with it.
  bool has_releases = false;
  std::vector<GpuProperties> gpus;
  TextPool texts;
  std::vector<TraceThread> threads;
  std::vector<GpuQueue> queues;
  std::vector<TraceEvent> ops;
  std::vector<TraceEvent> annotations;
  std::vector<TraceEvent> calls;
  std::vector<TraceEvent> activities;  ///< kernels, copies and memsets
  std::vector<TraceEvent> syncs;
  std::vector<OpDetails> op_details;
  std::vector<CollectiveArguments> collective_arguments;
  std::vector<SyncDetails> sync_details;
  std::uint64_t events_read = 0;                           ///< elements of traceEvents
  std::uint64_t events_ignored = 0;                        ///< of categories that times do not depend on
  std::map<std::string, std::uint64_t> unread_categories;  ///< of those, by category: events with a duration
  std::vector<ChangedDuration> changed_durations;

  const std::string& name_of(const TraceEvent& event) const { return texts.text(event.name); }
};

}}  // namespace c3::traces
