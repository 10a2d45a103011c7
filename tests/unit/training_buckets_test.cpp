// Gradients in buckets (DDP, ZeRO-1, ZeRO-2): collectives, their bytes and order, and memory.

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "tests/support/near.hpp"
#include "tests/support/print_units.hpp"
#include "tests/unit/training_setups.hpp"

namespace c3::training_buckets_test {

using namespace test;

namespace {

constexpr int kRanks = 4;
constexpr std::int64_t kLlama = 4 * (512 * 512 * 3 + 3 * 512 * 1536 + 2 * 512) + 2 * 1000 * 512 + 512;
constexpr std::int64_t kGptLayer = 12 * 512 * 512 + 13 * 512;
constexpr std::int64_t kGptRoot = (1024 + 256 + 2) * 512;
constexpr double kGpt = 2 * kGptLayer + kGptRoot;

TrainingSetup with(TrainingSetup setup, Sharding sharding, std::int64_t micro_batches = 1) {
  setup.sharding = sharding;
  setup.micro_batches = micro_batches;
  return setup;
}

std::vector<double> bytes(const std::vector<CollectiveCall>& calls) {
  std::vector<double> all;
  for (const CollectiveCall& call : calls)
    all.push_back(call.bytes.value);
  return all;
}

std::size_t kernels(const WrittenStep& step, const std::string& stream, const std::string& end) {
  const std::vector<Placed> found = named(step, stream, "");
  return static_cast<std::size_t>(
      std::ranges::count_if(found, [&](const Placed& placed) { return placed.name.ends_with(end); }));
}

}  // namespace

TEST_CASE("moments and the update are of the parameters' type: half the bytes in bf16") {
  const auto step_of = [](DType dtype, bool fused) {
    TrainingSetup setup = with(gpt_setup(), Sharding::none);
    setup.framework.master_copy = false;
    setup.framework.fused_optimizer = fused;
    setup.framework.parameter_dtype = dtype;
    return training_step(setup, 1);
  };
  const auto moved = [](const WrittenStep& step) {
    double bytes = 0.0;
    for (const Placed& placed : named(step, "compute", "adam")) {
      const auto* shape = kernel_of(*placed.operation)->as<VectorShape>();
      bytes += static_cast<double>(shape->rows * shape->cols) * element_size(shape->dtype).value;
    }
    return bytes;
  };
  for (const bool fused : {true, false}) {
    CAPTURE(fused);
    const WrittenStep narrow = step_of(DType::bf16, fused), wide = step_of(DType::fp32, fused);
    CHECK(moved(narrow) == near(0.5 * moved(wide), 1e-3));
    const auto moments = [](const WrittenStep& step) { return step.facts.memory.of(MemoryClass::optimizer); };
    CHECK(moments(narrow).value == near(0.5 * moments(wide).value, 1e-4));
    CHECK(moments(wide).value == near(2 * 4 * kGpt, 1e-4));
  }
}

TEST_CASE("DDP's buckets: 1 MiB first, then 25 MiB as gradients become ready, then the rest") {
  // Buckets of 262,144 and 6,553,600 numbers in fp32. Layers of 3,146,752 are ready after each other: the first
  // bucket goes with layer 3, the second with layer 1, the third with the root (1,024,512), and 242,176 numbers
  // are left.
  const WrittenStep step = training_step(with(llama_setup(4), Sharding::none), kRanks);
  const auto calls = calls_of(step, "gradients", CollectiveKind::all_reduce);
  CHECK(bytes(calls) == std::vector<double>{1 << 20, 25 << 20, 25 << 20, 4.0 * 242'176});
  CHECK(bytes_of(calls) == Bytes{4.0 * kLlama});
  CHECK(calls.front().dtype == DType::fp32);
  std::vector<std::string> ranges;
  for (const Placed& placed : named(step, "gradients", ""))
    ranges.push_back(placed.range);
  CHECK(ranges == std::vector<std::string>{"backward, layer 3", "backward, layer 1", "backward, embedding",
                                           "backward, embedding"});
  CHECK(operations_of(step, "all_gather").empty());
  CHECK(operations_of(step, "norm").empty());  // every rank has all gradients
}

TEST_CASE("a bucket is as large as it is for each data-parallel rank where that is more, of gathers too") {
  // Sizes in fp32. 4 ranks: 4 MB are less than 6 MB; 8 ranks: 8 MB; context-parallel ranks count,
  // tensor-parallel ones and stages do not (Megatron-Core: max(40 M, 1 M for each rank) numbers).
  const auto sizes = [](int ranks, int tensor, int context) {
    TrainingSetup setup = with(llama_setup(4), Sharding::optimizer);
    setup.framework.bucket = setup.framework.first_bucket = Bytes{6e6};
    setup.framework.per_rank_bucket = Bytes{1e6};
    setup.tensor_parallel = tensor;
    setup.context.ranks = context;
    const WrittenStep step = training_step(setup, ranks);
    const auto scattered = bytes(calls_of(step, "gradients", CollectiveKind::reduce_scatter)),
               gathered = bytes(calls_of(step, "all_gather", CollectiveKind::all_gather));
    CHECK(scattered.front() == gathered.front());
    CHECK(gathered.size() == static_cast<std::size_t>(std::ceil(4.0 * kLlama / tensor / gathered.front())));
    return scattered.front();
  };
  CHECK(sizes(4, 1, 1) == 6e6);
  CHECK(sizes(8, 1, 1) == 8e6);
  CHECK(sizes(8, 1, 2) == 8e6);
  CHECK(sizes(8, 2, 1) == 6e6);
  CHECK(sizes(16, 2, 2) == 8e6);
}

TEST_CASE("ZeRO scatters the same buckets, and gathers parameters as they are kept") {
  // ZeRO keeps fp32 parameters here: 25 MiB of them at once.
  for (const Sharding sharding : {Sharding::optimizer, Sharding::gradients}) {
    const WrittenStep step = training_step(with(llama_setup(4), sharding), kRanks);
    const auto scattered = calls_of(step, "gradients", CollectiveKind::reduce_scatter);
    CHECK(bytes(scattered) == std::vector<double>{1 << 20, 25 << 20, 25 << 20, 4.0 * 242'176});
    CHECK(calls_of(step, "gradients", CollectiveKind::all_reduce).empty());
    const auto gathered = calls_of(step, "all_gather", CollectiveKind::all_gather);
    CHECK(bytes(gathered) == std::vector<double>{25 << 20, 25 << 20, 4.0 * (kLlama - 2 * 6'553'600)});
    CHECK(calls_of(step, "norm", CollectiveKind::all_reduce).size() == 1);
  }
  // With a master copy in fp32 they are kept in fp16.
  TrainingSetup setup = with(gpt_setup(), Sharding::optimizer);
  const auto gathered = calls_of(training_step(setup, kRanks), "all_gather", CollectiveKind::all_gather);
  CHECK(bytes_of(gathered) == Bytes{2.0 * kGpt});
}

TEST_CASE("DDP and ZeRO-1 reduce once a step, ZeRO-2 each micro-batch") {
  const auto count = [](Sharding sharding, std::int64_t micro_batches) {
    const WrittenStep step = training_step(with(llama_setup(4), sharding, micro_batches), kRanks);
    return calls_of(step, "gradients", CollectiveKind::all_reduce).size() +
           calls_of(step, "gradients", CollectiveKind::reduce_scatter).size();
  };
  CHECK(count(Sharding::none, 3) == 4);
  CHECK(count(Sharding::optimizer, 3) == 4);
  CHECK(count(Sharding::gradients, 3) == 12);
  // What is added: all gradients where all are kept (9 tensors a layer, 3 of the root), else shards.
  const auto added = [](Sharding sharding, const std::string& stream) {
    return kernels(training_step(with(llama_setup(4), sharding, 3), kRanks), stream, "accumulate");
  };
  CHECK(added(Sharding::none, "compute") == 2 * (4 * 9 + 3));
  CHECK(added(Sharding::gradients, "compute") == 0);
  CHECK(added(Sharding::gradients, "gradients") == 2 * 4);
}

TEST_CASE("where products add to gradients that are kept, a kernel adds only what no product makes") {
  const auto added = [](bool fused, std::int64_t micro_batches) {
    TrainingSetup setup = with(llama_setup(4), Sharding::none, micro_batches);
    setup.framework.fused_accumulation = fused;
    return named(training_step(setup, kRanks), "compute", "layer 0 accumulate");
  };
  CHECK(added(false, 3).size() == 2 * 9);
  CHECK(added(true, 1).size() == 2);  // both norms of a layer, also of the first micro-batch
  CHECK(added(true, 3).size() == 3 * 2);
}

TEST_CASE("a framework that does not overlap reduces when the backward pass is over") {
  const WrittenStep step = training_step(with(gpt_setup(), Sharding::none), kRanks);
  const HappensBefore before(step);
  const Placed last = named(step, "compute", "embedding").back();
  const std::vector<Placed> reduced = named(step, "gradients", "");
  CHECK(bytes_of(calls_of(step, "gradients", CollectiveKind::all_reduce)) == Bytes{2.0 * kGpt});
  for (const Placed& placed : reduced)
    CHECK(before(last.place, placed.place));
}

TEST_CASE("a bucket is filled before it is reduced, copied back by DDP, and all are before the optimizer") {
  for (const Sharding sharding : {Sharding::none, Sharding::optimizer, Sharding::gradients}) {
    const WrittenStep step = training_step(with(llama_setup(4), sharding, 2), kRanks);
    const HappensBefore before(step);
    const Placed update = named(step, "compute", "adam").front();
    const std::vector<Placed> filled = named(step, "compute", "bucket"),
                              reduced = named(step, "gradients", "bucket");
    const std::vector<Placed> back = named(step, "compute", "copy out");
    std::size_t bucket = 0;
    for (const Placed& placed : reduced) {
      CHECK(before(placed.place, update.place));
      if (kernel_of(*placed.operation) != nullptr) continue;
      CHECK(before(filled[bucket].place, placed.place));
      // One of ZeRO's two buckets is filled while the other is reduced.
      if (sharding != Sharding::none && bucket + 2 < filled.size())
        CHECK(before(placed.place, filled[bucket + 2].place));
      if (sharding == Sharding::none) CHECK(before(placed.place, back[bucket].place));
      ++bucket;
    }
    CHECK(filled.size() == bucket);
    CHECK(back.size() == (sharding == Sharding::none ? bucket : 0));
  }
}

TEST_CASE(
    "gradients that are reduced in place need no room, no copies, and are awaited by the optimizer alone") {
  for (const Sharding sharding : {Sharding::none, Sharding::optimizer}) {
    CAPTURE(name_of(sharding));
    TrainingSetup setup = with(llama_setup(4), sharding);
    const WrittenStep copied = training_step(setup, kRanks);
    setup.framework.in_place_reduction = true;
    const WrittenStep step = training_step(setup, kRanks);
    const HappensBefore before(step);
    const auto of_buckets = [](const WrittenStep& written) {
      return std::ranges::any_of(written.facts.memory.tenants,
                                 [](const MemoryTenant& tenant) { return tenant.name == "buckets"; });
    };
    CHECK(of_buckets(copied) == (sharding == Sharding::none));  // ZeRO's are not there at the peak
    CHECK_FALSE(of_buckets(step));
    CHECK(named(step, "compute", "copy out").empty());
    const std::vector<Placed> scaled = named(step, "compute", "bucket"), reduced = named(step, "gradients", "");
    const Placed update = named(step, "compute", "adam").front();
    CHECK(scaled.size() == 4);
    CHECK(reduced.size() == 4);
    for (std::size_t i = 0; i < reduced.size(); ++i) {
      CHECK(before(scaled[i].place, reduced[i].place));
      CHECK(before(reduced[i].place, update.place));
      CHECK_FALSE(before(reduced[i].place, scaled.back().place));
    }
    setup.framework.overlaps_gradients = false;
    CHECK(named(training_step(setup, kRanks), "gradients", "").size() == 1);
  }
}

TEST_CASE("a host that syncs sees all gradients before the optimizer is launched, clipped or not") {
  for (const bool clips : {true, false}) {
    CAPTURE(clips);
    TrainingSetup setup = with(llama_setup(), Sharding::none);
    setup.framework.clips_gradients = clips;
    const auto host_waits = [&] {
      return std::ranges::count_if(host_of(training_step(setup, kRanks)).steps,
                                   [](const HostStep& host) { return host.waits_for.has_value(); });
    };
    CHECK(host_waits() == 0);
    setup.framework.syncs = true;
    CHECK(host_waits() == 1);
    const WrittenStep step = training_step(setup, kRanks);
    const auto seen = std::ranges::find_if(
        host_of(step).steps, [](const auto& host_step) { return host_step.waits_for.has_value(); });
    // It waits before it launches the update, after all sums over ranks and, of a norm, before the scaling.
    const auto launched_after = [&](const Placed& placed) {
      return std::any_of(seen, host_of(step).steps.end(),
                         [&](const auto& host_step) { return host_step.launches == placed.place; });
    };
    CHECK(launched_after(named(step, "compute", "adam").front()));
    CHECK_FALSE(launched_after(named(step, "gradients", "").back()));
    const std::vector<Placed> clipping = named(step, "compute", "clip");
    CHECK(clipping.size() == (clips ? 8 : 0));  // of the root and three layers, their norm and their scaling
    CHECK(std::ranges::count_if(clipping, launched_after) == (clips ? 4 : 0));
  }
}

TEST_CASE(
    "an optimizer in mixed precision has a pass for each thing that it does to gradients and parameters") {
  // The root and two layers have each: fp16 gradients are copied to fp32 and unscaled, fp32 parameters copied
  // back.
  const auto passes = [](const TrainingSetup& setup, const char* name) {
    return named(training_step(setup, kRanks), "compute", name).size();
  };
  TrainingSetup setup = with(gpt_setup(), Sharding::none);
  setup.framework.master_copy = true;
  setup.framework.gradient_dtype = DType::fp16;
  setup.framework.fused_optimizer = true;
  for (const char* name : {"main gradients", "unscale", "adam", "parameters"}) {
    CAPTURE(name);
    CHECK(passes(setup, name) == 3);
  }
  setup.dtype = DType::bf16;  // has the range of fp32: nothing is scaled
  setup.framework.gradient_dtype = DType::fp32;
  CHECK(passes(setup, "main gradients") == 0);
  CHECK(passes(setup, "unscale") == 0);
  CHECK(passes(setup, "parameters") == 3);
  setup.framework.master_copy = false;
  CHECK(passes(setup, "parameters") == 0);
}

TEST_CASE("parameters are gathered when the optimizer has updated them") {
  const WrittenStep step = training_step(with(gpt_setup(), Sharding::optimizer), kRanks);
  const HappensBefore before(step);
  CHECK(before(named(step, "compute", "adam").back().place, named(step, "all_gather", "").front().place));
}

TEST_CASE(
    "states of fp16 training: 2 + 2 + 12 bytes a parameter, shared as ZeRO says (arXiv 1910.02054, section "
    "5)") {
  const auto peak = [](Sharding sharding) {
    return training_step(with(gpt_setup(), sharding), kRanks).facts.memory;
  };
  for (const Sharding sharding : {Sharding::none, Sharding::optimizer, Sharding::gradients}) {
    CAPTURE(static_cast<int>(sharding));
    const MemoryPeak memory = peak(sharding);
    CHECK(memory.of(MemoryClass::weights) == Bytes{2 * kGpt});
    CHECK(memory.of(MemoryClass::optimizer) == Bytes{12 * kGpt / (sharding == Sharding::none ? 1 : kRanks)});
    if (sharding != Sharding::gradients) CHECK(memory.of(MemoryClass::gradients) == Bytes{2 * kGpt});
  }
  // ZeRO-2 has those of the root and of one layer beside its shard.
  const double shard = 2 * kGpt / kRanks;
  const Bytes gradients = peak(Sharding::gradients).of(MemoryClass::gradients);
  CHECK(gradients >= Bytes{shard});
  CHECK(gradients <= Bytes{shard + 2 * (kGptRoot + kGptLayer)});
}

TEST_CASE("ZeRO-3 has a share of everything but of what is gathered") {
  TrainingSetup setup = with(gpt_setup(), Sharding::parameters);
  const MemoryPeak memory = training_step(setup, kRanks).facts.memory;
  CHECK(memory.of(MemoryClass::optimizer) == Bytes{8 * kGpt / kRanks});
  double shards = 0.0;
  for (const MemoryTenant& tenant : memory.tenants) {
    if (tenant.name == "shards" && tenant.memory_class == MemoryClass::weights) shards = tenant.bytes.value;
  }
  CHECK(shards == 4 * kGpt / kRanks);
}

TEST_CASE("fp32 parameters are cast for each layer, which keeps the copy until its gradients are made") {
  // 4 bytes of parameters, 2 of the copy that computes; fp16 parameters are what computes.
  const WrittenStep step = training_step(with(llama_setup(4), Sharding::none, 2), kRanks);
  CHECK(kernels(step, "compute", " cast") == 2 * 5);
  CHECK(step.facts.memory.of(MemoryClass::weights) == Bytes{6.0 * kLlama});
  CHECK(kernels(training_step(with(gpt_setup(), Sharding::none), kRanks), "compute", " cast") == 0);
}

}  // namespace c3::training_buckets_test
