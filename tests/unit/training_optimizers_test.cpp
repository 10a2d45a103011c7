// Optimizers as operators: passes of each, what it keeps, which norms ranks add up, and where it runs.

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "gpu/kernels/vector/vector_shape.hpp"
#include "tests/support/near.hpp"
#include "tests/support/print_units.hpp"
#include "tests/unit/training_experiments.hpp"
#include "tests/unit/training_setups.hpp"
#include "workloads/execute/run.hpp"

namespace c3::training_optimizers_test {

using namespace test;

namespace {

TrainingSetup with(Optimizer optimizer, Sharding sharding = Sharding::none) {
  TrainingSetup setup = gpt_setup();
  setup.optimizer.kind = optimizer;
  setup.sharding = sharding;
  return setup;
}

Optimizer optimizer_named(const std::string& name) {
  for (const Optimizer optimizer : kOptimizers)
    if (name_of(optimizer) == name) return optimizer;
  throw std::logic_error("no optimizer " + name);
}

/// Numbers of weights and biases, and tensors that they are in.
struct Parameters {
  double numbers = 0.0;
  double tensors = 0.0;
};
Parameters parameters_of(const TrainingSetup& setup) {
  const ModelBlocks blocks = model_blocks(setup);
  Parameters sum;
  const auto add = [&](const StepBlock& block) {
    sum.numbers += static_cast<double>(block.parameters);
    sum.tensors += block.parameter_tensors;
  };
  add(blocks.embedding);
  add(blocks.head);
  for (std::int64_t layer = 0; layer < setup.model.layers; ++layer)
    add(blocks.layer(layer));
  return sum;
}

/// Bytes that kernels of the optimizer's range whose names begin with \p name read and write.
double moved(const WrittenStep& step, const std::string& name) {
  double bytes = 0.0;
  for (const Placed& placed : named(step, "compute", name)) {
    const auto* shape = kernel_of(*placed.operation)->as<VectorShape>();
    const VectorOpTraits& costs = traits(shape->chain.first());
    bytes += (costs.reads + costs.writes) * static_cast<double>(shape->rows * shape->cols) *
             element_size(shape->dtype).value;
  }
  return bytes;
}

}  // namespace

TEST_CASE(
    "LAMB reads and writes 12 numbers for each parameter: 7 in its first stage, 2 norms, 3 in its second") {
  const TrainingSetup setup = with(optimizer_named("lamb"));
  const WrittenStep step = training_step(setup, 1);
  const double number = 4.0 * parameters_of(setup).numbers;
  CHECK(moved(step, "lamb stage 1") == near(7 * number, 1e-3));
  CHECK(moved(step, "lamb norm of parameters") == near(number, 1e-3));
  CHECK(moved(step, "lamb norm of directions") == near(number, 1e-3));
  CHECK(moved(step, "lamb stage 2") == near(3 * number, 1e-3));
  // Norms of the whole decide the second stage's rates: no unit has it before all have the first.
  const auto last_norm = named(step, "compute", "lamb norm").back().place.operation;
  CHECK(named(step, "compute", "lamb stage 2").front().place.operation > last_norm);
}

TEST_CASE("LAMB's first stage clips: the pass that scales gradients is Adam's alone") {
  const auto clips = [](Optimizer optimizer, bool fused) {
    TrainingSetup setup = with(optimizer);
    setup.framework.fused_optimizer = fused;
    return named(training_step(setup, 1), "compute", "clip").size();
  };
  const std::size_t units = 3;  // of two layers and the root, whose norm is always taken
  CHECK(clips(Optimizer::adam, true) == 2 * units);
  CHECK(clips(optimizer_named("lamb"), true) == units);
  CHECK(clips(optimizer_named("lamb"), false) == 2 * units);
}

TEST_CASE("norms of tensors are added up over the ranks that have a part of each, two numbers a tensor") {
  const auto sums = [](TrainingSetup setup, int ranks) {
    std::vector<double> bytes;
    const WrittenStep step = training_step(setup, ranks);
    for (const Placed& placed : named(step, "norm", "norms of tensors"))
      bytes.push_back(step.program.call_of(*placed.operation)->bytes.value);
    return bytes;
  };
  for (const std::string name : {"lamb", "lars"}) {
    CAPTURE(name);
    TrainingSetup setup = with(optimizer_named(name));
    const double all = 8.0 * parameters_of(setup).tensors;
    CHECK(sums(setup, 4).empty());  // each rank has all of each tensor
    setup.sharding = Sharding::optimizer;
    CHECK(sums(setup, 4) == std::vector<double>{all});
    setup.sharding = Sharding::parameters;
    CHECK(sums(setup, 4) == std::vector<double>{all});
    setup.sharding = Sharding::none;
    setup.tensor_parallel = 2;
    CHECK(sums(setup, 2) == std::vector<double>{all});
    setup.sharding = Sharding::optimizer;
    CHECK(sums(setup, 4) ==
          std::vector<double>{all, all});  // over data-parallel ranks, then over tensor-parallel
  }
  CHECK(sums(with(Optimizer::adam, Sharding::optimizer), 4).empty());
  // Context-parallel ranks have the same weights, and shard them together with data-parallel ones.
  TrainingSetup context = llama_setup();
  context.optimizer.kind = optimizer_named("lamb");
  context.context.ranks = 2;
  CHECK(sums(context, 2) == std::vector<double>{8.0 * parameters_of(context).tensors});
}

TEST_CASE("every optimizer, however sharded: its states are in memory, and fusing it moves no more bytes") {
  for (const Optimizer optimizer : kOptimizers) {
    for (const Sharding sharding :
         {Sharding::none, Sharding::optimizer, Sharding::gradients, Sharding::parameters}) {
      CAPTURE(std::string(name_of(optimizer)));
      CAPTURE(std::string(name_of(sharding)));
      TrainingSetup setup = with(optimizer, sharding);
      setup.framework.master_copy = false;
      const Parameters all = parameters_of(setup);
      const double ranks = sharding == Sharding::none ? 1.0 : 4.0;
      const WrittenStep fused = training_step(setup, 4);
      CHECK(fused.facts.memory.of(MemoryClass::optimizer).value ==
            near(4.0 * optimizer->states * all.numbers / ranks, 1e-3));
      setup.framework.fused_optimizer = false;
      const std::string first(optimizer->fused.first.front().name);
      const std::string name = first.substr(0, first.find(' '));
      const double bytes = moved(fused, name);
      // It reads a gradient and a parameter, and writes a parameter, of each number that the rank updates.
      CHECK(bytes >= 3.0 * 4.0 * all.numbers / ranks);
      CHECK(moved(training_step(setup, 4), name) >= bytes);
    }
  }
}

namespace {

/// A step of one GPU whose memory computes at so many times its rate outside, and updates the parameters.
Experiment step_in_memory(TrainingSetup& setup, double inside) {
  Experiment experiment = fluid_step(setup, 1, true);
  experiment.cluster.gpu.hbm.pim.units = inside;
  setup.optimizer.place = Place::pim;
  set_training(experiment, setup);
  return experiment;
}

}  // namespace

TEST_CASE("near memory, the optimizer's kernels take their bytes at a multiple of HBM's rate and no CU") {
  for (const double inside : {1.0, 4.0, 16.0}) {
    CAPTURE(inside);
    TrainingSetup setup = with(optimizer_named("lamb"));
    const Experiment experiment = step_in_memory(setup, inside);
    const HbmSpec& hbm = experiment.cluster.gpu.hbm;
    double read = 0.0, written = 0.0;
    Seconds taken, least;
    for (const Operation& operation : experiment.program.scripts.front().streams.front()) {
      if (experiment.program.range_of(operation) != "optimizer") continue;
      CHECK(kernel_of(operation) == nullptr);
      const auto* timed = std::get_if<TimedKernel>(&operation.work);
      if (timed == nullptr) continue;
      read += timed->read.value;
      written += timed->written.value;
      taken += timed->duration;
      least += timed->read / hbm.read;
    }
    // fp16 gradients and parameters, fp32 masters, moments and directions, in numbers of 4 bytes: main
    // gradients 0.75 read and 0.75 written (a copy of as many bytes), unscaled 1 and 1, norm 1, stage one 4 and
    // 3, norms 2, stage two 2 and 1, parameters 0.75 and 0.75.
    const double number = 4.0 * parameters_of(setup).numbers;
    CHECK(read == near(11.5 * number, 1e-2));
    CHECK(written == near(6.5 * number, 1e-2));
    CHECK(taken * inside > least);  // writes take their turn
    CHECK(taken * inside < Seconds{(read + written) / hbm.copy.value * 1.25});
  }
}

TEST_CASE("a step whose optimizer runs near memory ends earlier by what its kernels save") {
  const auto time_of_step = [](double inside) {
    TrainingSetup setup = with(optimizer_named("lamb"));
    setup.model.vocabulary = 65'536;
    Experiment experiment = step_in_memory(setup, inside);
    HbmSpec& hbm = experiment.cluster.gpu.hbm;  // slower than the caches before it
    hbm.peak = hbm.read = hbm.write = hbm.copy = BytesPerSecond{5e12};
    set_training(experiment, setup);
    Seconds timed;
    for (const Operation& operation : experiment.program.scripts.front().streams.front())
      if (const auto* kernel = std::get_if<TimedKernel>(&operation.work)) timed += kernel->duration;
    return std::pair(run_once(experiment, Strategy{.name = "default", .order = {}, .streams = {}}, {}).time,
                     timed);
  };
  const auto [slow, slow_kernels] = time_of_step(1.0);
  const auto [fast, fast_kernels] = time_of_step(8.0);
  CHECK(fast_kernels.value == near(slow_kernels.value / 8.0, 1e-9));
  CHECK((slow - fast).value == near((slow_kernels - fast_kernels).value, 1e-6));
}

}  // namespace c3::training_optimizers_test
