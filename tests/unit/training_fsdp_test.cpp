// Fully sharded parameters: gathers, reductions, their order and bytes, and memory.

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include "configs/presets/preset_store.hpp"
#include "gpu/kernels/gemm/gemm_shape.hpp"
#include "tests/support/near.hpp"
#include "tests/support/print_units.hpp"
#include "tests/unit/training_setups.hpp"

namespace c3::training_fsdp_test {

using namespace test;

namespace {

constexpr int kRanks = 4;
constexpr std::int64_t kLayer = 512 * 512 * 3 + 3 * 512 * 1536 + 2 * 512;  // 3,146,752 weights, a multiple of 4
constexpr std::int64_t kRoot = 2 * 1000 * 512 + 512;

TrainingSetup sharded(std::int64_t layers = 4, int prefetch = 1, bool one_communicator = true) {
  TrainingSetup setup = llama_setup(layers);
  setup.framework.prefetch = prefetch;
  setup.framework.one_communicator = one_communicator;
  return setup;
}

/// FSDP 1, which gathers nothing ahead.
TrainingSetup flat() {
  TrainingSetup setup = sharded(4, 0);
  setup.framework.flat_parameters = setup.framework.gathers_wait_on_host = true;
  return setup;
}

std::vector<Placed> gathers(const WrittenStep& step) {
  std::vector<Placed> found = named(step, "all_gather", "");
  std::erase_if(found, [](const Placed& placed) { return kernel_of(*placed.operation) != nullptr; });
  return found;
}

std::vector<Placed> copies_out(const WrittenStep& step) {
  std::vector<Placed> found = named(step, "compute", "");
  std::erase_if(found, [](const Placed& placed) { return !placed.name.ends_with("copy out"); });
  return found;
}

/// Buffers that a gather may find in use: of units gathered before it of which nothing says that they have been
/// copied out.
std::ptrdiff_t most_buffers_beside(const WrittenStep& step) {
  const HappensBefore before(step);
  const std::vector<Placed> gathered = gathers(step), copied = copies_out(step);
  REQUIRE(gathered.size() == copied.size());
  std::ptrdiff_t most = 0;
  for (std::size_t g = 0; g < gathered.size(); ++g) {
    const auto end = copied.begin() + static_cast<std::ptrdiff_t>(g);
    most = std::max(most, std::count_if(copied.begin(), end, [&](const Placed& copy) {
                      return !before(copy.place, gathered[g].place);
                    }));
  }
  return most;
}

}  // namespace

TEST_CASE("a step gathers every unit forward and every layer but the last backward") {
  // Resharded: 4 layers and the root forward, 3 layers backward. Else only the first. Two bytes a parameter.
  TrainingSetup setup = sharded();
  const auto bytes = [&](std::int64_t layers) {
    return Bytes{2.0} * static_cast<double>(layers * kLayer + kRoot);
  };
  const auto calls = [&] {
    return calls_of(training_step(setup, kRanks), "all_gather", CollectiveKind::all_gather);
  };
  CHECK(calls().size() == 8);
  CHECK(bytes_of(calls()) == bytes(7));
  setup.micro_batches = 3;  // the root stays
  CHECK(calls().size() == 1 + 3 * 7);
  CHECK(bytes_of(calls()) == bytes(3 * 7));
  setup.micro_batches = 1;
  setup.reshard_after_forward = false;
  CHECK(calls().size() == 5);
  CHECK(bytes_of(calls()) == bytes(4));
}

TEST_CASE(
    "every micro-batch scatters every unit's gradients in fp32, and adds them to the shard from the second "
    "on") {
  TrainingSetup setup = sharded();
  for (const int micro_batches : {1, 3}) {
    setup.micro_batches = micro_batches;
    const WrittenStep step = training_step(setup, kRanks);
    const auto calls = calls_of(step, "reduce_scatter", CollectiveKind::reduce_scatter);
    CHECK(calls.size() == static_cast<std::size_t>(5 * micro_batches));
    CHECK(bytes_of(calls) == Bytes{4.0} * static_cast<double>(micro_batches * (4 * kLayer + kRoot)));
    CHECK(calls.front().dtype == DType::fp32);
    std::vector<Placed> added = named(step, "reduce_scatter", "");
    std::erase_if(added, [](const Placed& placed) { return !placed.name.ends_with("accumulate"); });
    CHECK(added.size() == static_cast<std::size_t>(5 * (micro_batches - 1)));
  }
}

TEST_CASE("parameters are padded to a multiple of the ranks") {
  // 3 ranks: 3,146,752 = 3 x 1,048,918 - 2.
  const auto calls = calls_of(training_step(sharded(), 3), "all_gather", CollectiveKind::all_gather);
  CHECK(calls[1].bytes == Bytes{2.0 * 3 * 1'048'918});
}

TEST_CASE("a layer's products never run before its parameters have been copied out, forward and backward") {
  for (const Recompute recompute : {Recompute::none, Recompute::full}) {
    TrainingSetup setup = sharded();
    setup.micro_batches = 2;
    setup.recompute = recompute;
    const WrittenStep step = training_step(setup, kRanks);
    const HappensBefore before(step);
    const std::vector<Placed> gathered = gathers(step), copied = copies_out(step);
    REQUIRE(gathered.size() == copied.size());
    for (std::size_t i = 0; i < copied.size(); ++i) {
      const std::string unit = copied[i].name.substr(0, copied[i].name.find(" copy"));
      CHECK(gathered[i].name == unit + " all_gather");
      CHECK(before(gathered[i].place, copied[i].place));
    }
    // The latest copy of a layer is of the same pass, but for the last layer, which stays.
    std::string last_copied;
    int products = 0;
    for (const Operation& operation : operations_of(step, "compute")) {
      const std::string& range = step.program.range_of(operation);
      const std::string& operation_name = step.program.name_of(operation);
      if (operation_name.ends_with("copy out")) last_copied = range + " " + operation_name;
      if (shape_of<GemmShape>(operation) == nullptr) continue;
      const std::size_t layer = range.find("layer ");
      if (layer == std::string::npos) continue;
      ++products;
      const std::string pass = range.substr(0, range.find(", recompute"));
      const std::string name = range.substr(layer, 7);
      if (name != "layer 3") CHECK(last_copied == pass + " " + name + " copy out");
    }
    CHECK(products == 2 * 4 * (7 + 14 + (recompute == Recompute::full ? 6 : 0)));
  }
}

TEST_CASE("no gather writes into a buffer that is still to be read: two buffers, three with one more ahead") {
  for (const bool one_communicator : {true, false}) {
    for (const std::int64_t micro_batches : {1, 2}) {
      CAPTURE(one_communicator);
      const auto most = [&](int prefetch) {
        TrainingSetup setup = sharded(6, prefetch, one_communicator);
        setup.micro_batches = micro_batches;
        return most_buffers_beside(training_step(setup, kRanks));
      };
      CHECK(most(0) == 0);
      CHECK(most(1) == 1);
      CHECK(most(2) == 2);
    }
  }
}

TEST_CASE("memory has the gather buffers that are in use: one without prefetch, two, three") {
  // Most at once of a layer's 2 bytes a parameter is in buffers forward and backward; the peak is found where
  // activations are smallest beside them: one token a rank.
  const auto buffers = [](int prefetch) {
    TrainingSetup setup = sharded(6, prefetch);
    setup.sequence = 1;
    setup.micro_batch = 1;
    setup.framework.gradient_dtype = DType::bf16;
    Bytes most;
    for (const MemoryTenant& tenant : training_step(setup, kRanks).facts.memory.tenants) {
      if (tenant.name == "gathered") most = tenant.bytes;
    }
    return most.value / (2.0 * kLayer);
  };
  CHECK(buffers(0) == 0.0);  // the peak is in the backward pass, after the copy
  CHECK(buffers(1) == 1.0);
  CHECK(buffers(2) == 2.0);
}

TEST_CASE("backward, the next layers are gathered behind the copy of this one, before its products") {
  const auto launched = [](int prefetch) {
    const WrittenStep step = training_step(sharded(4, prefetch), kRanks);
    std::vector<std::string> ranges;
    for (const Placed& gather : gathers(step)) {
      if (gather.range.starts_with("backward"))
        ranges.push_back(gather.range + ": " + gather.name.substr(0, 7));
    }
    return ranges;
  };
  CHECK(launched(0) == std::vector<std::string>{"backward, layer 2: layer 2", "backward, layer 1: layer 1",
                                                "backward, layer 0: layer 0"});
  CHECK(launched(1) == std::vector<std::string>{"backward, layer 3: layer 2", "backward, layer 2: layer 1",
                                                "backward, layer 1: layer 0"});
  CHECK(launched(2) == std::vector<std::string>{"backward, layer 3: layer 2", "backward, layer 3: layer 1",
                                                "backward, layer 2: layer 0"});
}

TEST_CASE(
    "gradients are scattered behind the layer's backward pass, one at a time, and the optimizer waits for "
    "all") {
  TrainingSetup setup = sharded();
  setup.micro_batches = 2;
  const WrittenStep step = training_step(setup, kRanks);
  const HappensBefore before(step);
  std::vector<Placed> copied = named(step, "compute", ""), scattered = named(step, "reduce_scatter", "");
  const Placed first_update = named(step, "compute", "adam").front();
  std::erase_if(copied, [](const Placed& placed) { return !placed.name.ends_with("copy in"); });
  std::erase_if(scattered, [](const Placed& placed) { return !placed.name.ends_with("reduce_scatter"); });
  REQUIRE(copied.size() == 10);
  REQUIRE(scattered.size() == 10);
  for (std::size_t i = 0; i < copied.size(); ++i) {
    CHECK(before(copied[i].place, scattered[i].place));
    CHECK(before(scattered[i].place, first_update.place));
    if (i == 0) continue;
    CHECK(before(scattered[i - 1].place, copied[i].place));
    // The products of this layer do not wait for the reduction of the one before: only the copy does.
    OperationPlace product = copied[i].place;
    while (shape_of<GemmShape>(operations_of(step, "compute")[product.operation]) == nullptr)
      --product.operation;
    if (i % 5 != 4 && i % 5 != 0) CHECK(!before(scattered[i - 1].place, product));
  }
}

TEST_CASE(
    "one communicator runs gathers and reductions in the order of launch, two run them beside one another") {
  for (const bool one : {true, false}) {
    TrainingSetup setup = sharded(4, 1, one);
    setup.micro_batches = 2;
    const WrittenStep step = training_step(setup, kRanks);
    const HappensBefore before(step);
    std::vector<OperationPlace> launched;
    for (const HostStep& host : host_of(step).steps) {
      if (!host.launches) continue;
      const Operation& operation =
          step.program.scripts.front().streams[host.launches->stream][host.launches->operation];
      const std::string& stream = step.program.streams[host.launches->stream];
      if (stream != "norm" && std::holds_alternative<JoinCall>(operation.work))
        launched.push_back(*host.launches);
    }
    CHECK(launched.size() == 1 + 2 * 7 + 2 * 5);
    int beside = 0;
    for (std::size_t i = 1; i < launched.size(); ++i)
      beside += before(launched[i - 1], launched[i]) ? 0 : 1;
    if (one) CHECK(beside == 0);
    if (!one) CHECK(beside > 2);
  }
}

TEST_CASE("FSDP 1's host waits for room before it launches a gather") {
  TrainingSetup setup = sharded();
  CHECK(std::ranges::none_of(host_of(training_step(setup, kRanks)).steps,
                             [](const HostStep& step) { return step.waits_for.has_value(); }));
  setup.framework.gathers_wait_on_host = true;
  const auto waits = std::ranges::count_if(host_of(training_step(setup, kRanks)).steps,
                                           [](const HostStep& step) { return step.waits_for.has_value(); });
  // Root and layer 0 find room; layers 1 to 3 forward and 2 to 0 backward do not.
  CHECK(waits == 6);
}

TEST_CASE("FSDP 1 gathers where it computes: every unit forward, every layer backward, without copies") {
  TrainingSetup setup = flat();
  for (const int micro_batches : {1, 3}) {
    setup.micro_batches = micro_batches;
    const WrittenStep step = training_step(setup, kRanks);
    const auto calls = calls_of(step, "all_gather", CollectiveKind::all_gather);
    CHECK(calls.size() == static_cast<std::size_t>(9 * micro_batches));
    CHECK(bytes_of(calls) == Bytes{2.0} * static_cast<double>(micro_batches * (8 * kLayer + kRoot)));
    CHECK(copies_out(step).empty());
  }
}

TEST_CASE(
    "FSDP 1 has places for two layers with limit_all_gathers, without it for all that the host can launch") {
  // 6.3 MB a layer, 2 MB of the root, and a quarter of a layer that is cast: 16.2 MB are a page of 20 MiB.
  // Without the limit, and with a queue that takes the whole step, 8 layers have places when the first one's
  // gradients are scattered: 54 MB, 3 pages. One is in use either way.
  TrainingSetup setup = flat();
  setup.sequence = 16;
  setup.micro_batch = 1;
  const auto memory = [&] { return training_step(setup, kRanks).facts.memory; };
  const MemoryPeak limited = memory();
  const auto pages_more = [&] { return (memory().reserved - limited.reserved).value / (20 << 20); };
  setup.framework.gathers_wait_on_host = false;
  setup.framework.launch_queue = 1'000'000;
  CHECK(pages_more() == 2);
  CHECK(memory().bytes == limited.bytes);
  // With a queue of one launch a place is free one gather later, as with the limit.
  setup.framework.launch_queue = 1;
  CHECK(pages_more() == 0);
  // So it is with a queue that takes what one layer launches. One launch more, and three layers have places.
  const WrittenStep step = training_step(setup, kRanks);
  const auto of_layer = std::ranges::count_if(operations_of(step, "compute"), [&](const Operation& operation) {
    return step.program.range_of(operation) == "forward, layer 1";
  });
  setup.framework.launch_queue = static_cast<int>(of_layer);
  CHECK(pages_more() == 0);
  ++setup.framework.launch_queue;
  CHECK(pages_more() == 1);
}

TEST_CASE("FSDP 1 scatters gradients as they are where they have the type for it, and casts them beside else") {
  TrainingSetup setup = flat();
  setup.sequence = 16;
  setup.micro_batch = 1;
  const auto casts = [&] {
    std::vector<Placed> found = named(training_step(setup, kRanks), "reduce_scatter", "");
    std::erase_if(found, [](const Placed& placed) { return !placed.name.ends_with("cast gradients"); });
    return found.size();
  };
  const auto in_fp32 = [&] {
    Bytes sum;
    for (const MemoryTenant& tenant : training_step(setup, kRanks).facts.memory.tenants)
      if (tenant.name == "to be scattered") sum += tenant.bytes;
    return sum;
  };
  CHECK(casts() == 5);
  CHECK(in_fp32() == Bytes{4.0 * kLayer});
  setup.framework.gradient_dtype = DType::bf16;
  CHECK(casts() == 0);
  CHECK(in_fp32() == Bytes{});
}

TEST_CASE("all micro-batches need as much memory as two: nothing is left behind") {
  TrainingSetup setup = sharded();
  for (const Recompute recompute :
       {Recompute::none, Recompute::selective, Recompute::attention, Recompute::full}) {
    for (const Sharding sharding :
         {Sharding::none, Sharding::optimizer, Sharding::gradients, Sharding::parameters}) {
      for (const int ranks : {1, kRanks}) {
        setup.recompute = recompute;
        setup.sharding = sharding;
        const auto peak = [&](std::int64_t micro_batches) {
          setup.micro_batches = micro_batches;
          return training_step(setup, ranks).facts.memory.bytes;
        };
        CHECK(peak(2) == peak(5));
      }
    }
  }
}

TEST_CASE("on one rank nothing is gathered, scattered or summed") {
  for (const Sharding sharding :
       {Sharding::none, Sharding::optimizer, Sharding::gradients, Sharding::parameters}) {
    TrainingSetup setup = sharded();
    setup.sharding = sharding;
    const WrittenStep step = training_step(setup, 1);
    CHECK(step.program.streams.size() == 1);
    CHECK(named(step, "compute", "adam").size() == 5);
  }
}

TEST_CASE("LLaMA 3 8B over 8 GPUs by FSDP: the peak is that of the tensors, counted by hand") {
  // P = 8,030,261,248 parameters, R = 2 x 128,256 x 4,096 + 4,096 of them the root's and L = 218,112,000 a
  // layer's; T = 8,192 tokens. A rank has 12 P / 8 bytes of fp32 shards and moments and 2 R of the gathered
  // root.
  //
  // Nothing recomputed: most is held when the loss begins its backward pass, or just before the first layer's:
  // all activations, 32 T (2 x 8 h + 8 h + 4 x 32 + 8 f), and either the loss, three times 4 T V (log-softmax,
  // its gradient and that of the logits) less what went, or the last layer's gathered parameters, which stay.
  //
  // Recomputed whole: 32 layer inputs of 2 T h and the loss.
  const double parameters = 8'030'261'248, root = 2.0 * 128'256 * 4096 + 4096, layer = 218'112'000;
  const double tokens = 8192, hidden = 4096, ffn = 14'336, words = 128'256;
  TrainingSetup setup{.model = load_model("llama-3-8b"),
                      .framework = load_framework("pytorch-eager"),
                      .sequence = 8192,
                      .micro_batch = 1};
  const double states = 12 * parameters / 8 + 2 * root;
  const double of_layer = tokens * (2 * 8 * hidden + 8 * hidden + 4 * 32 + 8 * ffn);
  const double final_norm = tokens * 8 * hidden;
  // Backward, the root's gradients are there from the head on; the last layer stays gathered.
  const double loss = 3 * 4 * tokens * words + 2 * root + 2 * layer;
  const double stream = 2 * tokens * hidden;
  const MemoryPeak all = training_step(setup, 8).facts.memory;
  CHECK(all.moment == "backward, head");
  CHECK(all.bytes.value == near(states + 32 * of_layer + final_norm + loss + stream, 0.03));
  setup.recompute = Recompute::full;
  const MemoryPeak inputs = training_step(setup, 8).facts.memory;
  CHECK(inputs.moment == "backward, head");
  CHECK(inputs.bytes.value == near(states + 32 * stream + final_norm + loss + stream, 0.03));
  CHECK(all.bytes.value - inputs.bytes.value == near(32 * (of_layer - stream)));
  CHECK(all.reserved >= all.bytes);
}

}  // namespace c3::training_fsdp_test
