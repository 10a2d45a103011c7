#pragma once
/// A program operator by operator: what each one does, and how long it takes with the machine to itself.

#include <cstddef>
#include <string>
#include <vector>

#include "collectives/spec.hpp"
#include "workloads/program/operator_values.hpp"
#include "workloads/program/program.hpp"

namespace c3 { inline namespace workloads {

/// Of which kind a range of the timeline is, whatever the numbers of its micro-batch and layer: "micro-batch 3,
/// forward, layer 12" is "forward, layer".
std::string kind_of_range(const std::string& range);

/// A kernel or a collective of a script.
struct ProfiledOperator {
  OperationPlace place;
  std::string range;      ///< without the numbers of layer and micro-batch: "forward, layer"
  std::string name;       ///< "attn.qkv"
  std::string group;      ///< as class_of names it; of a collective with its ranks: "all_reduce of 8"
  std::string rule = {};  ///< by what its work grows: a class that multiplies, as "gemm"; "bytes"; "collective"
  double work = 0.0;      ///< flops of such a class, bytes of other kernels, what a ring sends of a collective
  Flops flops = {};       ///< of a kernel, padding excluded
  Bytes bytes = {};  ///< of a kernel: inputs read once and outputs written once; of a collective: the buffer
  std::string rate =
      {};  ///< of the hardware, to which its time is inverse: the data type of products, "hbm", "links"

  bool is_collective() const { return rule == "collective"; }
  bool is_product() const { return !rule.empty() && rule != "bytes" && !is_collective(); }
};

/// Every kernel and collective of \p script, stream by stream. \throws InfeasibleError as describe() does;
/// std::invalid_argument for messages between ranks, whose time depends on when the other rank comes
std::vector<ProfiledOperator> profile(const Program& program, const Script& script, const ClusterSpec& cluster);

/// Times operators alone, each unlike one once: kernels on their device without a launch, collectives of a
/// graph.
class IsolatedTimes {
 public:
  /// \p program and \p cluster must outlive it.
  IsolatedTimes(const Program& program, const ClusterSpec& cluster) : program_(program), cluster_(cluster) {}

  Seconds of(const Operation& operation);
  /// Operators that were timed.
  std::size_t timed() const { return kernels_.size() + calls_.size(); }

 private:
  struct TimedCall {
    CollectiveCall call;
    Seconds time;
  };

  const Program& program_;
  const ClusterSpec& cluster_;
  OperatorValues<Seconds> kernels_;
  std::vector<TimedCall> calls_;
};

}}  // namespace c3::workloads
