#pragma once
/// A step of one rank as its host launches it: operations of several streams in one order, and the memory they
/// need.

#include <optional>
#include <string>
#include <vector>

#include "workloads/program/program_builder.hpp"
#include "workloads/training/memory_ledger.hpp"
#include "workloads/training/setup.hpp"

namespace c3 { inline namespace workloads {

/// The pass that launches belong to; a launch costs the host a different time in each.
enum class HostPass { forward, backward };

/// What is wanted of a step.
enum class StepContent {
  operations,  ///< all: its operations, what hosts do, and its memory
  memory,  ///< its memory alone, which is far quicker: operations are counted, and streams and their names made
};

class StepProgram {
 public:
  using Stream = ProgramBuilder::Stream;

  /// Writes the script that \p builder has begun. Both must outlive it.
  StepProgram(const TrainingSetup& setup, ProgramBuilder& builder,
              StepContent content = StepContent::operations)
      : content_(content),
        framework_(setup.framework),
        costs_(host_costs(setup.host, setup.framework)),
        stalls_{.every = setup.host.stall_interval, .lasts = setup.host.stall},
        builder_(builder) {}

  /// The stream \p name, made at first mention.
  Stream stream(const std::string& name) { return builder_.stream(name); }

  /// What follows belongs to range \p name of the timeline.
  void begin_range(std::string name, HostPass pass);
  const std::string& range() const { return range_; }

  void kernel(Stream stream, const std::string& name, const Operator& op);
  void timed(Stream stream, const std::string& name, const TimedKernel& kernel);
  void collective(Stream stream, const std::string& name, CollectiveCall call);
  void exchange(Stream stream, const std::string& name, Exchange messages);
  void host_copy(Stream stream, const std::string& name, HostCopy copy);
  /// The event is called \p name with the number of its occurrence.
  EventId record(Stream stream, const std::string& name);
  void wait(Stream stream, EventId event);
  void host_wait(EventId event);
  /// The host launches as many kernels more, which run with the next one.
  void host_launches(int count);
  /// The host does something for \p time before it goes on.
  void host_work(Seconds time);
  /// What follows, up to end_graph(), is launched by one call, which takes as long as that of a kernel, and
  /// the host does nothing else for it.
  void begin_graph();
  void end_graph() { graph_.reset(); }
  /// What the host takes for each thing.
  const HostCosts& costs() const { return costs_; }
  /// \p later begins what follows when all that \p earlier has so far has ended.
  void order(Stream earlier, Stream later, const std::string& name) { wait(later, record(earlier, name)); }

  MemoryLedger& memory() { return memory_; }
  /// Operations of \p stream that the host has launched.
  std::size_t launched(Stream stream) const { return stream < launched_.size() ? launched_[stream] : 0; }
  /// Hands the script's host over: nothing follows.
  void finish();

 private:
  /// Counts an operation of \p stream. \returns whether it is to be written, too
  bool writes(Stream stream);
  void launch(OperationPlace place, Seconds cost);
  Seconds kernel_cost() const {
    return pass_ == HostPass::forward ? costs_.forward_launch : costs_.backward_launch;
  }

  const StepContent content_;
  const Framework& framework_;
  const HostCosts costs_;
  const HostStalls stalls_;
  ProgramBuilder& builder_;
  HostThread host_;
  MemoryLedger memory_;
  std::string range_;
  HostPass pass_ = HostPass::forward;
  /// Cost of the launch of the graph that is being written, until something has it.
  std::optional<Seconds> graph_;
  std::uint32_t events_ = 0;
  std::vector<std::size_t> launched_;  ///< by stream
};

}}  // namespace c3::workloads
