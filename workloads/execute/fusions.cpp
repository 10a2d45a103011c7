#include "workloads/execute/fusions.hpp"

#include <fmt/format.h>

#include "engine/errors.hpp"
#include "gpu/kernels/describe.hpp"
#include "workloads/execute/partition.hpp"

namespace c3 { inline namespace workloads {

Fusions::Fusions(const Experiment& experiment, const Strategy& strategy, const CallRuns& calls)
    : calls_(calls) {
  const Program& program = experiment.program;
  for (std::size_t stream = 0; stream < program.streams.size(); ++stream) {
    if (policy_of(strategy, program.streams[stream]).backend != Backend::fused) continue;
    for (std::uint32_t script = 0; script < program.scripts.size(); ++script) {
      for (std::size_t i = 0; i < program.scripts[script].streams[stream].size(); ++i)
        add(experiment, strategy, script, {stream, i});
    }
  }
}

void Fusions::add(const Experiment& experiment, const Strategy& strategy, std::uint32_t script,
                  OperationPlace place) {
  const Program& program = experiment.program;
  const Script& its = program.scripts[script];
  const Operation& operation = its.streams[place.stream][place.operation];
  const auto* join = std::get_if<JoinCall>(&operation.work);
  if (join == nullptr || calls_[join->call].is_empty()) return;
  const auto refuse = [&](const std::string& why) {
    throw InfeasibleError(fmt::format("strategy '{}', stream '{}': {}: {}", strategy.name,
                                      program.streams[place.stream], program.name_of(operation), why));
  };
  const auto producer = producer_of(its, place);
  if (!producer)
    refuse(
        R"(backend = "fused" needs the kernel that makes its data right before it on its stream, or before the )"
        "event that it waits for");
  const Operation& kernel = its.streams[producer->stream][producer->operation];
  if (grain_of(experiment.measure, *kernel_of(kernel)) == KernelGrain::fluid)
    refuse(R"(backend = "fused" follows work groups: measure.kernel_grain must be "cohort" or "work_group")");
  const bool is_for_whole_gpu = policy_of(strategy, program.streams[producer->stream]).kernel_selection ==
                                StreamPolicy{}.kernel_selection;  // of another, the plan is known when it runs
  if (is_for_whole_gpu && describe({}, *kernel_of(kernel), experiment.cluster.gpu).split > 1)
    refuse(fmt::format("'{}' adds up parts of K after it has made them; such a kernel cannot be fused",
                       program.name_of(kernel)));
  const bool is_free =
      fused_.emplace(std::tuple(script, producer->stream, producer->operation), join->call).second;
  if (!is_free) refuse(fmt::format("'{}' is fused with another collective already", program.name_of(kernel)));
}

FusedCollective* Fusions::of(std::uint32_t script, OperationPlace place, int rank) const {
  if (fused_.empty()) return nullptr;
  const auto found = fused_.find(std::tuple(script, place.stream, place.operation));
  return found == fused_.end() ? nullptr : dynamic_cast<FusedCollective*>(calls_[found->second].of(rank));
}

}}  // namespace c3::workloads
