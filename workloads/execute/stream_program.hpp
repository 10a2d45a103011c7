#pragma once
/// A stream of one rank: its operations, one after another.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "collectives/backends/fused/fused_collective.hpp"
#include "engine/event.hpp"
#include "gpu/kernels/operator.hpp"
#include "workloads/execute/address_plan.hpp"
#include "workloads/execute/call_runs.hpp"
#include "workloads/execute/event_table.hpp"
#include "workloads/execute/flow_corrections.hpp"
#include "workloads/execute/fusions.hpp"
#include "workloads/execute/host_copies.hpp"
#include "workloads/execute/host_threads.hpp"
#include "workloads/execute/kernel_replay.hpp"
#include "workloads/execute/kernel_share.hpp"
#include "workloads/execute/message_runs.hpp"
#include "workloads/execute/operation_filter.hpp"
#include "workloads/execute/run_result.hpp"
#include "workloads/execute/timed_calls.hpp"
#include "workloads/experiment.hpp"

namespace c3 { inline namespace workloads {

/// What all ranks' programs of a stream have in common.
struct StreamContext {
  const Program* program = nullptr;
  const Measure* measure = nullptr;
  int index = 0;  ///< of the stream in the program
  int order = 0;  ///< position in which the strategy enqueues it
  StreamPolicy policy;
  CuRange range;
  KernelShare* share = nullptr;  ///< for which its products are tuned
  OperationFilter filter = OperationFilter::all;
  const CallRuns* calls = nullptr;
  MessageRuns* messages = nullptr;
  const Fusions* fusions = nullptr;
  TimedCalls* timed_calls = nullptr;
  const HostCopies* host_copies = nullptr;
  KernelReplay* replay = nullptr;          ///< where kernels may be replayed
  FlowCorrections* corrections = nullptr;  ///< where KernelGrain::automatic is a flow
  AddressPlan* addresses = nullptr;        ///< at MemoryGrain::channels

  bool has(OperationFilter operations) const { return filter == OperationFilter::all || filter == operations; }
  const std::string& name() const { return program->streams[static_cast<std::size_t>(index)]; }
};

class StreamProgram {
 public:
  /// Operations wait for \p host to launch them; where it is null they are all launched at date \p launch.
  /// \param late date at which the rank begins, before which it does nothing
  StreamProgram(Cluster& cluster, const StreamContext& context, EventTable& events, HostThreads* host, int rank,
                Seconds late, Seconds launch);

  const std::string& name() const { return name_; }
  /// Runs all operations; \p first (may be null) must be set before. `ended()` is set after the last.
  Task run(Event* first);
  Event& ended() { return ended_; }
  const SideSpan& kernels() const { return kernels_; }
  const SideSpan& collectives() const { return collectives_; }
  /// Release and end of each operation; meaningful for kernels and collectives.
  const std::vector<SideSpan>& spans() const { return spans_; }
  /// What they belong to.
  const std::vector<Operation>& operations() const { return operations_; }
  /// The first message of each exchange that has ended, by operation.
  const std::map<std::size_t, const CollectiveRun*>& exchanges() const { return exchanges_; }
  /// When the last member came, of operations that waited for it.
  const std::map<std::size_t, Seconds>& last_arrivals() const { return last_arrivals_; }

 private:
  bool is_wait(std::size_t index) const;
  bool takes_time(std::size_t index) const;  ///< whether it is a kernel or a collective that takes place
  /// A range begins with the first kernel or collective of a name, and ends with the last before another name.
  void begin_range(std::size_t index);
  void end_range(std::size_t index);
  Task take_turn(std::size_t index);
  Task run_operation(std::size_t index);
  Seconds launch_delay(std::size_t index) const;
  /// The same of one that has RecordedLags.
  Seconds recorded_delay(std::size_t index) const;
  /// From there to its first work group.
  Seconds start_on_device(std::size_t index) const;
  Task run_operator(Operator op, std::size_t index, Seconds delay);
  /// What the flow of a kernel at KernelGrain::automatic must be corrected by.
  double correction_of(const Operator& op, std::size_t index, const KernelDescription& kernel) const;
  Task run_timed(TimedKernel kernel, std::size_t index, Seconds delay);
  Task copy(HostCopy copy, std::size_t index, Seconds delay);
  /// All messages of the exchange at \p index.
  Task exchange(std::size_t index, Seconds release, Seconds delay);
  /// Tells the rank's memory where the operands of the operation at \p index lie. \param width of a collective
  void place(std::size_t index, int width = AddressPlan::kUsualWidth);
  KernelLaunch launch_of(std::size_t index, Seconds delay) const;
  Task wait_for(WaitEvent wait);
  void note(std::size_t index, SideSpan& side, Seconds release);
  /// The last member of \p index's collective or message came when this rank had waited since \p release.
  void note_arrival(std::size_t index, Seconds release, Seconds last);

  Cluster& cluster_;
  Simulation& simulation_;
  const StreamContext& context_;
  const Program& program_;
  const std::vector<Operation>& operations_;
  EventTable& events_;
  HostThreads* host_;
  Company* company_;  ///< of its rank, where kernels may be replayed
  int rank_;
  Seconds late_;
  Seconds launch_;
  std::string name_;
  bool is_first_ = true;
  std::optional<Seconds> free_;  ///< date at which what its next operation depends on ended; absent: nothing
  std::optional<Seconds> end_;   ///< of the last kernel or collective
  Seconds awaited_;              ///< no date before this one for the next, by the lags of events
  ActivityId previous_ = kNoActivity;
  ActivityId open_range_ = kNoActivity;    ///< in which it is
  std::span<const ChannelShares> places_;  ///< of what it runs now, at MemoryGrain::channels
  SideSpan kernels_, collectives_;
  std::vector<SideSpan> spans_;
  std::map<std::size_t, const CollectiveRun*> exchanges_;
  std::map<std::size_t, Seconds> last_arrivals_;
  Event ended_;
};

}}  // namespace c3::workloads
