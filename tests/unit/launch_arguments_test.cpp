// Arguments of Megatron-LM, by layout.

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/support/clusters.hpp"
#include "tests/unit/training_pipelines.hpp"
#include "tests/unit/training_setups.hpp"
#include "workloads/training/launch_arguments.hpp"

namespace c3::launch_arguments_test {

using namespace test;

namespace {

TrainingSetup megatron(TrainingSetup setup) {
  setup.framework.name = "megatron-core";
  return setup;
}

LaunchArguments launched(const TrainingSetup& setup) {
  return launch_arguments(setup, nodes_of(NodeTopology::switched, 2, 8)).value();
}

/// What follows \p flag; "set" if it ends the line or another flag follows; "" without it.
std::string value_of(const LaunchArguments& launch, const std::string& flag) {
  const auto found = std::ranges::find(launch.words, flag);
  if (found == launch.words.end()) return {};
  return found + 1 == launch.words.end() || (found + 1)->starts_with("--") ? "set" : *(found + 1);
}

}  // namespace

TEST_CASE("a layout is written as Megatron-LM's arguments") {
  TrainingSetup setup = megatron(pipelined(llama_setup(8), 2, 4, ScheduleKind::interleaved));
  setup.tensor_parallel = 2;
  setup.sequence_parallel = true;
  setup.sharding = Sharding::optimizer;
  setup.recompute = Recompute::full;
  const LaunchArguments launch = launched(setup);
  CHECK(launch.words.front() == "torchrun");
  CHECK(value_of(launch, "--nnodes") == "2");
  CHECK(value_of(launch, "--nproc-per-node") == "8");
  CHECK(value_of(launch, "--tensor-model-parallel-size") == "2");
  CHECK(value_of(launch, "--sequence-parallel") == "set");
  CHECK(value_of(launch, "--pipeline-model-parallel-size") == "2");
  CHECK(value_of(launch, "--num-virtual-stages-per-pipeline-rank") ==
        std::to_string(setup.pipeline.virtual_stages));
  CHECK(value_of(launch, "--use-distributed-optimizer") == "set");
  CHECK(value_of(launch, "--recompute-granularity") == "full");
  CHECK(value_of(launch, "--context-parallel-size").empty());
  // 16 GPUs over tensor and pipeline of 2 each: 4 replicas.
  CHECK(value_of(launch, "--global-batch-size") == std::to_string(setup.micro_batch * setup.micro_batches * 4));
  CHECK(launch.unsaid.empty());
}

TEST_CASE("what Megatron-LM has no argument for is listed") {
  TrainingSetup setup = megatron(pipelined(llama_setup(4), 2, 4, ScheduleKind::zb_h1));
  setup.recompute = Recompute::selective;
  setup.tensor_overlap = TensorOverlap::ring;
  CHECK(launched(setup).unsaid ==
        std::vector<std::string>{"tensor_overlap = ring", "schedule = zb-h1", "recompute = selective"});
}

TEST_CASE("context parallelism and full sharding have arguments, other frameworks none") {
  TrainingSetup setup = megatron(llama_setup(4));
  setup.context = {.ranks = 8, .exchange = ContextExchange::hierarchical, .inner = 2};
  setup.sharding = Sharding::parameters;
  const LaunchArguments launch = launched(setup);
  CHECK(value_of(launch, "--cp-comm-type") == "a2a+p2p");
  const auto sizes = std::ranges::find(launch.words, "--hierarchical-context-parallel-sizes");
  CHECK(std::vector<std::string>(sizes + 1, sizes + 3) == std::vector<std::string>{"2", "4"});
  CHECK(value_of(launch, "--data-parallel-sharding-strategy") == "optim_grads_params");
  setup.framework.name = "pytorch-eager";
  CHECK_FALSE(launch_arguments(setup, nodes_of(NodeTopology::switched, 2, 8)));
}

}  // namespace c3::launch_arguments_test
