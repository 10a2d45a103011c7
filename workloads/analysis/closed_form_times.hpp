#pragma once
/// How long an operation takes by closed form, with the machine to itself.

#include <vector>

#include "workloads/experiment.hpp"

namespace c3 { inline namespace workloads {

/// Times operations, each unlike one once: kernels as their closed form says; collectives as NCCL's formula
/// expects (expected_time), or with RCCL, whose formula is about whole nodes, with copy engines and without a
/// formula as time_at_rates() says, and no less than the channels need to which a strategy limits them;
/// copies to and from a host at the rate of its link, what it copies itself at a GPU's share of its memory, and
/// 0 where these are not known; messages 0.
class ClosedFormTimes {
 public:
  /// \param strategy whose methods collectives have; none: as the library chooses. All of them outlive it.
  explicit ClosedFormTimes(const Experiment& experiment, const Strategy* strategy = nullptr)
      : program_(experiment.program), cluster_(experiment.cluster), strategy_(strategy) {}

  /// \throws InfeasibleError as describe() does, InterruptedError
  Seconds of(const Operation& operation);

 private:
  struct TimedOperator {
    Operator op;
    Seconds time;
  };
  struct TimedCall {
    CollectiveCall call;
    std::size_t stream;
    Seconds time;
  };

  Seconds of(const HostCopy& copy) const;
  Seconds of(const Operator& op);
  Seconds of(const Call& call);
  Seconds alone(const Call& call) const;

  const Program& program_;
  const ClusterSpec& cluster_;
  const Strategy* strategy_;
  std::vector<TimedOperator> kernels_;
  std::vector<TimedCall> calls_;
};

/// What the links of one GPU of \p cluster carry of a library's payload to \p peers others of its node, all at
/// once.
BytesPerSecond rate_in_node(int peers, const ClusterSpec& cluster);
/// What one GPU's share of the NICs of its node carries. \pre there is a fabric
BytesPerSecond rate_between_nodes(const ClusterSpec& cluster);

/// The bytes of \p call at the rate of links in a node, or of NICs where these take longer. A ring's data leave
/// a node by the NICs of all its members, what goes in pairs by each one's own. Wrong when: latency counts, or
/// members lie unevenly over nodes.
Seconds time_at_rates(const CollectiveCall& call, const ClusterSpec& cluster);

}}  // namespace c3::workloads
