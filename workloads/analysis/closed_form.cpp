#include "workloads/analysis/closed_form.hpp"

#include <algorithm>
#include <optional>

#include "collectives/library/tuner.hpp"
#include "engine/interrupt.hpp"
#include "gpu/kernel_time.hpp"
#include "gpu/kernels/describe.hpp"
#include "interconnect/spec.hpp"

namespace c3::inline workloads {
namespace {

/// Times operations alone, each unlike one once.
class ClosedFormTimes {
 public:
  explicit ClosedFormTimes(const Experiment& experiment)
      : program_(experiment.program), cluster_(experiment.cluster) {}

  Seconds of(const Operation& operation) {
    if (const auto* timed = std::get_if<TimedKernel>(&operation.work)) return timed->duration;
    if (const Operator* op = kernel_of(operation)) return of(*op);
    const auto* join = std::get_if<JoinCall>(&operation.work);
    if (join == nullptr) return {};
    if (program_.calls[join->call].is_timed) return operation.recorded ? operation.recorded->lasts : Seconds{};
    return of(program_.calls[join->call].what);
  }

 private:
  struct TimedOperator {
    Operator op;
    Seconds time;
  };
  struct TimedCall {
    CollectiveCall call;
    Seconds time;
  };

  Seconds of(const Operator& op) {
    const auto known = std::ranges::find(kernels_, op, &TimedOperator::op);
    if (known != kernels_.end()) return known->time;
    checkpoint();
    const Seconds launch = cluster_.gpu.dispatch.launch_latency;
    const Seconds alone = time_of(op, cluster_.gpu, {.launch = LaunchCost::device}).time - launch;
    kernels_.push_back({op, alone});
    return alone;
  }

  Seconds of(const CollectiveCall& call) {
    const auto known = std::ranges::find(calls_, call, &TimedCall::call);
    if (known != calls_.end()) return known->time;
    checkpoint();
    const CollectiveMethod method = choose_method(call, cluster_, {});
    const std::optional<Seconds> expected = expected_time(call, method.algorithm, method.protocol, cluster_);
    const Seconds alone = expected ? *expected : at_link_rate(call);
    calls_.push_back({call, alone});
    return alone;
  }

  Seconds at_link_rate(const CollectiveCall& call) const {
    const std::vector<int> members = members_of(call, cluster_.ranks());
    const bool in_node = members.front() / cluster_.node.gpus == members.back() / cluster_.node.gpus;
    const Bytes traffic = least_traffic(call, members, cluster_.node.switch_reduces);
    const BytesPerSecond rate =
        in_node || !cluster_.fabric
            ? raw_egress(cluster_.node)
            : cluster_.fabric->nic.raw *
                  (static_cast<double>(cluster_.fabric->nics_per_node) / cluster_.node.gpus);
    return traffic * (1.0 / static_cast<double>(members.size())) / rate;
  }

  const Program& program_;
  const ClusterSpec& cluster_;
  std::vector<TimedOperator> kernels_;
  std::vector<TimedCall> calls_;
};

}  // namespace

ClosedFormTime closed_form_time(const Experiment& experiment) {
  const Program& program = experiment.program;
  ClosedFormTimes times(experiment);
  ClosedFormTime longest;
  for (const Script& script : program.scripts) {
    ClosedFormTime its;
    std::vector<std::vector<Seconds>> lasts;
    for (const std::vector<Operation>& stream : script.streams) {
      std::vector<Seconds>& of_stream = lasts.emplace_back();
      for (const Operation& operation : stream) {
        of_stream.push_back(times.of(operation));
        (communicates(operation) ? its.communication : its.kernels) += of_stream.back();
      }
    }
    its.time = schedule(program, script, lasts).time;
    if (its.time >= longest.time) longest = its;
  }
  if (experiment.step && experiment.step->pipeline) {
    longest.bubble = experiment.step->pipeline->bubble_share;
    longest.time = longest.time * (1.0 / (1.0 - longest.bubble));
  }
  return longest;
}

}  // namespace c3::workloads
