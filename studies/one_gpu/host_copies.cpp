// Kernels beside copies between the GPU and its host.

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "configs/jobs/experiment_reader.hpp"
#include "studies/one_gpu/functions.hpp"
#include "workloads/execute/run.hpp"
#include "workloads/program/program_builder.hpp"

namespace c3 { inline namespace studies {
namespace {

using namespace literals;

constexpr int kKernels = 8;  // one after another
// Lengths of a copy in the kernels' time alone: it ends before they do, even at half of its rate, or does not.
constexpr double kShort = 0.4, kLong = 3.0;

std::vector<HostWay> ways_in(const RowArguments& row) {
  const std::string way = row.text("way");
  if (way == "to_host") return {HostWay::to_host};
  if (way == "from_host") return {HostWay::from_host};
  if (way == "both") return {HostWay::to_host, HostWay::from_host};
  row.fail("way", "must be to_host, from_host or both");
}

/// One GPU of a preset's node, by itself.
ClusterSpec alone(const std::string& gpu) {
  ClusterSpec cluster = load_cluster(gpu + "-8");
  cluster.node.gpus = 1;
  cluster.node.host.memory = {};  // one GPU's copies are far below it
  return cluster;
}

class BesideCopies {
 public:
  BesideCopies(ClusterSpec cluster, const Operator& op) : op_(op) {
    experiment_.name = "copies";
    experiment_.cluster = std::move(cluster);
    experiment_.measure.loss_split = false;
  }

  /// Time of all kernels, and of the longest copy.
  struct Times {
    Seconds kernels, copy;
  };
  /// Each copy moves \p bytes.
  Times run(const std::vector<HostWay>& ways, Bytes bytes) {
    ProgramBuilder builder;
    const auto compute = builder.stream("compute");
    for (int i = 0; i < kKernels; ++i)
      builder.kernel(compute, "kernel", op_);
    for (const HostWay way : ways)
      builder.host_copy(builder.stream(way == HostWay::to_host ? "out" : "in"), "copy", {bytes, way});
    experiment_.program = builder.take();
    const Strategy strategy{.name = "at once", .order = {}, .streams = {}};
    const RunResult ran = run_once(experiment_, strategy, {});
    return {.kernels = ran.kernels.end - ran.kernels.release,
            .copy = ran.collectives.end - ran.collectives.release};
  }
  BytesPerSecond link(bool both) const {
    const LinkSpec& pcie = experiment_.cluster.node.pcie;
    return both ? pcie.both_ways : pcie.one_way;
  }

 private:
  Operator op_;
  Experiment experiment_;
};

}  // namespace

NumberSource host_copies_row(const RowArguments& row) {
  return [cluster = alone(row.text("gpu")), op = kernel_called(row, "kernel", row.text("kernel")),
          ways = ways_in(row)] {
    BesideCopies beside(cluster, op);
    const BytesPerSecond link = beside.link(ways.size() > 1);
    const Seconds without = beside.run({}, {}).kernels;
    const Seconds with = beside.run(ways, link * without * kLong).kernels;
    const Bytes some = link * without * kShort;
    const BytesPerSecond rate = some * static_cast<double>(ways.size()) / beside.run(ways, some).copy;
    return std::map<std::string, double>{{"slower", with / without}, {"rate_gb_s", rate / 1.0_GBps}};
  };
}

}}  // namespace c3::studies
