// Latent attention (MLA) on tensor-parallel ranks: what each has, gathers and sums.

#include <doctest/doctest.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/support/near.hpp"
#include "tests/support/print_units.hpp"
#include "tests/unit/training_setups.hpp"
#include "workloads/models/precision/precision_setup.hpp"

namespace c3::training_latent_test {

using namespace test;

namespace {

constexpr int kLatentRanks = 4, kLatentShare = 2;
constexpr std::int64_t kLatentLayers = 2, kLatentHidden = 512, kLatentFfn = 1536, kQueryRank = 96, kKvRank = 64,
                       kPlain = 32, kRotated = 16, kValue = 24, kLatentHeads = 8, kLatentTokens = 256;

TrainingSetup latent_setup(int share = kLatentShare) {
  TrainingSetup setup = llama_setup(kLatentLayers);
  setup.framework = megatron_framework();
  setup.framework.attention = AttentionCode::flash2;
  setup.framework.dropout = false;
  setup.sharding = Sharding::none;
  setup.model.kv_heads = setup.model.heads = kLatentHeads;
  setup.model.latent = LatentDimensions{.query_rank = kQueryRank,
                                        .kv_rank = kKvRank,
                                        .plain_dim = kPlain,
                                        .rotated_dim = kRotated,
                                        .value_dim = kValue};
  setup.tensor_parallel = share;
  setup.sequence_parallel = share > 1;
  return setup;
}

/// Numbers of a token in the collectives of \p kind on \p stream whose range has \p range, in their order.
std::vector<double> widths(const WrittenStep& step, const std::string& stream, CollectiveKind kind,
                           const std::string& range) {
  std::vector<double> found;
  for (const Operation& operation : operations_of(step, stream)) {
    const CollectiveCall* call = step.program.call_of(operation);
    if (call == nullptr || call->kind != kind || step.program.range_of(operation) != range) continue;
    CHECK(*call->groups == RankGroups{.size = kLatentShare, .stride = 1});
    found.push_back(call->bytes.value / (2.0 * kLatentTokens));
  }
  return found;
}

constexpr double kDown = kLatentHidden * (kQueryRank + kKvRank + kRotated);  // weights of each kind, of a layer
constexpr double kUp = kLatentHeads * (kQueryRank * (kPlain + kRotated) + kKvRank * (kPlain + kValue));
constexpr double kOut = kLatentHeads * kValue * kLatentHidden;
constexpr double kMlp = 3.0 * kLatentHidden * kLatentFfn;

}  // namespace

TEST_CASE("latent vectors and the rotated part of keys are gathered, and their gradients scattered") {
  const WrittenStep step = training_step(latent_setup(), kLatentRanks);
  using Widths = std::vector<double>;
  const double h = kLatentHidden, q = kQueryRank, kv = kKvRank, r = kRotated;
  CHECK(widths(step, "tensor_gather", CollectiveKind::all_gather, "forward, layer 1") == Widths{q, kv, r, h});
  CHECK(widths(step, "tensor", CollectiveKind::reduce_scatter, "forward, layer 1") == Widths{h, h});
  // Backward: gradients of mlp.down's and attn.out's outputs; inputs once more for gradients of weights.
  CHECK(widths(step, "tensor_gather", CollectiveKind::all_gather, "backward, layer 1") ==
        Widths{h, h, h, kv, q});
  CHECK(widths(step, "tensor", CollectiveKind::reduce_scatter, "backward, layer 1") == Widths{h, r, kv, q});
}

TEST_CASE("ranks share the products of latent attention evenly: tokens of the first, heads of all others") {
  const auto products_in = [](int share, const std::string& range) {
    return products_of(training_step(latent_setup(share), kLatentRanks), range);
  };
  const double pairs = kLatentTokens * (128 + 1) / 2.0 * kLatentHeads;
  for (const int share : {1, 2, 4}) {
    CAPTURE(share);
    const Products forward = products_in(share, "forward, layer"),
                   backward = products_in(share, "backward, layer");
    CHECK(forward.others * share ==
          near(kLatentLayers * 2 * kLatentTokens * (kDown + kUp + kOut + kMlp), 1e-12));
    CHECK(backward.others * share == near(2 * forward.others * share, 1e-12));
    CHECK(forward.attention * share == near(kLatentLayers * 2 * pairs * (kPlain + kRotated + kValue), 1e-12));
  }
}

TEST_CASE("each rank rotates the queries and keys of its heads") {
  for (const int share : {1, 2, 4}) {
    Bytes kept;  // queries, keys and values, for attention's backward pass
    for (const PartKernel& kernel : layer_kernels(latent_setup(share)).forward)
      if (kernel.part == PartId{BlockId::self_attention, Role::rope}) kept += kernel.kept;
    CHECK(kept == Bytes{2.0 * kLatentTokens * kLatentHeads / share * (2 * (kPlain + kRotated) + kValue)});
  }
}

TEST_CASE("every rank has projections to latent vectors and norms whole, and a share of all other weights") {
  for (const int share : {1, 2, 4}) {
    const MemoryPeak peak = training_step(latent_setup(share), kLatentRanks).facts.memory;
    const double norms = 2 * kLatentHidden + kQueryRank + kKvRank;
    const double layer = kDown + norms + (kUp + kOut + kMlp) / share;
    const double ends = 2.0 * 1000 * kLatentHidden / share + kLatentHidden;
    CHECK(peak.of(MemoryClass::weights) == Bytes{2 * (kLatentLayers * layer + ends)});
  }
}

TEST_CASE("gradients of weights that ranks have whole are summed over them once a step, in one buffer") {
  TrainingSetup setup = latent_setup();
  setup.micro_batches = 3;
  const auto sums = [&] {
    return calls_of(training_step(setup, kLatentRanks), "tensor", CollectiveKind::all_reduce);
  };
  REQUIRE(sums().size() == 1);
  CHECK(sums().front().bytes == Bytes{2.0 * kLatentLayers * kDown});  // gradients in fp16
  CHECK(*sums().front().groups == RankGroups{.size = kLatentShare, .stride = 1});
  // Routers, too.
  setup.model.experts = ExpertDimensions{.experts = 8, .per_token = 2, .width = 96};
  CHECK(sums().front().bytes == Bytes{2.0 * kLatentLayers * (kDown + 8 * kLatentHidden)});
  setup.tensor_parallel = 1;
  setup.sequence_parallel = false;
  CHECK(sums().empty());
}

TEST_CASE("heads wait for latent vectors, keys for their rotated part, and the optimizer for the sum") {
  const WrittenStep step = training_step(latent_setup(), kLatentRanks);
  const HappensBefore before(step);
  const auto first = [&](const std::string& stream, const std::string& name, const std::string& range) {
    for (const Placed& placed : named(step, stream, name))
      if (range.empty() || placed.range == range) return placed.place;
    FAIL("no ", name, " in ", range);
    return OperationPlace{};
  };
  const std::string forward = "forward, layer 1", backward = "backward, layer 1";
  for (const char* part : {"attn.expand", "attn.expand_kv", "attn.rope"}) {
    CAPTURE(part);
    const std::string gather = std::string(part) + " all_gather",
                      scatter = std::string(part) + " reduce_scatter";
    CHECK(before(first("compute", "attn.compress", forward), first("tensor_gather", gather, forward)));
    CHECK(before(first("tensor_gather", gather, forward), first("compute", part, forward)));
    CHECK(before(first("compute", part, backward), first("tensor", scatter, backward)));
    CHECK(before(first("tensor", scatter, backward), first("compute", "attn.compress", backward)));
  }
  CHECK(before(first("tensor", "whole weights all_reduce", ""), first("compute", "adam", "")));
  CHECK(before(first("compute", "attn.compress", "backward, layer 0"),
               first("tensor", "whole weights all_reduce", "")));
}

TEST_CASE("FP8 gathers latent vectors in FP8, and the rotated part of keys in 16 bits") {
  TrainingSetup setup = latent_setup();
  setup.precision.recipe = *std::ranges::find(kPrecisionRecipes, "fp8_tensorwise",
                                              [](PrecisionRecipe recipe) { return name_of(recipe); });
  setup.precision.takes_any_layout = true;
  const WrittenStep step = training_step(setup, kLatentRanks);
  CHECK(widths(step, "tensor_gather", CollectiveKind::all_gather, "forward, layer 1") ==
        std::vector<double>{kQueryRank / 2.0, kKvRank / 2.0, kRotated, kLatentHidden / 2.0});
}

TEST_CASE("queries that are made from the token itself are gathered as wide as that") {
  TrainingSetup setup = latent_setup();
  setup.model.latent->query_rank = 0;
  const WrittenStep step = training_step(setup, kLatentRanks);
  CHECK(widths(step, "tensor_gather", CollectiveKind::all_gather, "forward, layer 1") ==
        std::vector<double>{kLatentHidden, kKvRank, kRotated, kLatentHidden});
}

TEST_CASE("latent attention on tensor-parallel ranks requires sequence parallelism") {
  TrainingSetup setup = latent_setup();
  setup.sequence_parallel = false;
  CHECK_THROWS_WITH_AS(training_step(setup, kLatentRanks),
                       "tensor_parallel: with latent attention requires sequence_parallel = true, so that each "
                       "rank makes its tokens' latent vectors",
                       std::invalid_argument);
}

}  // namespace c3::training_latent_test
