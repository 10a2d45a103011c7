#include "workloads/execute/lower_bound.hpp"

#include <algorithm>
#include <vector>

#include "gpu/kernel_model/gemm.hpp"

namespace c3 {

Seconds LowerBound::together() const { return std::max({kernels, collectives, hbm}); }

namespace {

/// Bytes that one rank cannot avoid.
struct RankBytes {
  Bytes kernels;
  LeastBytes collectives;
};

bool takes_part(const Operation& operation, int rank) {
  return operation.on.empty() || std::ranges::find(operation.on, rank) != operation.on.end();
}

/// Adds what the members of \p call's group cannot avoid.
void add_collective(std::vector<RankBytes>& ranks, const CollectiveCall& call, const NodeSpec& node) {
  const std::vector<int> members = members_of(call, node.gpus);
  for (std::size_t i = 0; i < members.size(); ++i) {
    const LeastBytes least = least_bytes(call, members, i, node.switch_reduces);
    LeastBytes& sum = ranks[static_cast<std::size_t>(members[i])].collectives;
    sum.out += least.out;
    sum.in += least.in;
    sum.hbm += least.hbm;
  }
}

}  // namespace

LowerBound lower_bound(const Experiment& experiment) {
  const ClusterSpec& cluster = experiment.cluster;
  std::vector<RankBytes> ranks(static_cast<std::size_t>(cluster.node.gpus));
  std::vector<Seconds> compute(ranks.size());
  Bytes traffic;
  for (const StreamSpec& stream : experiment.streams) {
    for (const Operation& operation : stream.operations) {
      if (const auto* call = std::get_if<CollectiveCall>(&operation.work)) {
        add_collective(ranks, *call, cluster.node);
        traffic += least_traffic(*call, members_of(*call, cluster.node.gpus), cluster.node.switch_reduces);
        continue;
      }
      const auto* gemm = std::get_if<GemmShape>(&operation.work);
      if (gemm == nullptr) continue;
      const KernelDescription kernel = describe_gemm(operation.name, *gemm, cluster.gpu);
      for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
        if (!takes_part(operation, static_cast<int>(rank))) continue;
        compute[rank] += kernel.useful_flops / kernel.peak;
        ranks[rank].kernels += kernel.compulsory;
      }
    }
  }
  LowerBound bound;
  const BytesPerSecond hbm = cluster.gpu.hbm.peak;
  const BytesPerSecond egress = raw_egress(cluster.node);
  const auto count = static_cast<double>(ranks.size());
  Seconds all_kernels;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    const auto& [kernel_bytes, least] = ranks[rank];
    const Seconds kernels = std::max(compute[rank], kernel_bytes / hbm);
    const Seconds collectives = std::max(std::max(least.out, least.in) / egress, least.hbm / hbm);
    bound.kernels = std::max(bound.kernels, kernels);
    bound.collectives = std::max(bound.collectives, collectives);
    bound.hbm = std::max(bound.hbm, (kernel_bytes + least.hbm) / hbm);
    bound.serial = std::max(bound.serial, kernels + collectives);
    all_kernels += kernels;
  }
  // Some rank has at least the average of what all must do together.
  const Seconds average_traffic = traffic / count / egress;
  bound.collectives = std::max(bound.collectives, average_traffic);
  bound.serial = std::max({bound.serial, all_kernels / count + average_traffic, bound.together()});
  return bound;
}

}  // namespace c3
