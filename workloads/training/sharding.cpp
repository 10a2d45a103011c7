#include "workloads/training/sharding.hpp"

#include <utility>

#include "workloads/training/expert_data_parallel.hpp"
#include "workloads/training/fully_sharded.hpp"
#include "workloads/training/fully_sharded_experts.hpp"
#include "workloads/training/gradient_buckets.hpp"

namespace c3 { inline namespace workloads {

std::unique_ptr<DataParallel> make_data_parallel(const TrainingSetup& setup, std::vector<ParameterUnit> units,
                                                 const std::vector<ChunkUnits>& chunks, DataParallelGroup group,
                                                 StepProgram& program) {
  if (setup.sharding == Sharding::parameters && group.size > 1)
    return std::make_unique<FullyShardedParameters>(setup, std::move(units), group, program,
                                                    std::make_shared<ShardedInFlight>());
  return std::make_unique<GradientBuckets>(setup, std::move(units), chunks, group, program);
}

std::unique_ptr<DataParallel> make_data_parallel(const TrainingSetup& setup, std::vector<ParameterUnit> units,
                                                 const std::vector<ChunkUnits>& chunks, DataParallelGroup group,
                                                 const ExpertReplicas& experts, StepProgram& program) {
  std::vector<ParameterUnit> others = units;
  for (std::size_t unit = 0; unit < units.size(); ++unit) {
    others[unit].parameters -= experts.units[unit].parameters;
    others[unit].tensors -= experts.units[unit].tensors;
    others[unit].product_parameters -= experts.units[unit].product_parameters;
    others[unit].product_tensors -= experts.units[unit].product_tensors;
    others[unit].cast_parameters -= experts.units[unit].cast_parameters;
  }
  if (setup.sharding == Sharding::parameters)
    return std::make_unique<FullyShardedExperts>(setup, std::move(units), chunks,
                                                 ShardedUnits{std::move(others), std::move(group)},
                                                 ShardedUnits{experts.units, experts.group}, program);
  return std::make_unique<ExpertDataParallel>(
      setup, std::move(units), experts.units,
      make_data_parallel(setup, std::move(others), chunks, std::move(group), program),
      make_data_parallel(setup, experts.units, chunks, experts.group, program), program);
}

}}  // namespace c3::workloads
