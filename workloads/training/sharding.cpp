#include "workloads/training/sharding.hpp"

#include <utility>

#include "workloads/training/fully_sharded.hpp"
#include "workloads/training/gradient_buckets.hpp"

namespace c3::inline workloads {

std::unique_ptr<DataParallel> make_data_parallel(const TrainingSetup& setup, std::vector<ParameterUnit> units,
                                                 const std::vector<ChunkUnits>& chunks, DataParallelGroup group,
                                                 StepProgram& program) {
  if (setup.sharding == Sharding::parameters && group.size > 1)
    return std::make_unique<FullyShardedParameters>(setup, std::move(units), group, program);
  return std::make_unique<GradientBuckets>(setup, std::move(units), chunks, group, program);
}

}  // namespace c3::workloads
