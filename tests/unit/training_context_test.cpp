// Context parallelism: what ranks that share sequences compute, exchange and keep, against closed forms.

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "gpu/kernels/attention/attention_shape.hpp"
#include "gpu/kernels/operator_table.hpp"
#include "tests/support/near.hpp"
#include "tests/support/print_units.hpp"
#include "tests/unit/training_pipelines.hpp"
#include "tests/unit/training_setups.hpp"
#include "workloads/execute/waiting_cycle.hpp"
#include "workloads/training/context_rules.hpp"

namespace c3::training_context_test {

using namespace literals;
using namespace test;

namespace {

// Sizes of llama_setup: b = 2 sequences of s = 128 tokens, h = 512 by a = 8 heads, g = 4 of keys and values,
// L = 3.
constexpr double kHeads = 8, kKvHeads = 4, kLayers = 3;
constexpr double kTensor = 2.0 * 2 * 128 * 512;  ///< bytes of all tokens' hidden state, 2 s b h

TrainingSetup shared(int ranks, ContextExchange exchange = ContextExchange::ring, int inner = 0) {
  TrainingSetup setup = llama_setup();
  setup.framework.grouped_heads = true;
  setup.sharding = Sharding::none;
  setup.context = {.ranks = ranks, .exchange = exchange, .inner = inner};
  return setup;
}

std::vector<Exchange> ring_of(const WrittenStep& step, const std::string& range) {
  std::vector<Exchange> messages;
  for (const Operation& operation : operations_of(step, "context")) {
    const auto* exchange = std::get_if<Exchange>(&operation.work);
    if (exchange != nullptr && step.program.range_of(operation).starts_with(range))
      messages.push_back(*exchange);
  }
  return messages;
}

Bytes sent_in(const std::vector<Exchange>& exchanges) {
  Bytes sum;
  for (const Exchange& exchange : exchanges)
    for (const Message& message : exchange.messages)
      if (message.sends) sum += message.bytes;
  return sum;
}

/// Bytes of each call of \p kind in \p range of the context stream.
std::vector<double> calls_in(const WrittenStep& step, CollectiveKind kind, const std::string& range) {
  std::vector<double> bytes;
  for (const Operation& operation : operations_of(step, "context")) {
    const CollectiveCall* call = step.program.call_of(operation);
    if (call != nullptr && call->kind == kind && step.program.range_of(operation).starts_with(range))
      bytes.push_back(call->bytes.value);
  }
  return bytes;
}

double sum_of(const std::vector<double>& numbers) {
  double sum = 0.0;
  for (const double number : numbers)
    sum += number;
  return sum;
}

/// What ranks that share sequences have beyond one that does not, by way of exchange.
struct Way {
  ContextExchange exchange;
  int ranks, inner;
};
const std::vector<Way> kWays = {{ContextExchange::ring, 2, 0},         {ContextExchange::ring, 4, 0},
                                {ContextExchange::gather, 2, 0},       {ContextExchange::gather, 4, 0},
                                {ContextExchange::ulysses, 2, 0},      {ContextExchange::ulysses, 4, 0},
                                {ContextExchange::ulysses, 8, 0},      {ContextExchange::hierarchical, 4, 2},
                                {ContextExchange::hierarchical, 8, 2}, {ContextExchange::hierarchical, 8, 4}};

}  // namespace

TEST_CASE("context: a ring's step passes on 4 (s/c) b (g/a) h / t bytes, c - 1 times forward") {
  for (const int ranks : {2, 4, 8}) {
    for (const int share : {1, 2}) {
      CAPTURE(ranks);
      CAPTURE(share);
      TrainingSetup setup = shared(ranks);
      setup.tensor_parallel = share;
      const WrittenStep step = training_step(setup, 16);
      const Bytes keys{2.0 * kTensor / ranks * kKvHeads / kHeads / share};
      for (const char* const layer : {"forward, layer 0", "forward, layer 2"}) {
        const std::vector<Exchange> ring = ring_of(step, layer);
        CHECK(ring.size() == static_cast<std::size_t>(ranks - 1));
        for (const Exchange& exchange : ring) {
          REQUIRE(exchange.messages.size() == 2);
          CHECK(exchange.messages[0] == Message{.offset = 1, .bytes = keys, .sends = true});
          CHECK(exchange.messages[1] == Message{.offset = -1, .bytes = keys, .sends = false});
          CHECK(step.program.communicators[exchange.communicator].groups ==
                RankGroups{.size = ranks, .stride = share});
        }
      }
      // Backward keys and values go c - 1 times, and their gradients a step behind them.
      const std::vector<Exchange> back = ring_of(step, "backward, layer 1");
      REQUIRE(back.size() == static_cast<std::size_t>(ranks));
      CHECK(back.front().messages.front().bytes == keys);
      CHECK(back.back().messages.front().bytes == keys);
      for (std::size_t i = 1; i + 1 < back.size(); ++i)
        CHECK(back[i].messages.front().bytes == 2.0 * keys);
      CHECK(sent_in(back) == 2.0 * (ranks - 1) * keys);
    }
  }
}

TEST_CASE(
    "context: each step of the ring runs beside the attention of the step before, the next one waits for it") {
  constexpr int kRanks = 4;
  const WrittenStep step = training_step(shared(kRanks), 8);
  const HappensBefore before(step);
  for (const char* const range : {"forward, layer 1", "backward, layer 1"}) {
    CAPTURE(range);
    std::vector<OperationPlace> attention, exchanges;
    for (const char* const stream : {"compute", "context"}) {
      const std::vector<Operation>& operations = operations_of(step, stream);
      for (std::size_t i = 0; i < operations.size(); ++i) {
        if (!step.program.range_of(operations[i]).starts_with(range)) continue;
        const OperationPlace place{*step.program.stream_named(stream), i};
        if (shape_of<AttentionShape>(operations[i]) != nullptr) attention.push_back(place);
        if (std::holds_alternative<Exchange>(operations[i].work)) exchanges.push_back(place);
      }
    }
    REQUIRE(attention.size() == kRanks);
    REQUIRE(exchanges.size() >= kRanks - 1);
    for (std::size_t i = 0; i + 1 < kRanks; ++i) {
      CAPTURE(i);
      CHECK(!before(attention[i], exchanges[i]));
      CHECK(!before(exchanges[i], attention[i]));
      CHECK(before(exchanges[i], attention[i + 1]));
    }
  }
}

TEST_CASE("context: a gather brings all keys and values, forward and backward, and scatters their gradients") {
  for (const int ranks : {2, 4}) {
    for (const int share : {1, 2}) {
      TrainingSetup setup = shared(ranks, ContextExchange::gather);
      setup.tensor_parallel = share;
      const WrittenStep step = training_step(setup, 8);
      const double all = 2.0 * kTensor * kKvHeads / kHeads / share;  // 4 s b (g/a) h / t
      using enum CollectiveKind;
      CHECK(sum_of(calls_in(step, all_gather, "forward, layer 0")) == all);
      CHECK(sum_of(calls_in(step, all_gather, "backward, layer 0")) == all);
      CHECK(sum_of(calls_in(step, reduce_scatter, "backward, layer 0")) == all);
      CHECK(calls_in(step, reduce_scatter, "forward").empty());
      for (const CollectiveCall& call : calls_of(step, "context", all_gather)) {
        const bool is_all = ranks == 8;
        CHECK(call.groups.has_value() == !is_all);
        if (call.groups) CHECK(*call.groups == RankGroups{.size = ranks, .stride = share});
      }
    }
  }
}

TEST_CASE("context: four all-to-alls of (2 + 2 g/a) 2 (s/c) b h / t bytes, and as many backward") {
  for (const auto& [ranks, share] : std::vector<std::pair<int, int>>{{2, 1}, {4, 1}, {2, 2}, {8, 1}, {4, 2}}) {
    CAPTURE(ranks);
    CAPTURE(share);
    TrainingSetup setup = shared(ranks, ContextExchange::ulysses);
    setup.tensor_parallel = share;
    const WrittenStep step = training_step(setup, 16);
    // Four heads of keys over more than four ranks: each is repeated until every rank has one.
    const double kv_heads = std::max<double>(kKvHeads, ranks * share);
    const double layer = (2.0 + 2.0 * kv_heads / kHeads) * kTensor / ranks / share;
    for (const char* const range : {"forward, layer 2", "backward, layer 2"}) {
      const std::vector<double> calls = calls_in(step, CollectiveKind::all_to_all, range);
      CHECK(calls.size() == 4);
      CHECK(sum_of(calls) == layer);
    }
    for (const CollectiveCall& call : calls_of(step, "context", CollectiveKind::all_to_all))
      CHECK(call.groups.value() == RankGroups{.size = ranks, .stride = share});
  }
}

TEST_CASE("context: hierarchical is all-to-alls within groups and a ring of their keys between groups") {
  constexpr int kRanks = 8, kInner = 2, kOuter = 4;
  const WrittenStep step = training_step(shared(kRanks, ContextExchange::hierarchical, kInner), 16);
  const double layer = (2.0 + 2.0 * kKvHeads / kHeads) * kTensor / kRanks;
  CHECK(sum_of(calls_in(step, CollectiveKind::all_to_all, "forward, layer 0")) == layer);
  CHECK(sum_of(calls_in(step, CollectiveKind::all_to_all, "backward, layer 0")) == layer);
  for (const CollectiveCall& call : calls_of(step, "context", CollectiveKind::all_to_all))
    CHECK(call.groups.value() == RankGroups{.size = kInner, .stride = 1});
  // Keys have as many bytes as without all-to-alls: twice the tokens, half of the heads.
  const Bytes keys{2.0 * kTensor / kRanks * kKvHeads / kHeads};
  const std::vector<Exchange> ring = ring_of(step, "forward, layer 0");
  CHECK(ring.size() == kOuter - 1);
  CHECK(sent_in(ring) == (kOuter - 1) * keys);
  CHECK(sent_in(ring_of(step, "backward, layer 0")) == 2.0 * (kOuter - 1) * keys);
  CHECK(step.program.communicators[ring.front().communicator].groups ==
        RankGroups{.size = kOuter, .stride = kInner});
}

TEST_CASE("context: a rank's products are one GPU's over c, attention's too, whatever is exchanged") {
  for (const bool is_causal : {true, false}) {
    TrainingSetup one = shared(1);
    if (!is_causal) one.model.structure = Structure::encoder;
    const WrittenStep alone = training_step(one, 1);
    for (const Way& way : kWays) {
      CAPTURE(name_of(way.exchange));
      CAPTURE(way.ranks);
      CAPTURE(is_causal);
      TrainingSetup setup = shared(way.ranks, way.exchange, way.inner);
      setup.model.structure = one.model.structure;
      const WrittenStep step = training_step(setup, 8);
      for (const char* const pass : {"forward", "backward"}) {
        const Products whole = products_of(alone, pass), share = products_of(step, pass);
        CHECK(share.attention == whole.attention / way.ranks);
        CHECK(share.others == whole.others / way.ranks);
      }
      CHECK(step.facts.model_flops().value == near(alone.facts.model_flops().value / way.ranks, 1e-12));
      CHECK(step.facts.tokens == one.tokens() * 8 / way.ranks);
    }
  }
}

TEST_CASE("context: a layer keeps a c-th of its activations, with all-to-alls its output twice") {
  // Bytes that one layer more keeps when nothing else changes: of s/c tokens.
  const auto kept_by_layer = [](const TrainingSetup& like) {
    TrainingSetup setup = like;
    setup.framework.master_copy = true;  // no copies of parameters for each layer
    const auto activations = [&](std::int64_t layers) {
      setup.model.layers = layers;
      const MemoryPeak peak = training_step(setup, 8).facts.memory;
      return peak.by_class[static_cast<std::size_t>(MemoryClass::activations)].value;
    };
    return activations(9) - activations(8);
  };
  const double alone = kept_by_layer(shared(1));
  CHECK(alone > 0.0);
  for (const Way& way : kWays) {
    CAPTURE(name_of(way.exchange));
    CAPTURE(way.ranks);
    const ContextSplit split{way.ranks, way.exchange, way.inner};
    const double output = kTensor / way.ranks;
    const double repeated = std::max(0.0, split.head_ranks() - kKvHeads) / kHeads;  // heads of keys and values
    const double more = split.head_ranks() > 1 ? output * (1.0 + 2.0 * repeated) : 0.0;
    CHECK(kept_by_layer(shared(way.ranks, way.exchange, way.inner)) == alone / way.ranks + more);
  }
}

TEST_CASE(
    "context: gradients are summed, and weights and states divided, over context and data parallel ranks") {
  for (const Sharding sharding : {Sharding::none, Sharding::optimizer, Sharding::parameters}) {
    CAPTURE(name_of(sharding));
    TrainingSetup one = shared(1);
    one.tensor_parallel = 2;
    one.sharding = sharding;
    TrainingSetup setup = one;
    setup.context.ranks = 4;
    const WrittenStep alone = training_step(one, 16), step = training_step(setup, 16);
    for (const char* const stream : {"gradients", "all_gather", "reduce_scatter"}) {
      const auto calls = [&](const WrittenStep& written) {
        std::vector<CollectiveCall> all;
        for (const Operation& operation : operations_of(written, stream))
          if (const CollectiveCall* call = written.program.call_of(operation)) all.push_back(*call);
        return all;
      };
      CHECK(calls(step) == calls(alone));
      for (const CollectiveCall& call : calls(step))
        CHECK(call.groups.value() == RankGroups{.size = 8, .stride = 2});
    }
    const auto held = [](const WrittenStep& written, MemoryClass memory_class) {
      return written.facts.memory.by_class[static_cast<std::size_t>(memory_class)];
    };
    CHECK(held(step, MemoryClass::optimizer) == held(alone, MemoryClass::optimizer));
  }
}

TEST_CASE("context: a layer that is computed again exchanges again") {
  for (const Way& way : kWays) {
    TrainingSetup setup = shared(way.ranks, way.exchange, way.inner);
    const auto transfers = [&](const std::string& range) {
      const WrittenStep step = training_step(setup, 8);
      return ring_of(step, range).size() + calls_in(step, CollectiveKind::all_to_all, range).size() +
             calls_in(step, CollectiveKind::all_gather, range).size();
    };
    const std::size_t forward = transfers("forward, layer 1"), backward = transfers("backward, layer 1");
    setup.recompute = Recompute::full;
    CHECK(transfers("backward, layer 1") == forward + backward);
    // What attention makes is kept: neither its kernels nor its exchanges run again.
    setup.recompute = Recompute::selective;
    CHECK(transfers("backward, layer 1") == backward);
  }
}

TEST_CASE("context: stages of a pipeline send s/c tokens") {
  TrainingSetup setup = pipelined(shared(1), 3, 4);
  const Bytes whole = sent_by(training_step(setup, 12), 0, "pipeline");
  setup.context.ranks = 4;
  const WrittenStep step = training_step(setup, 12);
  CHECK(sent_by(step, 0, "pipeline") == whole / 4.0);
  CHECK(waiting_cycle(step.program, Strategy{}, 12, nullptr).empty());
}

TEST_CASE("context: a million tokens over 64 ranks are written in no more than 2,000 operations a layer") {
  TrainingSetup setup = shared(64);
  setup.sequence = 1 << 20;
  setup.micro_batch = 1;
  const WrittenStep step = training_step(setup, 64);
  CHECK(step.program.operations() < 2000 * kLayers);
  CHECK(ring_of(step, "forward, layer 0").size() == 63);
}

TEST_CASE("packed: attention has the pairs that a mask leaves, all else is as of whole sequences") {
  // Keys of a query under a causal mask: (128 + 1) / 2 of a whole sequence.
  for (const ContextSplit& split :
       {ContextSplit{}, ContextSplit{.ranks = 4, .exchange = ContextExchange::ulysses, .inner = 0}}) {
    TrainingSetup setup = shared(split.ranks, split.exchange);
    const WrittenStep whole = training_step(setup, 4);
    setup.packed_keys = 20;
    const WrittenStep packed = training_step(setup, 4);
    for (const char* const pass : {"forward", "backward"}) {
      const Products all = products_of(whole, pass), fewer = products_of(packed, pass);
      CHECK(fewer.others == all.others);
      CHECK(fewer.attention == near(all.attention * 20.0 / 64.5, 1e-12));
    }
    CHECK(bytes_of(calls_of(packed, "context", CollectiveKind::all_to_all)) ==
          bytes_of(calls_of(whole, "context", CollectiveKind::all_to_all)));
    CHECK(packed.facts.tokens == whole.facts.tokens);
  }
}

TEST_CASE("context: rules of exchanges name their key and what is allowed") {
  const auto key_of = [](const TrainingSetup& setup) {
    const BrokenRules broken = broken_context_rules(setup);
    return broken.empty() ? std::string() : broken.front().key + ": " + broken.front().what;
  };
  for (const Way& way : kWays)
    CHECK(key_of(shared(way.ranks, way.exchange, way.inner)).empty());
  CHECK(key_of(shared(1)).empty());
  CHECK(key_of(shared(1, ContextExchange::ulysses)) ==
        "context_exchange: requires context_parallel > 1 (it is 1)");
  CHECK(key_of(shared(4, ContextExchange::hierarchical))
            .starts_with("context_exchange: \"hierarchical\" requires context_inner"));
  CHECK(key_of(shared(4, ContextExchange::hierarchical, 4))
            .starts_with("context_inner: must divide context_parallel, which is 4"));
  CHECK(key_of(shared(4, ContextExchange::ring, 2))
            .starts_with("context_inner: requires context_exchange = \"hierarchical\" (it is \"ring\")"));
  CHECK(key_of(shared(16, ContextExchange::ulysses)) ==
        "context_parallel: all-to-alls divide heads among ranks: 16 does not divide the model's heads, which "
        "is 8");
  TrainingSetup uneven = shared(6);
  CHECK(key_of(uneven) ==
        "context_parallel: cuts a sequence into 12 pieces, two of each rank, and 128 tokens do not divide "
        "among them");
  TrainingSetup odd = shared(2, ContextExchange::ulysses);
  odd.model.kv_heads = 1;
  CHECK(key_of(odd).empty());
  odd.model.heads = 6;
  odd.model.kv_heads = 3;
  CHECK(
      key_of(odd).starts_with("context_parallel: all-to-alls divide heads among ranks: 2 neither divides the "
                              "model's kv_heads, which is 3"));
  TrainingSetup products = shared(2);
  products.framework.attention = AttentionCode::products;
  CHECK(key_of(products).starts_with("context_parallel: requires attention in one kernel"));
}

}  // namespace c3::training_context_test
