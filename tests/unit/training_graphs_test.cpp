// CUDA graphs: what the host launches, and the memory that stays.

#include <doctest/doctest.h>

#include <string>

#include "tests/support/near.hpp"
#include "tests/support/print_units.hpp"
#include "tests/unit/training_setups.hpp"

namespace c3::training_graphs_test {

using namespace literals;
using namespace test;

namespace {

/// A step of three layers and two micro-batches without sharding; a launch takes 1 us, one of the backward pass
/// 2, a layer 100.
TrainingSetup graphed(StepGraphs graphs) {
  TrainingSetup setup = llama_setup(3);
  setup.sharding = Sharding::none;
  setup.micro_batches = 2;
  setup.framework.host_backward = 2.0;
  setup.host.kernel_launch = 1.0_us;
  setup.host.layer_forward = setup.host.layer_backward = 100.0_us;
  setup.graphs = graphs;
  return setup;
}

Seconds host_time(const WrittenStep& step) {
  Seconds sum;
  for (const HostStep& host_step : host_of(step).steps)
    sum += host_step.cost;
  return sum;
}

/// Kernels of ranges whose name contains \p range.
double kernels(const WrittenStep& step, const std::string& range) {
  double count = 0.0;
  for (const Operation& operation : operations_of(step, "compute"))
    if (kernel_of(operation) != nullptr && step.program.range_of(operation).find(range) != std::string::npos)
      count += 1.0;
  return count;
}

double kept(const TrainingSetup& setup) {
  double sum = 0.0;
  for (const PartKernel& kernel : layer_kernels(setup).forward)
    sum += kernel.kept.value;
  return sum;
}

double graphs_of(const MemoryPeak& peak) {
  for (const MemoryTenant& tenant : peak.tenants)
    if (tenant.name == "graphs") return tenant.bytes.value;
  return 0.0;
}

}  // namespace

TEST_CASE("a graph of all passes is one launch, and the optimizer's kernels follow one by one") {
  const WrittenStep eager = training_step(graphed(StepGraphs::none), 1);
  const WrittenStep step = training_step(graphed(StepGraphs::step), 1);
  CHECK(kernels(step, "") == kernels(eager, ""));
  const double optimizer = kernels(step, "optimizer");
  CHECK(optimizer > 0.0);
  CHECK(host_time(step).value == near((1.0 + optimizer) * 1e-6));
  CHECK(step.facts.memory.bytes == eager.facts.memory.bytes);
}

TEST_CASE("a graph of a layer's pass is one launch, and the host still comes to each layer") {
  const WrittenStep eager = training_step(graphed(StepGraphs::none), 1);
  const WrittenStep step = training_step(graphed(StepGraphs::layers), 1);
  const TrainingSetup setup = graphed(StepGraphs::layers);
  const auto in_layers = [&](const std::vector<PartKernel>& kernels) {
    return static_cast<double>(kernels.size());
  };
  const StepBlock layer = layer_kernels(setup);
  // Three layers of two micro-batches, each way: all kernels but one are launched with it, by a call of 1 us.
  const double forward = 6 * (in_layers(layer.forward) - 1.0),
               backward = 6 * (2.0 * in_layers(layer.backward) - 1.0);
  CHECK((host_time(eager) - host_time(step)).value == near((forward + backward) * 1e-6));
}

TEST_CASE("what graphs of layers keep is there for the whole step, for each micro-batch in flight at once") {
  TrainingSetup setup = graphed(StepGraphs::layers);
  CHECK(graphs_of(training_step(setup, 1).facts.memory) == 3 * kept(setup));
  // 1F1B over two stages: the first has two of four micro-batches in flight, two layers each.
  setup.model.layers = 4;
  setup.micro_batches = 4;
  setup.pipeline.stages = 2;
  CHECK(graphs_of(training_step(setup, 2).facts.memory) == 2 * 2 * kept(setup));
}

TEST_CASE(
    "with one micro-batch graphs of layers hold no more than the same layers one by one when these hold most") {
  // At the end of its forward pass all that layers keep is there, in either case.
  TrainingSetup setup = graphed(StepGraphs::none);
  setup.micro_batches = 1;
  const Bytes eager = training_step(setup, 1).facts.memory.bytes;
  setup.graphs = StepGraphs::layers;
  CHECK(training_step(setup, 1).facts.memory.bytes.value == near(eager.value));
}

}  // namespace c3::training_graphs_test
