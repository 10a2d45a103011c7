#pragma once
/// What every rank does, whoever wrote it: a TOML file, the composer of training steps, a trace.

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "collectives/call.hpp"
#include "engine/units.hpp"
#include "gpu/kernels/operator.hpp"
#include "gpu/timed_kernel.hpp"

namespace c3 { inline namespace workloads {

/// Position in Program::names. Names are for people: what depends on what is said by numbers.
using NameId = std::uint32_t;
/// Position in Program::calls.
using CallId = std::uint32_t;
/// Position in Script::events.
using EventId = std::uint32_t;
/// Position in Program::communicators.
using CommunicatorId = std::uint32_t;

/// The rank's part in a collective.
struct JoinCall {
  CallId call = 0;

  bool operator==(const JoinCall&) const = default;
};
struct RecordEvent {
  EventId event = 0;

  bool operator==(const RecordEvent&) const = default;
};
/// Holds up its stream until the event is recorded.
struct WaitEvent {
  EventId event = 0;
  Seconds lag = {};  ///< from then to the start of the next kernel with RecordedLags

  bool operator==(const WaitEvent&) const = default;
};

/// Bytes to or from the rank \p offset places further in the own group, counted around. A message that fits
/// into the library's buffer of the pair (is_buffered) leaves its sender without waiting for the receiver. A
/// larger one is a rendezvous: both ranks come, then the bytes move, and both continue when they have arrived.
/// Messages of a pair meet in the order in which they are sent and received.
struct Message {
  int offset = 1;
  Bytes bytes;
  bool sends = true;

  bool operator==(const Message&) const = default;
};
/// Messages of one launch, which may move at once; it ends when all have.
struct Exchange {
  CommunicatorId communicator = 0;
  std::vector<Message> messages;

  bool operator==(const Exchange&) const = default;
};

/// Between which memories a copy goes.
enum class HostWay : std::uint8_t {
  to_host,    ///< from the GPU's
  from_host,  ///< to the GPU's
  within,     ///< read and written by the host's own cores, as its optimizer does
};

/// Bytes between the rank's GPU and the memory of its host, by an engine that copies nothing else; or bytes
/// that the host reads and writes there.
struct HostCopy {
  Bytes bytes;  ///< > 0
  HostWay way = HostWay::to_host;
  BytesPerSecond most = {};  ///< of a copy from pageable memory, or as measured; 0: what the link carries

  bool operator==(const HostCopy&) const = default;
};

/// How long after its causes a kernel or collective started, as somebody recorded it, in place of the GPU's
/// launch latency and dependent gap; a kernel with a shape spends the former after its start. It starts when
/// all of its causes allow it: its launch, the end of what was before it on its stream, and the events for
/// which that waited since then.
struct RecordedLags {
  Seconds after_launch;
  Seconds after_stream;
  Seconds lasts = {};  ///< of a timed call: from the arrival of its last member to the end on this rank

  bool operator==(const RecordedLags&) const = default;
};

struct Operation {
  std::variant<Operator, TimedKernel, JoinCall, Exchange, HostCopy, RecordEvent, WaitEvent> work;
  NameId name = 0;         ///< e.g. of "mlp.gate_up"
  NameId range = 0;        ///< of the timeline to which it belongs, e.g. of "layer 3 forward"
  std::uint64_t draw = 0;  ///< key of its random draws, see DrawKeys; 0: of an event
  std::optional<RecordedLags> recorded = std::nullopt;

  bool operator==(const Operation&) const = default;
};

/// What the operation runs as a kernel; nullptr for anything else.
inline const Operator* kernel_of(const Operation& operation) { return std::get_if<Operator>(&operation.work); }

/// The shape of a kernel of one class; nullptr for anything else.
template <OperatorShape Shape>
const Shape* shape_of(const Operation& operation) {
  const Operator* op = kernel_of(operation);
  return op == nullptr ? nullptr : op->as<Shape>();
}

/// Whether it moves bytes over links: a collective, an exchange of messages, a copy to or from the host.
inline bool communicates(const Operation& operation) {
  return std::holds_alternative<JoinCall>(operation.work) || std::holds_alternative<Exchange>(operation.work) ||
         std::holds_alternative<HostCopy>(operation.work);
}
/// Whether it is a kernel, of whatever kind.
inline bool computes(const Operation& operation) {
  return kernel_of(operation) != nullptr || std::holds_alternative<TimedKernel>(operation.work);
}

/// An operation of a script, both by position.
struct OperationPlace {
  std::size_t stream = 0;
  std::size_t operation = 0;

  bool operator==(const OperationPlace&) const = default;
};

/// A collective, as all its members see it: they run it on one stream and draw the same random numbers for it.
struct Call {
  CollectiveCall what;
  NameId name = 0;
  std::size_t stream = 0;
  std::uint64_t draw = 0;  ///< key of its random draws
  /// Its members wait for each other, and then it lasts as each one's RecordedLags say: it moves nothing.
  bool is_timed = false;

  bool operator==(const Call&) const = default;
};

/// Ranks in groups, within which messages go.
struct Communicator {
  NameId name = 0;
  RankGroups groups;

  bool operator==(const Communicator&) const = default;
};

/// One thing that a thread of a rank's host does, in the order of the members.
struct HostStep {
  std::optional<OperationPlace> launches = std::nullopt;
  std::optional<EventId> waits_for = std::nullopt;
  Seconds cost = {};                              ///< of its time, after the wait and before the launch
  Seconds lag = {};                               ///< from the event to the return of the wait for it
  std::optional<EventId> records = std::nullopt;  ///< for other threads, last
  NameId mark = 0;                                ///< whose date is of interest; see RunResult::marks

  bool operator==(const HostStep&) const = default;
};

/// What one thread does, one step after another.
struct HostThread {
  std::vector<HostStep> steps = {};
  NameId name = 0;

  bool operator==(const HostThread&) const = default;
};

/// Now and then a thread stands still: another process, an interrupt, garbage of the interpreter. A compound
/// Poisson process over the time for which it works.
struct HostStalls {
  Seconds every = {};  ///< of work between two, on average; 0: there are none
  Seconds lasts = {};  ///< each, on average of an exponential distribution

  bool operator==(const HostStalls&) const = default;
};

/// The threads of each rank's host. Together they launch every operation of every stream once, ahead of the
/// GPU; an operation waits for those before it on its stream, whoever launches them.
struct HostProgram {
  std::vector<HostThread> threads = {};
  int launch_queue = 1024;  ///< operations of a stream launched and not yet ended, after which a thread waits
  int hardware_queues = 0;  ///< streams are dealt into so many, each of which starts operations in the order of
                            ///< launch; 0: one for each stream
  HostStalls stalls = {};   ///< of each thread

  bool operator==(const HostProgram&) const = default;
};

/// What one kind of rank does.
struct Script {
  std::vector<std::vector<Operation>> streams;     ///< by stream of the program: operations, one after another
  std::vector<NameId> events;                      ///< names
  std::optional<HostProgram> host = std::nullopt;  ///< absent: hosts are never late
  NameId name = 0;                                 ///< of its ranks, e.g. of "stage0"

  bool operator==(const Script&) const = default;
};

/// Neighbouring ranks that run one script.
struct RankSpan {
  int begin = 0, end = 0;  ///< half open
  std::uint32_t script = 0;

  bool operator==(const RankSpan&) const = default;
};

/// Authors make it with a ProgramBuilder or, from named events and lists of ranks, with program_of.
struct Program {
  std::vector<std::string> names = {""};
  std::vector<std::string> streams;  ///< names; every script has all of them, strategies set their policies
  std::vector<Call> calls;
  std::vector<Communicator> communicators;
  std::vector<Script> scripts = {{}};
  std::vector<RankSpan> ranks;  ///< in order, every rank once; empty: all ranks run the only script

  const std::string& name_of(const Operation& operation) const { return names[operation.name]; }
  const std::string& range_of(const Operation& operation) const { return names[operation.range]; }
  /// The collective that \p operation joins; nullptr for anything else.
  const CollectiveCall* call_of(const Operation& operation) const;
  std::uint32_t script_number(int rank) const;
  const Script& script_of(int rank) const { return scripts[script_number(rank)]; }
  /// Position of the stream with this name; nullopt: there is none.
  std::optional<std::size_t> stream_named(const std::string& name) const;
  /// How many operations all scripts have.
  std::size_t operations() const;

  bool operator==(const Program&) const = default;
};

/// Calls \p visit with each operation, stream by stream.
template <class Visit>
void for_each_operation(const Script& script, Visit visit) {
  for (const std::vector<Operation>& stream : script.streams) {
    for (const Operation& operation : stream)
      visit(operation);
  }
}
/// The same of all scripts, one after another.
template <class Visit>
void for_each_operation(const Program& program, Visit visit) {
  for (const Script& script : program.scripts)
    for_each_operation(script, visit);
}

/// What runs on a stream, over all scripts.
struct StreamContent {
  bool any = false;  ///< even if it is only events
  bool kernels = false, collectives = false;
};
StreamContent content_of(const Program& program, std::size_t stream);

/// Whether some rank copies to or from its host.
bool reaches_hosts(const Program& program);

/// Whether a perfect overlap of kernels and communication, each as long as alone, is a goal for \p program:
/// it has operations on two streams, of one rank or of several, and neither messages, for which ranks wait in
/// turn, nor recorded dates say when they begin.
bool sides_may_overlap(const Program& program);

/// Whether \p program sets stream beside stream, and not kernels beside collectives.
bool compares_streams(const Program& program);

/// The kernel whose output the collective at \p place moves when it is fused: the one before it on its stream
/// or, where it waits for an event, the one after which that was recorded. nullopt: there is none, or something
/// stands between them.
std::optional<OperationPlace> producer_of(const Script& script, OperationPlace place);

}}  // namespace c3::workloads
