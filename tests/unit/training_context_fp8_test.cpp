// Attention in 8 bits on ranks that share sequences: what goes round, what is put aside, what is kept.

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <variant>
#include <vector>

#include "gpu/kernels/attention/attention_shape.hpp"
#include "gpu/kernels/operator_table.hpp"
#include "tests/support/near.hpp"
#include "tests/support/print_units.hpp"
#include "tests/unit/training_setups.hpp"

namespace c3::training_context_fp8_test {

using namespace test;

namespace {

// Sizes of llama_setup: two sequences of 128 tokens, eight heads of 64 numbers, four of keys and values.
constexpr std::int64_t kRoundTokens = 256, kRoundQueries = 512, kRoundKeys = 2 * 256;

TrainingSetup round_in_fp8(int ranks, bool is_narrow = true) {
  TrainingSetup setup = llama_setup();
  setup.framework = megatron_framework();
  setup.framework.attention = AttentionCode::newest;
  setup.framework.dropout = false;
  setup.sharding = Sharding::none;
  setup.context = {.ranks = ranks, .exchange = ContextExchange::ring, .inner = 0};
  setup.precision.recipe = *std::ranges::find(kPrecisionRecipes, "fp8_delayed",
                                              [](PrecisionRecipe recipe) { return name_of(recipe); });
  setup.precision.takes_any_layout = true;
  setup.precision.attention = is_narrow;
  return setup;
}

/// Places of operations in \p range that \p takes.
template <class Takes>
std::vector<OperationPlace> places_in(const WrittenStep& step, const std::string& stream,
                                      const std::string& range, Takes takes) {
  std::vector<OperationPlace> places;
  const std::vector<Operation>& operations = operations_of(step, stream);
  for (std::size_t i = 0; i < operations.size(); ++i)
    if (step.program.range_of(operations[i]) == range && takes(operations[i]))
      places.push_back({*step.program.stream_named(stream), i});
  return places;
}

const Operation& at(const WrittenStep& step, OperationPlace place) {
  return step.program.scripts.front().streams[place.stream][place.operation];
}

bool is_message(const Operation& operation) { return std::holds_alternative<Exchange>(operation.work); }
bool is_attention(const Operation& operation) { return shape_of<AttentionShape>(operation) != nullptr; }

}  // namespace

TEST_CASE(
    "context in FP8: keys and values go round with a byte a number, and their gradients in one exchange") {
  for (const int ranks : {2, 4, 8}) {
    CAPTURE(ranks);
    const WrittenStep step = training_step(round_in_fp8(ranks), 8);
    const Bytes keys{1.0 * kRoundTokens / ranks * kRoundKeys};
    for (const char* range : {"forward, layer 1", "backward, layer 1"}) {
      const auto ring = places_in(step, "context", range, is_message);
      CHECK(ring.size() == static_cast<std::size_t>(ranks - 1));
      for (const OperationPlace place : ring)
        CHECK(std::get<Exchange>(at(step, place).work).messages.front().bytes == keys);
    }
    const auto calls = calls_of(step, "context", CollectiveKind::all_to_all);
    CHECK(calls.size() == 3);  // of three layers, backward
    for (const CollectiveCall& call : calls) {
      CHECK(call.bytes == keys * ranks);
      CHECK(call.groups.value_or(RankGroups{.size = 8, .stride = 1}) == RankGroups{.size = ranks, .stride = 1});
    }
  }
}

TEST_CASE("context in FP8: products are those of 16 bits, at the rate of 8") {
  const auto products_in = [](bool is_narrow, const std::string& range) {
    const WrittenStep step = training_step(round_in_fp8(4, is_narrow), 8);
    for (const OperationPlace place : places_in(step, "compute", range, is_attention))
      CHECK((shape_of<AttentionShape>(at(step, place))->dtype == DType::fp8) == is_narrow);
    return products_of(step, range);
  };
  for (const char* range : {"forward, layer 1", "backward, layer 1"}) {
    CHECK(products_in(true, range).attention == products_in(false, range).attention);
    CHECK(products_in(true, range).others == products_in(false, range).others);
  }
}

TEST_CASE("context in FP8: each step runs beside the exchange for the next, and sums wait for all gradients") {
  constexpr int kRounds = 4;
  const WrittenStep step = training_step(round_in_fp8(kRounds), 8);
  const HappensBefore before(step);
  for (const char* const range : {"forward, layer 1", "backward, layer 1"}) {
    CAPTURE(range);
    const auto attention = places_in(step, "compute", range, is_attention);
    const auto exchanges = places_in(step, "context", range, is_message);
    REQUIRE(attention.size() == kRounds);
    for (std::size_t i = 0; i + 1 < kRounds; ++i) {
      CHECK_FALSE(before(attention[i], exchanges[i]));
      CHECK_FALSE(before(exchanges[i], attention[i]));
      CHECK(before(exchanges[i], attention[i + 1]));
    }
  }
  const std::string backward = "backward, layer 1";
  const auto gradients = places_in(step, "context", backward, [&](const Operation& operation) {
    return step.program.call_of(operation) != nullptr;
  });
  REQUIRE(gradients.size() == 1);
  const auto attention = places_in(step, "compute", backward, is_attention);
  CHECK(before(attention[kRounds - 2], gradients.front()));
  CHECK_FALSE(before(gradients.front(), attention.back()));
  CHECK(before(gradients.front(), named(step, "compute", "attn.rope").back().place));
  const auto sums = places_in(step, "compute", backward, [&](const Operation& operation) {
    const auto* const vector = shape_of<VectorShape>(operation);
    return vector != nullptr && vector->cols == kRounds;
  });
  REQUIRE(sums.size() == 2);  // of queries, of keys and values
  for (const OperationPlace sum : sums)
    CHECK(before(gradients.front(), sum));
}

TEST_CASE("context in FP8: a layer keeps its casts, a byte a number, instead of 16 bits") {
  // Queries, keys and values, and attention's output; beside it fp32 sums of each head's exponentials.
  const auto kept = [](int ranks, bool is_narrow) {
    Bytes sum;
    for (const PartKernel& kernel : layer_kernels(round_in_fp8(ranks, is_narrow)).forward)
      if (kernel.part == PartId{BlockId::self_attention, Role::kernel} ||
          kernel.part == PartId{BlockId::self_attention, Role::rope})
        sum += kernel.kept;
    return sum;
  };
  for (const int ranks : {2, 4}) {
    const double tokens = static_cast<double>(kRoundTokens) / ranks;
    const double numbers = tokens * (2 * kRoundQueries + kRoundKeys), sums = 4 * tokens * 8;
    CHECK(kept(ranks, true) == Bytes{numbers + sums});
    CHECK(kept(ranks, false) == Bytes{2 * numbers + sums});
  }
}

TEST_CASE("context in FP8: all micro-batches need as much memory as two, and what is put aside goes") {
  for (const Recompute recompute : {Recompute::none, Recompute::selective, Recompute::full}) {
    TrainingSetup setup = round_in_fp8(4);
    setup.recompute = recompute;
    const auto peak = [&](std::int64_t micro_batches) {
      setup.micro_batches = micro_batches;
      return training_step(setup, 8).facts.memory.bytes;
    };
    CHECK(peak(2) == peak(5));
  }
}

}  // namespace c3::training_context_fp8_test
