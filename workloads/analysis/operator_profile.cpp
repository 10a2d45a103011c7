#include "workloads/analysis/operator_profile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <stdexcept>

#include "collectives/library/tuner.hpp"
#include "collectives/measure.hpp"
#include "gpu/kernels/describe.hpp"
#include "gpu/kernels/operator_table.hpp"
#include "workloads/execute/step_breakdown.hpp"

namespace c3 { inline namespace workloads {
namespace {

class Profiler {
 public:
  Profiler(const Program& program, const ClusterSpec& cluster) : program_(program), cluster_(cluster) {}

  std::optional<ProfiledOperator> of(const Operation& operation, OperationPlace place) const {
    ProfiledOperator its{.place = place,
                         .range = kind_of_range(program_.range_of(operation)),
                         .name = program_.name_of(operation),
                         .group = class_of(program_, operation)};
    if (const Operator* op = kernel_of(operation)) {
      add_kernel(its, *op);
    } else if (const auto* timed = std::get_if<TimedKernel>(&operation.work)) {
      its.rule = "bytes";
      its.rate = "hbm";
      its.bytes = timed->read + timed->written;
      its.work = its.bytes.value > 0.0 ? its.bytes.value : timed->duration.value;
    } else if (const CollectiveCall* call = program_.call_of(operation)) {
      add_collective(its, *call);
    } else if (std::holds_alternative<Exchange>(operation.work)) {
      throw std::invalid_argument("messages between ranks, as of a pipeline, cannot be profiled alone");
    } else if (std::holds_alternative<HostCopy>(operation.work)) {
      throw std::invalid_argument(
          "copies to and from hosts, as of offloaded activations, cannot be profiled alone");
    } else {
      return std::nullopt;
    }
    return its;
  }

 private:
  void add_kernel(ProfiledOperator& its, const Operator& op) const {
    const KernelDescription kernel = describe(its.name, op, cluster_.gpu);
    its.flops = kernel.useful_flops;
    its.bytes = kernel.compulsory;
    const OperatorClass& of = op.of_class();
    its.rule = of.has_product() ? of.name : "bytes";
    its.work = of.has_product() ? its.flops.value : its.bytes.value;
    its.rate = of.has_product() ? c3::name_of(of.multiplies(op)) : "hbm";
  }

  // A ring's rank sends so much of its buffer.
  void add_collective(ProfiledOperator& its, const CollectiveCall& call) const {
    its.rule = "collective";
    its.bytes = call.bytes;
    const std::vector<int> group = members_of(call, cluster_.ranks());
    const auto node_of = [&](int rank) { return rank / cluster_.node.gpus; };
    const bool is_in_node = node_of(group.front()) == node_of(group.back());
    its.rate = is_in_node ? "links" : "fabric";
    const int members = static_cast<int>(group.size());
    its.work = call.bytes.value * bus_factor(call.kind, members);
    its.group = fmt::format("{} of {}", its.group, members);
  }

  const Program& program_;
  const ClusterSpec& cluster_;
};

}  // namespace

std::string kind_of_range(const std::string& range) {
  const std::string micro_batch = "micro-batch ";
  std::string kind = range.starts_with(micro_batch) ? range.substr(range.find(", ") + 2) : range;
  while (!kind.empty() && (std::isdigit(static_cast<unsigned char>(kind.back())) != 0 || kind.back() == ' '))
    kind.pop_back();
  return kind;
}

std::vector<ProfiledOperator> profile(const Program& program, const Script& script,
                                      const ClusterSpec& cluster) {
  const Profiler profiler(program, cluster);
  std::vector<ProfiledOperator> operators;
  for (std::size_t stream = 0; stream < script.streams.size(); ++stream) {
    for (std::size_t i = 0; i < script.streams[stream].size(); ++i) {
      if (auto its = profiler.of(script.streams[stream][i], {stream, i})) operators.push_back(std::move(*its));
    }
  }
  return operators;
}

Seconds IsolatedTimes::of(const Operation& operation) {
  if (const auto* timed = std::get_if<TimedKernel>(&operation.work)) return timed->duration;
  if (const Operator* op = kernel_of(operation)) {
    return kernels_.of(operation.name, *op, [&] {
      const Seconds launch = cluster_.gpu.dispatch.launch_latency;
      return time_of(*op, cluster_.gpu, {.launch = LaunchCost::device}).time - launch;
    });
  }
  const CollectiveCall* call = program_.call_of(operation);
  if (call == nullptr) return {};
  const auto known = std::ranges::find(calls_, *call, &TimedCall::call);
  if (known != calls_.end()) return known->time;
  const CollectiveMeasurement measured =
      measure_collective(cluster_, *call, {.method = choose_method(*call, cluster_, {})});
  calls_.push_back({*call, measured.time});
  return measured.time;
}

}}  // namespace c3::workloads
