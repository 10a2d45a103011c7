#include "workloads/execute/lower_bound.hpp"

#include <algorithm>

#include "gpu/kernel_model/gemm.hpp"

namespace c3 {

Seconds LowerBound::together() const { return std::max({kernels, collectives, hbm}); }

LowerBound lower_bound(const Experiment& experiment) {
  const ClusterSpec& cluster = experiment.cluster;
  const double ranks = cluster.node.gpus;
  Seconds compute;
  Bytes kernel_bytes, egress, collective_bytes;
  for (const StreamSpec& stream : experiment.streams) {
    for (const Operation& operation : stream.operations) {
      if (const auto* gemm = std::get_if<GemmShape>(&operation.work)) {
        const KernelDescription kernel = describe_gemm(operation.name, *gemm, cluster.gpu);
        compute += kernel.useful_flops / kernel.peak;
        kernel_bytes += kernel.compulsory;
      } else if (const auto* call = std::get_if<CollectiveCall>(&operation.work)) {
        egress += call->bytes * ((ranks - 1.0) / ranks);
        // An all-gather reads its shard once and writes the others'; an all-to-all reads and writes all of
        // them.
        const double read = call->kind == CollectiveKind::all_gather ? 1.0 : ranks - 1.0;
        collective_bytes += call->bytes * ((read + ranks - 1.0) / ranks);
      }
    }
  }
  LowerBound bound;
  bound.kernels = std::max(compute, kernel_bytes / cluster.gpu.hbm.peak);
  bound.collectives = std::max(egress / raw_egress(cluster.node), collective_bytes / cluster.gpu.hbm.peak);
  bound.hbm = (kernel_bytes + collective_bytes) / cluster.gpu.hbm.peak;
  return bound;
}

}  // namespace c3
