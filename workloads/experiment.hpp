#pragma once
/// An experiment: operations on streams, and the strategies under which they run. The TOML reader makes it,
/// workloads/execute/ runs it.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "collectives/backends/dma/dma_commands.hpp"
#include "collectives/call.hpp"
#include "collectives/library/method.hpp"
#include "collectives/spec.hpp"
#include "gpu/kernel_launch.hpp"
#include "gpu/kernels/operator.hpp"
#include "gpu/spec.hpp"
#include "workloads/training/setup.hpp"
#include "workloads/training/step_facts.hpp"

namespace c3::inline workloads {

struct RecordEvent {
  std::string event;

  bool operator==(const RecordEvent&) const = default;
};
struct WaitEvent {
  std::string event;

  bool operator==(const WaitEvent&) const = default;
};

struct Operation {
  std::string name;  ///< as written in the experiment, e.g. "mlp.gate_up"
  std::variant<Operator, CollectiveCall, RecordEvent, WaitEvent> work;
  std::vector<int> on = {};  ///< ranks that run it; empty: all, or a collective's groups
  std::string range = {};    ///< of the timeline to which it belongs, e.g. "layer 3 forward"; empty: none

  bool operator==(const Operation&) const = default;
};

/// An operation of a stream, both by position.
struct OperationPlace {
  std::size_t stream = 0;
  std::size_t operation = 0;

  bool operator==(const OperationPlace&) const = default;
};

/// What the operation runs as a kernel; nullptr for a collective or an event.
inline const Operator* kernel_of(const Operation& operation) { return std::get_if<Operator>(&operation.work); }

/// The shape of a kernel of one class; nullptr for anything else.
template <OperatorShape Shape>
const Shape* shape_of(const Operation& operation) {
  const Operator* op = kernel_of(operation);
  return op == nullptr ? nullptr : op->as<Shape>();
}

struct StreamSpec {
  std::string name;
  std::vector<Operation> operations;

  bool operator==(const StreamSpec&) const = default;
};

/// How many CUs a stream has to itself: none set, a number, or the best of a range.
struct CuShare {
  int low = 0;   ///< CUs; 0 = no partition
  int high = 0;  ///< == low for a fixed number
  bool is_set() const { return high > 0; }
  bool is_swept() const { return high > low; }

  bool operator==(const CuShare&) const = default;
};

/// What a strategy says of one stream.
struct StreamPolicy {
  CuShare cus;          ///< CUs reserved for this stream; every other stream runs on the rest
  int reserve_cus = 0;  ///< CUs that this stream leaves unused
  int priority = 0;     ///< queue priority; larger is served first
  Backend backend = Backend::cu;
  MethodWish method = {};                                  ///< of its collectives, see method_of
  DmaOptions dma = {};                                     ///< of its collectives on copy engines
  FusedReduction reduction = FusedReduction::near_memory;  ///< of its collectives that are fused

  bool operator==(const StreamPolicy&) const = default;
};

struct Strategy {
  std::string name;
  bool serial = false;             ///< streams run one after another, in `order`
  std::vector<std::string> order;  ///< in which streams enqueue at time 0; empty = order of definition
  std::map<std::string, StreamPolicy> streams;                   ///< by stream name; absent = default policy
  std::optional<HbmArbitration> hbm_arbitration = std::nullopt;  ///< absent = the GPU's

  bool operator==(const Strategy&) const = default;
};

struct Measure {
  int seeds = 1;  ///< repetitions with different random draws of work-group times
  int draws = 0;  ///< draws of every parameter given as a range; 0 = nominal values only
  std::uint64_t seed = 1;
  bool loss_split = true;
  KernelGrain kernel_grain = KernelGrain::cohort;
  KernelGrain vector_grain = KernelGrain::cohort;  ///< of kernels without a matrix product
  CollectiveGrain collective_grain = CollectiveGrain::edge;
  bool exact = false;  ///< simulate every layer and micro-batch of a training step
  bool fold = true;    ///< simulate one representative where all ranks do the same at the same time

  bool operator==(const Measure&) const = default;
};

/// One thing that a rank's host does.
struct HostStep {
  std::optional<OperationPlace> launches = std::nullopt;
  std::string waits_for = {};  ///< an event; empty: it does not wait
  Seconds cost = {};           ///< of its time, before the launch

  bool operator==(const HostStep&) const = default;
};

/// The thread of each rank that launches the operations of all streams in one order, ahead of its GPU.
struct HostProgram {
  std::vector<HostStep> steps;  ///< launches every operation of every stream once, those of a stream in order
  int launch_queue = 1024;      ///< operations launched and not yet ended, after which the host waits
  int hardware_queues = 0;  ///< streams are dealt into so many, each of which starts operations in the order of
                            ///< launch; 0: one for each stream

  bool operator==(const HostProgram&) const = default;
};

struct Experiment {
  std::string name;
  ClusterSpec cluster;
  std::vector<StreamSpec> streams;
  std::vector<Strategy> strategies;  ///< in file order
  Measure measure;
  std::optional<HostProgram> host = std::nullopt;        ///< absent: hosts are never late
  std::optional<TrainingSetup> training = std::nullopt;  ///< of which streams and host are one step
  std::optional<StepFacts> step = std::nullopt;          ///< of that step

  bool operator==(const Experiment&) const = default;
};

/// Repetitions of \p experiment unless it says how many: 8, and 1 of a training step or of several nodes, whose
/// runs take long and average over many kernels.
int usual_seeds(const Experiment& experiment);

/// At which grain \p op runs.
KernelGrain grain_of(const Measure& measure, const Operator& op);

/// The kernel whose output the collective at \p place moves when it is fused: the one before it on its stream
/// or, where it waits for an event, the one after which that was recorded. nullopt: there is none, or something
/// stands between them.
std::optional<OperationPlace> producer_of(const std::vector<StreamSpec>& streams, OperationPlace place);

}  // namespace c3::workloads
