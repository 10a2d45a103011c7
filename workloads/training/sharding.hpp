#pragma once
/// Which data parallelism a step has.

#include <memory>

#include "workloads/training/data_parallel.hpp"

namespace c3 { inline namespace workloads {

/// What the setup's `sharding` names: fully sharded parameters, else buckets of gradients.
/// \param chunks of the stage
std::unique_ptr<DataParallel> make_data_parallel(const TrainingSetup& setup, std::vector<ParameterUnit> units,
                                                 const std::vector<ChunkUnits>& chunks, DataParallelGroup group,
                                                 StepProgram& program);

/// What a rank has of experts, and the ranks that have the same.
struct ExpertReplicas {
  std::vector<ParameterUnit> units;
  DataParallelGroup group;
};
/// The same where \p experts, whose numbers are among \p units, have replicas of their own.
std::unique_ptr<DataParallel> make_data_parallel(const TrainingSetup& setup, std::vector<ParameterUnit> units,
                                                 const std::vector<ChunkUnits>& chunks, DataParallelGroup group,
                                                 const ExpertReplicas& experts, StepProgram& program);

}}  // namespace c3::workloads
