// Rows that embedding bags touch, and bytes of their kernels, by hand.

#include "gpu/kernel_time.hpp"
#include "gpu/kernels/embedding/embedding_kernel.hpp"
#include "gpu/kernels/operator_class.hpp"
#include "gpu/kernels/operator_table.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "engine/errors.hpp"
#include "tests/support/gpu_bench.hpp"
#include "tests/support/near.hpp"

namespace c3::gpu_embedding_test {

using namespace literals;
using namespace test;

namespace {

GpuSpec embedding_gpu() {
  GpuSpec gpu = round_gpu();
  gpu.compute.matrix.push_back({DType::fp32, 100.0_TFLOPs, 100.0_TFLOPs, 1000.0_MHz});
  return gpu;
}

/// 64 bags of 100 rows of 256 bytes, of 2 tables of 10,000 rows.
EmbeddingShape bags() {
  return {.bags = 64, .tables = 2, .rows = 10'000, .cols = 64, .lookups = 100, .update = RowUpdate::sgd};
}

/// With all work groups resident on one die.
CacheState with_cache(Bytes size) {
  CacheState state;
  state.resident = 32;
  state.l2_size = state.llc_size = size;
  return state;
}

/// At HBM, of the whole kernel.
struct Moved {
  double read, written;
};
Moved moved(const EmbeddingShape& shape, Bytes cache) {
  const KernelDescription kernel = describe_embedding("e", shape, embedding_gpu());
  const Traffic traffic = kernel.traffic->per_work_group(with_cache(cache));
  const auto work_groups = static_cast<double>(kernel.work_groups);
  return {(traffic.hbm * work_groups).value, (kernel.output * (work_groups * traffic.stores_to_hbm)).value};
}

EmbeddingShape backward(EmbeddingShape shape, RowUpdate update) {
  shape.pass = Pass::backward;
  shape.update = update;
  return shape;
}

}  // namespace

TEST_CASE("a cache of the most often used rows leaves the rest of what lookups touch") {
  // Two lookups of four equally likely rows touch 1.75, of which three quarters are not the hottest row.
  CHECK(RowReuse(4).distinct_beyond(1, 2) == near(0.75 * 1.75));
  CHECK(RowReuse(4).distinct_beyond(4, 2) == 0.0);
  // 100 lookups of rows used once and 900 of rows used 6.5 times (5 to 8): 100 and 138.46 rows.
  ReuseHistogram histogram{.recorded = 1000};
  histogram.lookups[0] = 0.1;
  histogram.lookups[3] = 0.9;
  const RowReuse reuse(histogram, 1'000'000);
  const double often = 900 / 6.5;
  CHECK(reuse.distinct_beyond(0, 1000) == near(100 + often));
  CHECK(reuse.distinct_beyond(often, 1000) == near(100.0));
  CHECK(reuse.distinct_beyond(often + 40, 1000) == near(60.0));
  // Half of the lookups touch half of the single rows, and all but 0.5^6.5 of the others.
  CHECK(reuse.distinct_beyond(often / 2, 500) == near(50 + often / 2 * (1 - std::pow(0.5, 6.5))));
}

TEST_CASE("what a GPU's memory holds of a table is its resident rows") {
  EmbeddingShape shape = bags();
  shape.resident = 0.25;
  CHECK(table_bytes(shape).value == near(0.25 * table_bytes(bags()).value));
}

TEST_CASE("two lookups of four equally likely rows touch 1.75 of them, the third a new one with 9/16") {
  const RowReuse reuse(4);
  CHECK(reuse.distinct(2) == near(1.75));
  CHECK(reuse.growth(2) == near(0.5625));
  CHECK(RowReuse(1).distinct(5) == near(1.0));
}

TEST_CASE("shares of lookups alone give the rows that the recorded batches touched") {
  // locality_stats.txt: 61.65 M distinct rows of 856 tables, which the histogram of lookups does not contain.
  const ReuseHistogram& recorded = histogram_of_2021();
  const RowReuse reuse(recorded, 100'000'000);
  CHECK(reuse.distinct(recorded.recorded) == near(61.65e6 / 856, 0.03));
  // A small table has them all, and they add up to no more.
  CHECK(RowReuse(recorded, 1000).distinct(recorded.recorded) == near(1000.0, 1e-6));
}

TEST_CASE("a part of a recorded batch touches a row of c uses with 1 - (1 - part)^c") {
  ReuseHistogram twice{.recorded = 1000};
  twice.lookups[1] = 1.0;  // 500 rows, each looked up twice
  const RowReuse reuse(twice, 1'000'000);
  CHECK(reuse.distinct(500) == near(500 * 0.75));
  CHECK(reuse.growth(0) == near(1.0));
  CHECK(reuse.growth(500) == near(0.5));
}

TEST_CASE("misses of equally likely rows are Lin et al.'s, but for the lookups that fill the cache") {
  // 10,000 of 1 M rows are kept: T = -E ln(1 - X/E) lookups fill the cache, then 99 % miss.
  constexpr double kRows = 1e6, kKept = 1e4, kLookups = 1e6;
  const RowReuse reuse(1'000'000);
  const double filling = std::log1p(-kKept / kRows) / std::log1p(-1.0 / kRows);
  const double misses = reuse.misses(kLookups, Bytes{256 * kKept}, Bytes{256}, Bytes{});
  CHECK(misses == near(kKept + (kLookups - filling) * 0.99, 1e-6));
  CHECK(misses == near(kKept + (kLookups - kKept) * 0.99, 1e-3));  // theirs
}

TEST_CASE("what streams through a cache with the lookups takes the place of rows") {
  // Every lookup inserts as much as its row again, so that half as many bytes are left for rows.
  const RowReuse reuse(1000);
  const double alone = reuse.misses(1e6, Bytes{256 * 500.0}, Bytes{256}, Bytes{});
  const double beside = reuse.misses(1e6, Bytes{256 * 500.0}, Bytes{256}, Bytes{256});
  CHECK(alone / 1e6 == near(0.5, 1e-3));
  // distinct(T) + T = 500: T = 266.2 with 233.8 rows.
  CHECK(beside / 1e6 == near(0.7662, 1e-3));
}

TEST_CASE(
    "a forward pass without caches reads every row that it adds, and with large ones every distinct row") {
  const double streamed = 2.0 * 64 * (100 * 8 + 8);
  CHECK(moved(bags(), Bytes{}).read == near(2.0 * 64 * 100 * 256 + streamed));
  CHECK(moved(bags(), 1.0_GB).read == near(2.0 * 256 * 1e4 * (1.0 - std::pow(0.9999, 6400)) + streamed));
  CHECK(moved(bags(), 1.0_GB).written == near(2.0 * 64 * 256));
}

TEST_CASE("weights take four bytes of each lookup") {
  EmbeddingShape weighted = bags();
  weighted.is_weighted = true;
  CHECK(moved(weighted, Bytes{}).read - moved(bags(), Bytes{}).read == near(2.0 * 64 * 100 * 4));
}

TEST_CASE("SGD by lookup writes a row as often as it fetches it, an exact update each distinct row once") {
  const double distinct = 2e4 * (1.0 - std::pow(0.9999, 6400));
  const EmbeddingShape per_lookup = backward(bags(), RowUpdate::sgd);
  CHECK(moved(per_lookup, Bytes{}).written == near(2.0 * 64 * 100 * 256));
  CHECK(moved(per_lookup, 1.0_GB).written == near(256 * distinct));
  const EmbeddingShape exact = backward(bags(), RowUpdate::exact_sgd);
  CHECK(moved(exact, Bytes{}).written == near(256 * distinct));
  // 12 bytes of a sorted lookup, its bag's gradient from HBM, and each row.
  CHECK(moved(exact, Bytes{}).read == near(2.0 * 6400 * (12 + 256) + 256 * distinct));
  const EmbeddingShape adagrad = backward(bags(), RowUpdate::exact_rowwise_adagrad);
  CHECK(moved(adagrad, Bytes{}).written == near((256 + 32) * distinct));
}

TEST_CASE("unlike tables in one kernel move what they move alone") {
  EmbeddingShape wide = bags();
  wide.cols = 128;
  wide.rows = 500;
  EmbeddingShape both = bags();
  both.others = {wide};
  for (const Bytes cache : {Bytes{}, 1.0_GB}) {
    const Moved sum = moved(both, cache), one = moved(bags(), cache), other = moved(wide, cache);
    CHECK(sum.read == near(one.read + other.read));
    CHECK(sum.written == near(one.written + other.written));
  }
  CHECK(all_lookups(both) == near(2.0 * all_lookups(bags())));
}

TEST_CASE("narrow rows reach less of HBM's rate, and half of the caches means more bytes") {
  EmbeddingShape large = bags();
  large.bags = 16'384;
  large.rows = 20'000'000;
  GpuSpec gpu = embedding_gpu();
  gpu.hbm.latency = 0.1_us;  // that 128 waves hide
  const auto time = [&](std::int64_t cols, double cache) {
    large.cols = cols;
    return time_alone(describe_embedding("e", large, gpu), gpu, {.cache = cache, .launch = LaunchCost::device});
  };
  const KernelTime wide = time(128, 1.0);
  const double bytes = (wide.hbm_read + wide.hbm_write).value;
  CHECK((wide.time - wide.launch).value == near(bytes / 1e12, 0.02));
  const KernelTime narrow = time(32, 1.0);
  CHECK((narrow.time - narrow.launch).value ==
        near(1.55 * (narrow.hbm_read + narrow.hbm_write).value / 1e12, 0.02));
  CHECK(time(128, 0.5).hbm_read > wide.hbm_read);
}

TEST_CASE("a radix sort takes a pass for each 8 bits of the tables' rows") {
  EmbeddingShape shape = bags();  // 20,000 rows: 15 bits
  CHECK(embedding_sort_passes(shape) == 2);
  shape.rows = 1 << 23;  // of 2 tables: 24 bits
  CHECK(embedding_sort_passes(shape) == 3);
  CHECK(output_bytes(embedding_sort_pass(bags())).value == near(12.0 * 12'800));
}

TEST_CASE(
    "embedding bags are read from words, and refused for bags without lookups, and for tables too large") {
  const auto words = [](std::string_view lookups) {
    ShapeWords given;
    given[ShapeKey::op] = "embedding_bag_weighted";
    given[ShapeKey::dtype] = "fp32";
    given[ShapeKey::b] = "64";
    given[ShapeKey::rows] = "10000";
    given[ShapeKey::cols] = "64";
    given[ShapeKey::lookups] = lookups;
    given[ShapeKey::reuse] = "dlrm_2021";
    return given;
  };
  const Operator op = operator_of(words("100"));
  const auto* shape = op.as<EmbeddingShape>();
  REQUIRE(shape != nullptr);
  CHECK(shape->is_weighted);
  CHECK(shape->lookups == 100);
  CHECK(shape->reuse == ReuseProfile::dlrm_2021);
  CHECK_THROWS_WITH_AS(operator_of(words("0")), "must be at least 1, not 0", ShapeError);
  EmbeddingShape huge = bags();
  huge.rows = 1'000'000'000;
  CHECK_THROWS_WITH_AS(describe_embedding("e", huge, embedding_gpu()),
                       "'e': its tables take 512.0 GB, and gpu 'round' has 64.0 GB", InfeasibleError);
}

}  // namespace c3::gpu_embedding_test
