#pragma once
/// Which data parallelism a step has.

#include <memory>

#include "workloads/training/data_parallel.hpp"

namespace c3::inline workloads {

/// What the setup's `sharding` names: fully sharded parameters, else buckets of gradients.
/// \param chunks of the stage
std::unique_ptr<DataParallel> make_data_parallel(const TrainingSetup& setup, std::vector<ParameterUnit> units,
                                                 const std::vector<ChunkUnits>& chunks, DataParallelGroup group,
                                                 StepProgram& program);

}  // namespace c3::workloads
