// Tensor and sequence parallelism: collectives, bytes, order, and runs.

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "configs/jobs/experiment_reader.hpp"
#include "gpu/kernels/gemm/gemm_shape.hpp"
#include "gpu/kernels/operator_table.hpp"
#include "tests/support/near.hpp"
#include "tests/support/print_units.hpp"
#include "tests/unit/training_tensor_setups.hpp"
#include "workloads/execute/run.hpp"

namespace c3::training_tensor_parallel_test {

using namespace literals;
using namespace test;

namespace {

struct Counts {
  std::size_t reduced, scattered, gathered;
  bool operator==(const Counts&) const = default;
};

Counts counts(const TrainingSetup& setup) {
  const WrittenStep step = training_step(setup, kRanks);
  const auto calls_on = [&](const char* stream, CollectiveKind kind) {
    return calls_of(step, stream, kind).size();
  };
  return {calls_on("tensor", CollectiveKind::all_reduce), calls_on("tensor", CollectiveKind::reduce_scatter),
          calls_on("tensor_gather", CollectiveKind::all_gather)};
}

Experiment experiment_of(const TrainingSetup& setup, const std::string& system) {
  Experiment experiment;
  experiment.name = "tensor-parallel";
  experiment.cluster = load_cluster(system);
  experiment.measure.loss_split = false;
  experiment.measure.estimate = Estimator::none;
  set_training(experiment, setup);
  return experiment;
}

}  // namespace

TEST_CASE("a layer has four all-reduces, the logits' gradient one, of all tokens times the hidden width") {
  const WrittenStep step = training_step(parallel(false), kRanks);
  const auto calls = calls_of(step, "tensor", CollectiveKind::all_reduce);
  CHECK(calls.size() == 4 * kLayers + 1);
  for (const CollectiveCall& call : calls) {
    CHECK(call.bytes == kHidden);
    REQUIRE(call.groups);
    CHECK(call.groups->size == kShare);
    CHECK(call.groups->stride == 1);
  }
  CHECK(operations_of(step, "tensor_gather").empty());
  // The embedding is summed, and three numbers a token of the loss in fp32.
  const auto words = calls_of(step, "vocabulary", CollectiveKind::all_reduce);
  CHECK(words.size() == 4);
  CHECK(bytes_of(words) == kHidden + Bytes{3 * 4.0 * 256});
  // Gradients are summed over the ranks that have the same part.
  const auto gradients = calls_of(step, "gradients", CollectiveKind::all_reduce);
  REQUIRE(gradients.front().groups);
  CHECK(gradients.front().groups->size == kRanks / kShare);
  CHECK(gradients.front().groups->stride == kShare);
}

TEST_CASE(
    "with sequence parallelism four all-gathers and four reduce-scatters, and what Megatron-LM gathers again") {
  // Forward before qkv, gate_up and logits, backward before out and down; again the first three, for
  // gradients of weights (arXiv 2205.05198, section 4.2.2). PyTorch has kept these.
  CHECK(counts(parallel(true)) == Counts{0, 4 * kLayers + 1, 4 * kLayers + 1 + 2 * kLayers + 1});
  CHECK(counts(parallel(true, KernelStyle::eager)) == Counts{0, 4 * kLayers + 1, 4 * kLayers + 1});
  const WrittenStep step = training_step(parallel(true), kRanks);
  for (const CollectiveCall& call : calls_of(step, "tensor_gather", CollectiveKind::all_gather))
    CHECK(call.bytes == kHidden);
  for (const CollectiveCall& call : calls_of(step, "tensor", CollectiveKind::reduce_scatter))
    CHECK(call.bytes == kHidden);
  CHECK(calls_of(step, "vocabulary", CollectiveKind::reduce_scatter).size() == 1);
  CHECK(calls_of(step, "vocabulary", CollectiveKind::all_gather).size() == 1);
}

TEST_CASE("a layer that is computed again sums and gathers again") {
  // Megatron-LM's whole layer: two sums more; PyTorch's stops before the last product: one. Attention alone:
  // none.
  TrainingSetup setup = parallel(false);
  const auto with = [&](Recompute recompute, bool sequence, KernelStyle style) {
    setup = parallel(sequence, style);
    setup.framework.dropout = false;
    setup.recompute = recompute;
    return counts(setup);
  };
  CHECK(with(Recompute::full, false, KernelStyle::megatron) == Counts{6 * kLayers + 1, 0, 0});
  CHECK(with(Recompute::full, false, KernelStyle::eager) == Counts{5 * kLayers + 1, 0, 0});
  CHECK(with(Recompute::attention, false, KernelStyle::megatron) == Counts{4 * kLayers + 1, 0, 0});
  CHECK(with(Recompute::full, true, KernelStyle::megatron) == Counts{0, 6 * kLayers + 1, 8 * kLayers + 2});
}

TEST_CASE("what follows a sum waits for it, and products wait for what is gathered") {
  for (const bool sequence : {false, true}) {
    for (const bool overlaps : {false, true}) {
      CAPTURE(sequence);
      CAPTURE(overlaps);
      TrainingSetup setup = parallel(sequence);
      setup.framework.overlaps_tensor = overlaps;
      const WrittenStep step = training_step(setup, kRanks);
      const HappensBefore before(step);
      const auto check_sum = [&](const std::string& range, const std::string& part, const std::string& next) {
        const std::vector<Placed> sums = in_range(named(step, "tensor", part), range);
        REQUIRE(sums.size() == 1);
        CHECK(before(in_range(named(step, "compute", part), range).front().place, sums.front().place));
        CHECK(before(sums.front().place, in_range(named(step, "compute", next), range).front().place));
      };
      check_sum("forward, layer 1", "attn.out", "attn.residual");
      check_sum("forward, layer 1", "mlp.down", "mlp.residual");
      check_sum("backward, layer 1", "mlp.gate_up", "mlp.norm");
      check_sum("backward, layer 1", "attn.qkv", "attn.norm");
      if (!sequence) continue;
      for (const char* part : {"attn.qkv", "mlp.gate_up"}) {
        const auto gathers = in_range(named(step, "tensor_gather", part), "forward, layer 1");
        REQUIRE(gathers.size() == 1);
        CHECK(before(gathers[0].place, in_range(named(step, "compute", part), "forward, layer 1")[0].place));
      }
      for (const char* part : {"attn.out", "mlp.down"}) {
        const auto gathers = in_range(named(step, "tensor_gather", part), "backward, layer 1");
        REQUIRE(gathers.size() == 1);
        CHECK(before(gathers[0].place, in_range(named(step, "compute", part), "backward, layer 1")[0].place));
      }
    }
  }
}

TEST_CASE(
    "gradients of weights wait for inputs that are gathered again, gradients of inputs do not, nor for the "
    "sum") {
  const WrittenStep step = training_step(parallel(true), kRanks);
  const HappensBefore before(step);
  const std::string range = "backward, layer 1";
  const auto again = in_range(named(step, "tensor_gather", "mlp.gate_up"), range);
  const auto products = in_range(named(step, "compute", "mlp.gate_up"), range);
  const auto sums = in_range(named(step, "tensor", "mlp.gate_up"), range);
  REQUIRE(again.size() == 1);
  REQUIRE(products.size() == 3);  // of the input, of the weight, of the bias
  CHECK(shape_of<GemmShape>(*products[0].operation)->m == 256);
  CHECK(!before(again[0].place, products[0].place));
  CHECK(before(again[0].place, products[1].place));
  CHECK(!before(sums[0].place, products[1].place));
}

TEST_CASE("what makes a sum's data is the product right before it, which writes as many bytes") {
  for (const bool overlaps : {false, true}) {
    for (const int chunks : {1, 2}) {
      TrainingSetup setup = parallel(true);
      setup.framework.overlaps_tensor = overlaps;
      if (chunks > 1) setup.tensor_overlap = TensorOverlap::chunks;
      setup.tensor_chunks = chunks;
      const WrittenStep step = training_step(setup, kRanks);
      const std::vector<Placed> sums = named(step, "tensor", "");
      CHECK(sums.size() >= 4 * kLayers + 1);
      for (const Placed& sum : sums) {
        CAPTURE(sum.range);
        const Script& script = step.program.scripts.front();
        const auto producer = producer_of(script, sum.place);
        REQUIRE(producer);
        const Operation& kernel = script.streams[producer->stream][producer->operation];
        CHECK(sum.name.starts_with(step.program.name_of(kernel)));
        REQUIRE((shape_of<GemmShape>(kernel) != nullptr));
        CHECK(output_bytes(*kernel_of(kernel)) == kHidden / chunks);
      }
    }
  }
}

TEST_CASE(
    "ranks that stand for all take as long as all ranks, two-way tensor parallel times four-way sharded") {
  for (const char* system : {"h100-sxm-8", "mi300x-8"}) {
    CAPTURE(system);
    TrainingSetup setup = llama_setup(2);
    setup.tensor_parallel = 2;
    setup.model.hidden = 1024;
    setup.model.ffn = 3072;
    Experiment experiment = experiment_of(setup, system);
    experiment.cluster.gpu.compute.speed_spread = 0;  // one for all is the slowest by expectation
    const auto time = [&](bool fold) {
      experiment.measure.fold = fold ? Fold::mean : Fold::none;
      return run_once(experiment, {.name = "all", .order = {}, .streams = {}}, {}).time.value;
    };
    CHECK(time(true) == near(time(false), 2e-3));
  }
}

TEST_CASE("sums of tensor-parallel ranks can be fused with the products that make their data") {
  for (const char* system : {"h100-sxm-8", "mi300x-8"}) {
    CAPTURE(system);
    TrainingSetup setup = parallel(true);
    setup.model.hidden = 2048;
    setup.model.ffn = 8192;
    setup.model.heads = setup.model.kv_heads = 16;
    setup.tensor_parallel = 8;
    setup.sequence = 1024;
    setup.framework.dropout = false;
    Experiment experiment = experiment_of(setup, system);
    experiment.cluster.gpu.trigger = {
        .tracker_entries = 1024, .staging_window = 1.0_MB, .near_memory_update = 1.15};
    Strategy fused{.name = "fused", .order = {}, .streams = {}};
    fused.streams["tensor"].backend = Backend::fused;
    fused.streams["tensor"].method.algorithm = Algorithm::direct;
    const RunResult result = run_once(experiment, fused, {});
    std::size_t count = 0;
    for (const CollectiveRecord& record : result.records) {
      if (record.op == CollectiveKind::reduce_scatter && record.gpu == 0 &&
          !record.name.starts_with("bucket") && record.backend == Backend::fused)
        ++count;
    }
    CHECK(count == 4 * kLayers + 1);
    CHECK(result.time < run_once(experiment, {.name = "apart", .order = {}, .streams = {}}, {}).time);
  }
}

TEST_CASE("the tokens of all ranks are gathered into a buffer that is there while a product reads them") {
  // At the peak Megatron-LM has gathered the head's inputs again. Without sequence parallelism nothing is. With
  // shorter sequences there would be more in buckets of gradients, later.
  constexpr int kTimesLonger = 4;
  const auto buffers = [](bool sequence) {
    TrainingSetup setup = parallel(sequence);
    setup.sequence *= kTimesLonger;
    Bytes sum;
    for (const MemoryTenant& tenant : training_step(setup, kRanks).facts.memory.tenants)
      if (tenant.name == "gathered tokens") sum += tenant.bytes;
    return sum;
  };
  CHECK(buffers(true) == kTimesLonger * kHidden);
  CHECK(buffers(false) == Bytes{});
}

}  // namespace c3::training_tensor_parallel_test
