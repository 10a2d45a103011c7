#include "app/memory/memory_account.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "workloads/execute/memory_plan.hpp"

namespace c3 { inline namespace app {
namespace {

PlannedMemory planned(const Program& program, const MemoryPlan& plan) {
  PlannedMemory memory;
  for (const MemoryPlan::Largest& largest : plan.streams)
    memory.largest.push_back(
        {program.names[largest.operation], program.streams[largest.stream], largest.bytes});
  if (plan.is_known) memory.total = plan.total();
  return memory;
}

}  // namespace

bool MemoryAccount::fits() const {
  if (facts) return facts->fits();
  const bool steps_fit = std::ranges::all_of(
      steps, [this](const SteppedMemory& step_memory) { return step_memory.memory.peak.held <= limit; });
  return steps_fit && std::ranges::all_of(plans, [this](const PlannedMemory& plan) {
           return plan.total.value_or(Bytes{}) <= limit;
         });
}

std::size_t MemoryAccount::fullest() const {
  const auto needs = [](const SteppedMemory& step_memory) {
    return std::pair(step_memory.memory.peak.held, step_memory.memory.peak.bytes);
  };
  return static_cast<std::size_t>(std::ranges::max_element(steps, {}, needs) - steps.begin());
}

MemoryAccount memory_account(const MemoryRequest& request, const ExperimentFile& file) {
  const Experiment experiment = file.sketch();  // its scripts are those of the whole
  const Program& program = experiment.program;
  const int ranks = experiment.cluster.ranks();
  MemoryAccount account{.experiment = experiment.name,
                        .system = title_of(experiment.cluster),
                        .limit = experiment.cluster.gpu.hbm.size,
                        .steps = {},
                        .plans = {}};
  const auto name_of_script = [&](std::uint32_t script) { return program.names[program.scripts[script].name]; };
  if (const std::optional<ImageJob> job = file.image_network()) {
    account.steps.push_back({"", ranks_of_script(program, 0, ranks), memory_of(*job, ranks)});
    return account;
  }
  if (!experiment.step) {
    const std::vector<MemoryPlan> plans = memory_plans(experiment);
    for (std::uint32_t script = 0; script < plans.size(); ++script) {
      PlannedMemory& plan = account.plans.emplace_back(planned(program, plans[script]));
      plan.name = name_of_script(script);
      plan.ranks = ranks_of_script(program, script, ranks);
    }
    return account;
  }
  const Experiment outline = file.outline();
  StepMemory memory = memory_of_step(outline);
  account.facts = std::move(memory.facts);
  account.limit = account.facts->memory_size;
  account.time = closed_form_time(outline, *account.facts);
  for (std::uint32_t script = 0; script < memory.stages.size(); ++script)
    account.steps.push_back(
        {name_of_script(script), ranks_of_script(program, script, ranks), std::move(memory.stages[script])});
  if (request.changes.value_or(!account.facts->fits()))
    account.changes = memory_changes(request, training_of(outline), *account.facts);
  return account;
}

}}  // namespace c3::app
