// Products that overlap with collectives of tensor-parallel ranks: in parts, by copies, in a ring.

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "configs/jobs/experiment_reader.hpp"
#include "gpu/kernels/gemm/gemm_shape.hpp"
#include "tests/support/near.hpp"
#include "tests/support/print_units.hpp"
#include "tests/unit/config_files.hpp"
#include "tests/unit/training_tensor_setups.hpp"

namespace c3::training_tensor_overlap_test {

using namespace test;

namespace {

/// Exchanges on \p stream, in order.
std::vector<Placed> exchanges(const WrittenStep& step, const std::string& stream) {
  std::vector<Placed> found;
  const std::vector<Operation>& operations = operations_of(step, stream);
  for (std::size_t i = 0; i < operations.size(); ++i)
    if (std::holds_alternative<Exchange>(operations[i].work))
      found.push_back({{*step.program.stream_named(stream), i},
                       &operations[i],
                       step.program.name_of(operations[i]),
                       step.program.range_of(operations[i])});
  return found;
}

/// Exchanges of one part.
std::vector<Placed> exchanges(const WrittenStep& step, const std::string& stream, const std::string& range,
                              const std::string& part) {
  std::vector<Placed> found = in_range(exchanges(step, stream), range);
  std::erase_if(found, [&](const Placed& placed) { return !placed.name.starts_with(part); });
  return found;
}

}  // namespace

TEST_CASE(
    "asynchronous tensor parallelism splits products and collectives, and changes neither flops nor bytes") {
  for (const bool sequence : {false, true}) {
    TrainingSetup setup = parallel(sequence);
    const WrittenStep whole = training_step(setup, kRanks);
    setup.tensor_overlap = TensorOverlap::chunks;
    setup.tensor_chunks = 4;
    const WrittenStep parts = training_step(setup, kRanks);
    CHECK(flops(parts) == near(flops(whole)));
    CHECK(parts.facts.model_flops() == whole.facts.model_flops());
    for (const char* stream : {"tensor", "tensor_gather"}) {
      for (const CollectiveKind kind :
           {CollectiveKind::all_reduce, CollectiveKind::reduce_scatter, CollectiveKind::all_gather}) {
        const auto one = calls_of(whole, stream, kind), four = calls_of(parts, stream, kind);
        CHECK(bytes_of(four) == bytes_of(one));
        // Inputs that are gathered again are not split: weights' gradients are of all tokens.
        const std::size_t again = std::string(stream) == "tensor_gather" && sequence ? 2 * kLayers + 1 : 0;
        if (!one.empty()) CHECK(four.size() == 4 * (one.size() - again) + again);
      }
    }
    // So are sums behind several products' gradients, which user buffers leave whole.
    setup.framework.separate_projections = true;
    const WrittenStep separate = training_step(setup, kRanks);
    const CollectiveKind sum = sequence ? CollectiveKind::reduce_scatter : CollectiveKind::all_reduce;
    CHECK(calls_of(separate, "tensor", sum).size() == calls_of(parts, "tensor", sum).size());
    // Each part is summed when its product has run, while the next one runs.
    const HappensBefore before(parts);
    const auto products = in_range(named(parts, "compute", "mlp.down"), "forward, layer 0");
    const auto sums = in_range(named(parts, "tensor", "mlp.down"), "forward, layer 0");
    REQUIRE(products.size() == 4);
    REQUIRE(sums.size() == 4);
    for (std::size_t i = 0; i < 4; ++i) {
      CHECK(shape_of<GemmShape>(*products[i].operation)->m == 64);
      CHECK(before(products[i].place, sums[i].place));
      if (i < 3) CHECK(!before(products[i + 1].place, sums[i].place));
    }
  }
}

TEST_CASE("sums that are copied go to each rank as one piece of every other, and a kernel adds them") {
  TrainingSetup setup = parallel(true);
  setup.tensor_overlap = TensorOverlap::chunks;
  setup.tensor_chunks = 4;
  const WrittenStep reduced = training_step(setup, kRanks);
  setup.tensor_overlap = TensorOverlap::user_buffers;
  const WrittenStep copied = training_step(setup, kRanks);
  CHECK(flops(copied) == near(flops(reduced)));
  const auto copies = calls_of(copied, "tensor_copy", CollectiveKind::all_to_all);
  const auto sums = calls_of(reduced, "tensor", CollectiveKind::reduce_scatter);
  CHECK(copies.size() == sums.size());
  CHECK(bytes_of(copies) == bytes_of(sums));
  // Each sum reads the whole tensor and writes a rank's part, as an addition that goes through three tensors.
  const HappensBefore before(copied);
  const auto moved = in_range(named(copied, "tensor_copy", "mlp.down"), "forward, layer 0");
  const auto added = in_range(named(copied, "compute", "mlp.down sum"), "forward, layer 0");
  REQUIRE(moved.size() == 4);
  REQUIRE(added.size() == 1);
  CHECK(before(moved.back().place, added.front().place));
  const auto* shape = shape_of<VectorShape>(*added.front().operation);
  REQUIRE(shape != nullptr);
  const double numbers = kHidden.value / element_size(setup.dtype).value;
  CHECK(static_cast<double>(shape->rows * shape->cols) ==
        near(numbers * (1.0 + 1.0 / setup.tensor_parallel) / 3.0, 0.02));  // whole rows
  // Gradients of several products are added before they are summed over ranks: that sum is not cut.
  setup.framework.separate_projections = true;
  const WrittenStep several = training_step(setup, kRanks);
  CHECK(in_range(named(several, "tensor_copy", "attn.qkv"), "backward, layer 0").empty());
  CHECK(in_range(named(several, "tensor", "attn.qkv"), "backward, layer 0").size() == 1);
  CHECK(in_range(named(several, "tensor_copy", "mlp.down"), "forward, layer 0").size() == 4);
}

TEST_CASE(
    "in a ring a rank passes on t - 1 of t parts: before products to the next, behind them to who keeps it") {
  // Per layer: forward two gathers and two sums, backward two gathers; the sums of gradients of inputs stay as
  // they are, and so do the gathers that only gradients of weights wait for, and those of the head.
  TrainingSetup setup = parallel(true);
  const WrittenStep whole = training_step(setup, kRanks);
  setup.tensor_overlap = TensorOverlap::ring;
  const WrittenStep step = training_step(setup, kRanks);
  CHECK(flops(step) == near(flops(whole)));
  std::map<int, Bytes> sent;  // by how many places on
  for (const Placed& placed : exchanges(step, "tensor_ring")) {
    const auto& exchange = std::get<Exchange>(placed.operation->work);
    CHECK(step.program.communicators[exchange.communicator].groups == RankGroups{.size = kShare, .stride = 1});
    REQUIRE(exchange.messages.size() == 2);
    const int places = exchange.messages[0].offset;
    CHECK(exchange.messages[0] == Message{.offset = places, .bytes = kHidden / kShare, .sends = true});
    CHECK(exchange.messages[1] == Message{.offset = -places, .bytes = kHidden / kShare, .sends = false});
    sent[places] += exchange.messages[0].bytes;
  }
  // Four gathers of t - 1 steps, all to the next rank; of two sums a part to each other rank.
  CHECK(sent.size() == kShare - 1);
  for (const auto& [places, bytes] : sent)
    CHECK(bytes == kLayers * ((places == 1 ? 4.0 * (kShare - 1.0) : 0.0) + 2.0) / kShare * kHidden);
  const auto fewer = [&](const char* stream, CollectiveKind kind) {
    return calls_of(whole, stream, kind).size() - calls_of(step, stream, kind).size();
  };
  CHECK(fewer("tensor_gather", CollectiveKind::all_gather) == 4 * kLayers);
  CHECK(fewer("tensor", CollectiveKind::reduce_scatter) == 2 * kLayers);
}

TEST_CASE(
    "in a ring the own part is computed at once, each other part when it is there, and one sum follows all "
    "parts") {
  TrainingSetup setup = parallel(true);
  setup.tensor_overlap = TensorOverlap::ring;
  const WrittenStep step = training_step(setup, kRanks);
  const HappensBefore before(step);
  const std::string range = "forward, layer 1";
  const auto arrivals = exchanges(step, "tensor_ring", range, "mlp.gate_up");
  std::vector<Placed> products = in_range(named(step, "compute", "mlp.gate_up"), range);
  REQUIRE(arrivals.size() == kShare - 1);
  REQUIRE(products.size() == kShare);
  for (std::size_t part = 0; part < kShare; ++part)
    for (std::size_t step_number = 0; step_number + 1 < kShare; ++step_number)
      CHECK(before(arrivals[step_number].place, products[part].place) == (step_number < part));
  const auto sends = exchanges(step, "tensor_ring", range, "mlp.down");
  products = in_range(named(step, "compute", "mlp.down"), range);
  std::vector<Placed> sums = in_range(named(step, "compute", "mlp.down sum"), range);
  std::erase_if(products, [](const Placed& placed) { return placed.name.ends_with("sum"); });
  REQUIRE(sends.size() == kShare - 1);
  REQUIRE(products.size() == kShare);
  REQUIRE(sums.size() == 1);
  for (std::size_t part = 0; part + 1 < kShare; ++part) {
    CHECK(before(products[part].place, sends[part].place));
    CHECK_FALSE(before(products[part + 1].place, sends[part].place));
    CHECK_FALSE(before(sends[part].place, products[part + 1].place));
    CHECK(before(sends[part].place, sums.front().place));
  }
  // The sum reads a tensor of each rank and writes one, over a rank's share of the tokens: as many as
  // additions of three.
  const auto* shape = shape_of<VectorShape>(*sums.front().operation);
  REQUIRE(shape != nullptr);
  CHECK(std::abs(shape->rows * shape->cols - 256 * 512 / kShare * (kShare + 1) / 3) < 1024);
}

TEST_CASE("parts are as many as ranks unless a number is given, and user buffers are moved by copy engines") {
  TrainingSetup setup = parallel(true);
  CHECK(setup.product_parts() == 1);
  CHECK(usual_policies(setup).empty());
  setup.tensor_overlap = TensorOverlap::user_buffers;
  CHECK(setup.product_parts() == kShare);
  CHECK(usual_policies(setup).at("tensor_gather").backend == Backend::dma);
  CHECK(usual_policies(setup).at("tensor_copy").backend == Backend::dma);
  setup.tensor_chunks = 8;
  CHECK(setup.product_parts() == 8);
  setup.tensor_overlap = TensorOverlap::ring;
  CHECK(usual_policies(setup).at("tensor_ring").backend == Backend::dma);
  CHECK_FALSE(usual_policies(setup).contains("tensor"));
  setup.tensor_overlap = TensorOverlap::fused;
  CHECK(setup.product_parts() == 1);
  CHECK(usual_policies(setup).at("tensor").backend == Backend::fused);
  // A file's strategy keeps them unless it says otherwise.
  const ScratchFolder folder;
  const std::string file = folder.write("overlap.toml", R"(
schema = 1
system = "h100-sxm-8"
[model]
use = "llama-3-8b"
dtype = "bf16"
[training]
framework = "pytorch-eager"
sequence = 512
micro_batch = 2
tensor_parallel = 8
sequence_parallel = true
tensor_overlap = "user_buffers"
[strategy.default]
tensor_gather.priority = 1
[strategy.other]
tensor_copy.backend = "cu"
)");
  const auto strategies = ExperimentFile::load(file).make(std::nullopt).strategies;
  REQUIRE(strategies.size() == 2);
  CHECK(strategies[0].streams.at("tensor_gather").backend == Backend::dma);
  CHECK(strategies[0].streams.at("tensor_gather").priority == 1);
  CHECK(strategies[0].streams.at("tensor_copy").backend == Backend::dma);
  CHECK(strategies[1].streams.at("tensor_copy").backend == Backend::cu);
}

}  // namespace c3::training_tensor_overlap_test
