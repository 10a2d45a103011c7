// What the loss leaves in memory, by its kernels and the type of its logits.

#include <doctest/doctest.h>

#include <string>

#include "gpu/kernels/vector/vector_shape.hpp"
#include "tests/support/near.hpp"
#include "tests/support/print_units.hpp"
#include "tests/unit/training_setups.hpp"

namespace c3::training_loss_test {

using namespace test;

namespace {

constexpr double kTokens = 2048, kWords = 131'072, kWidth = 512;
constexpr double kLogits = kTokens * kWords;        // numbers
constexpr double kRows = 4 * kTokens;               // bytes of a number in fp32 for each token
constexpr double kGradient = 2 * kTokens * kWidth;  // bytes of the gradient that the head's product makes

/// Most of its memory is logits, so that the peak is where the loss or the head begins its backward pass.
TrainingSetup large_head(KernelStyle style) {
  TrainingSetup setup{.model = gpt_like(1), .framework = eager_framework(), .sequence = 1024, .micro_batch = 2};
  setup.model.vocabulary = static_cast<std::int64_t>(kWords);
  setup.framework.kernels = style;
  return setup;
}

double peak_of(TrainingSetup setup, CrossEntropy kernels, DType logits) {
  setup.framework.cross_entropy = kernels;
  setup.framework.loss_dtype = logits;
  const MemoryPeak peak = training_step(setup, 1).facts.memory;
  CHECK((peak.moment == "backward, head" || peak.moment == "forward, head"));
  return peak.bytes.value;
}

}  // namespace

TEST_CASE("a fused loss needs 10 bytes a logit in fp32 and 4 in 16 bits, in place 6 and 2") {
  // Logits in 16 bits are kept, 2 bytes, and their gradient takes 2 more or none. In fp32 a copy of 4 bytes is
  // kept, its gradient takes 4 or none, and the gradient for the head's product 2.
  //
  // When the loss is made in fp32 a number for each token is kept beside it. In 16 bits, most is held a moment
  // later: the head's product makes its gradient beside that of the logits.
  for (const KernelStyle style : kKernelStyles) {
    CAPTURE(std::string(name_of(style)));
    const TrainingSetup setup = large_head(style);
    const double least = peak_of(setup, CrossEntropy::in_place, DType::bf16);
    const auto more = [&](CrossEntropy kernels, DType logits) {
      return peak_of(setup, kernels, logits) - least;
    };
    CHECK(more(CrossEntropy::fused, DType::bf16) == near(2 * kLogits));
    CHECK(more(CrossEntropy::in_place, DType::fp32) == near(4 * kLogits + kRows - kGradient));
    CHECK(more(CrossEntropy::fused, DType::fp32) == near(8 * kLogits + kRows - kGradient));
  }
}

TEST_CASE("a loss of separate kernels needs 12 bytes a logit in eager code, 10 in others, 6 in 16 bits") {
  // Eager code: the softmax is kept, zeros and the gradient stand beside it. Compiled code has no zeros, and
  // makes the gradient for the head's product before the softmax goes. Megatron-LM has the logits, their
  // copy in fp32 and the difference from the largest at once, forward, when there is no gradient of
  // activations; with these, the largest logit and the sum of each token.
  const auto more = [](KernelStyle style, DType logits) {
    const TrainingSetup setup = large_head(style);
    return peak_of(setup, CrossEntropy::separate, logits) - peak_of(setup, CrossEntropy::in_place, DType::bf16);
  };
  CHECK(more(KernelStyle::eager, DType::fp32) == near(10 * kLogits - kGradient));
  CHECK(more(KernelStyle::compiled, DType::fp32) == near(8 * kLogits - kGradient));
  CHECK(more(KernelStyle::megatron, DType::fp32) == near(8 * kLogits - 2 * kGradient + 2 * kRows));
  for (const KernelStyle style : kKernelStyles)
    CHECK(more(style, DType::bf16) == near(4 * kLogits - kGradient));
}

TEST_CASE("a fused loss is one kernel each way, and casts where its logits are in fp32") {
  const auto kernels = [](DType logits) {
    TrainingSetup setup = large_head(KernelStyle::megatron);
    setup.framework.cross_entropy = CrossEntropy::fused;
    setup.framework.loss_dtype = logits;
    const WrittenStep step = training_step(setup, 1);
    return named(step, "compute", "loss").size();
  };
  CHECK(kernels(DType::bf16) == 2);
  CHECK(kernels(DType::fp32) == 4);
}

TEST_CASE("a logged loss is a copy to fp32 and a softmax, behind the backward pass of its micro-batch") {
  TrainingSetup setup = large_head(KernelStyle::eager);
  setup.micro_batches = 2;
  CHECK(named(training_step(setup, 1), "compute", "loss logged").empty());
  setup.framework.logged_losses = 3;
  const WrittenStep step = training_step(setup, 1);
  const std::vector<Placed> logged = named(step, "compute", "loss logged");
  REQUIRE(logged.size() == 2 * 3 * 2);
  const std::vector<Placed> embedded = named(step, "compute", "embedding");
  CHECK(logged[5].place.operation > embedded[embedded.size() / 2 - 1].place.operation);
  CHECK(logged[6].place.operation > embedded.back().place.operation);
  setup.dtype = DType::fp32;
  CHECK(named(training_step(setup, 1), "compute", "loss logged").size() == 2 * 3);
}

}  // namespace c3::training_loss_test
