// Steps of drawn splits of layers, embedding and loss among stages: whatever is launched has something in it.

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "gpu/kernels/gemm/gemm_shape.hpp"
#include "gpu/kernels/vector/vector_shape.hpp"
#include "tests/support/drawn_steps.hpp"
#include "workloads/training/pipeline_rules.hpp"

namespace c3::training_pieces_test {

using namespace test;

namespace {

bool is_empty(const Program& program, const Operation& operation) {
  if (const Operator* const op = kernel_of(operation)) {
    if (const auto* const vector = op->as<VectorShape>()) return vector->rows < 1 || vector->cols < 1;
    if (const auto* const gemm = op->as<GemmShape>()) return gemm->m < 1 || gemm->n < 1 || gemm->k < 1;
  }
  if (const CollectiveCall* const call = program.call_of(operation)) return call->bytes.value <= 0.0;
  if (const auto* const exchange = std::get_if<Exchange>(&operation.work))
    return std::ranges::any_of(exchange->messages,
                               [](const Message& message) { return message.bytes.value <= 0.0; });
  return false;
}

}  // namespace

TEST_CASE("property: no kernel, collective or message of a step is empty, however layers are split") {
  CHECK(rc::check([] {
    const TrainingSetup setup = drawn_setup();
    constexpr int kRanks = 16;
    RC_PRE(broken_pipeline_rules(setup, kRanks).empty());
    const WrittenStep step = training_step(setup, kRanks);
    for (const Script& script : step.program.scripts) {
      for_each_operation(script, [&](const Operation& operation) {
        if (is_empty(step.program, operation)) RC_FAIL(step.program.name_of(operation) + " is empty");
      });
    }
  }));
}

}  // namespace c3::training_pieces_test
