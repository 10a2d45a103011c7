// What is known of long steps before they run follows from few of their micro-batches.

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <cmath>
#include <cstdint>

#include "tests/support/drawn_steps.hpp"
#include "tests/support/near.hpp"
#include "tests/unit/training_experiments.hpp"
#include "workloads/training/pipeline_rules.hpp"

namespace c3::training_facts_test {

using namespace test;

namespace {

constexpr int kRanks = 16;

ClusterSpec cluster() {
  ClusterSpec trained = mi300x_like_cluster(kRanks);
  trained.gpu = mi300x_like_trainer();
  return trained;
}

void require_same(const StepFacts& few, const StepFacts& whole) {
  RC_ASSERT(few.tokens == whole.tokens);
  // Tensors are the same; the allocator's pages may still be dealt out otherwise.
  MemoryPeak memory = few.memory;
  RC_ASSERT(std::abs(memory.held / whole.memory.held - 1.0) < 2e-3);
  RC_ASSERT(std::abs(memory.reserved / whole.memory.reserved - 1.0) < 1e-2);
  memory.held = whole.memory.held;
  memory.reserved = whole.memory.reserved;
  RC_ASSERT(memory.moment == whole.memory.moment);
  RC_ASSERT(memory.bytes.value == whole.memory.bytes.value);
  RC_ASSERT(memory == whole.memory);
  RC_ASSERT(few.reserved.size() == whole.reserved.size());
  RC_ASSERT(few.pipeline == whole.pipeline);
  RC_ASSERT(few.memory_size == whole.memory_size);
  RC_ASSERT(few.flops.size() == whole.flops.size());
  for (std::size_t i = 0; i < few.flops.size(); ++i) {
    RC_ASSERT(few.flops[i].dtype == whole.flops[i].dtype);
    RC_ASSERT(few.flops[i].model.value == near(whole.flops[i].model.value));
    RC_ASSERT(few.flops[i].hardware.value == near(whole.flops[i].hardware.value));
  }
}

}  // namespace

TEST_CASE("property: the facts of a step are those of its program, however few micro-batches tell them") {
  CHECK(rc::check([] {
    TrainingSetup setup = drawn_setup();
    setup.micro_batches = 2 * setup.pipeline.stages * *rc::gen::inRange<std::int64_t>(1, 25);
    RC_PRE(broken_pipeline_rules(setup, kRanks).empty());
    RC_LOG() << name_of(setup.pipeline.schedule) << ", " << setup.micro_batches << " micro-batches";
    const auto family = training_family(setup);
    require_same(family->facts(cluster()), family->write(cluster()).facts);
  }));
}

TEST_CASE("facts of a thousand micro-batches are those of fewer, and of as many more tokens and products") {
  TrainingSetup setup = pipelined(llama_setup(4), 4, 64, ScheduleKind::one_f_one_b);
  const StepFacts few = training_family(setup)->facts(cluster());
  setup.micro_batches = 1024;
  StepFacts many = training_family(setup)->facts(cluster());
  many.memory.moment = few.memory.moment;  // of a micro-batch with another number
  CHECK(many.memory == few.memory);
  CHECK(many.tokens == 16 * few.tokens);
  CHECK(many.model_flops().value == near(16.0 * few.model_flops().value));
}

}  // namespace c3::training_facts_test
