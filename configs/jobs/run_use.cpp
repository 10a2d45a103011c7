#include "configs/jobs/run_use.hpp"

#include "gpu/kernels/operator_table.hpp"

namespace c3 { inline namespace configs {
namespace {

bool makes_masks(const Strategy& strategy) {
  for (const auto& [name, policy] : strategy.streams) {
    if (policy.cus.is_set() || policy.reserve_cus > 0) return true;
  }
  return false;
}

/// The backend of every stream that has collectives or messages.
void add_backends(RunUse& use, const Experiment& experiment, const Strategy& strategy) {
  const Program& program = experiment.program;
  for (std::size_t stream = 0; stream < program.streams.size(); ++stream) {
    if (!content_of(program, stream).collectives) continue;
    const auto found = strategy.streams.find(program.streams[stream]);
    const Backend backend = found == strategy.streams.end() ? Backend::cu : found->second.backend;
    use.channels = use.channels || backend == Backend::cu;
    use.engines = use.engines || backend == Backend::dma;
    use.fused = use.fused || backend == Backend::fused;
  }
}

}  // namespace

void RunUse::add(const Operator& op, const GpuSpec& gpu) {
  kernels = true;
  of_gpu.add(c3::use_of(op, gpu));
}

void RunUse::add(const CollectiveCall& call) {
  collectives = true;
  rooted = rooted || is_rooted(call.kind);
  in_pairs = in_pairs || sends_in_pairs(call.kind);
}

RunUse use_of(const Experiment& experiment) {
  RunUse use;
  for_each_operation(experiment.program, [&](const Operation& operation) {
    if (const Operator* op = kernel_of(operation)) use.add(*op, experiment.cluster.gpu);
    const auto* const timed = std::get_if<TimedKernel>(&operation.work);
    use.in_memory = use.in_memory || (timed != nullptr && timed->place == Place::pim);
    use.messages = use.messages || std::holds_alternative<Exchange>(operation.work);
  });
  use.host_copies = reaches_hosts(experiment.program);
  for (const Call& call : experiment.program.calls)
    use.add(call.what);
  if (use.messages) use.add(CollectiveCall{.kind = CollectiveKind::all_to_all_v});
  for (const Strategy& strategy : experiment.strategies) {
    add_backends(use, experiment, strategy);
    use.masks = use.masks || makes_masks(strategy);
    use.beside = use.beside || (!strategy.serial && experiment.program.streams.size() > 1);
    use.arbitrations.insert(strategy.hbm_arbitration.value_or(experiment.cluster.gpu.hbm.arbitration));
  }
  return use;
}

StepUse use_of(const TrainingSetup& setup, int ranks) {
  const int replicas = ranks / (setup.tensor_parallel * setup.pipeline.stages);
  return {.sharding = setup.sharding,
          .tensor_parallel = setup.tensor_parallel,
          .has_experts = setup.model.experts.has_value(),
          .bucket = setup.framework.bucket,
          .first_bucket = setup.framework.first_bucket,
          .bucket_of_ranks = setup.framework.per_rank_bucket * replicas};
}

}}  // namespace c3::configs
