#pragma once
/// How long an operation takes by closed form, with the machine to itself.

#include <vector>

#include "workloads/experiment.hpp"

namespace c3::inline workloads {

/// Times operations, each unlike one once: kernels as their closed form says, collectives as their library's
/// formula expects (expected_time; where it has none, their bytes at the rate of the slowest link that they
/// pass), messages and copies 0.
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

  Seconds of(const Operator& op);
  Seconds of(const Call& call);

  const Program& program_;
  const ClusterSpec& cluster_;
  const Strategy* strategy_;
  std::vector<TimedOperator> kernels_;
  std::vector<TimedCall> calls_;
};

/// Rate at which one GPU of \p cluster reaches \p to from \p from: of its links, or of its share of the NICs.
BytesPerSecond rate_between(int from, int to, const ClusterSpec& cluster);

}  // namespace c3::workloads
