// Coefficients from times that known coefficients made.

#include "gpu/calibration/kernel_fit.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "gpu/kernels/attention/attention_shape.hpp"
#include "gpu/kernels/batch_norm/batch_norm_shape.hpp"
#include "gpu/kernels/describe.hpp"
#include "gpu/kernels/gemm/gemm_shape.hpp"
#include "gpu/kernels/pool/pool_shape.hpp"
#include "gpu/kernels/vector/vector_shape.hpp"
#include "tests/support/gpu_bench.hpp"
#include "tests/support/gpu_families.hpp"
#include "tests/support/near.hpp"

namespace c3::calibration_kernel_fit_test {

using namespace literals;
using namespace test;

namespace {

GpuSpec gpu_of(std::string name, FamilySpec family, std::string technology, double bandwidth) {
  GpuSpec gpu = round_gpu();
  gpu.name = std::move(name);
  gpu.family = std::move(family);
  const FlopsPerSecond lanes{2.0 * 8 * 64e9};
  gpu.compute.matrix = {{DType::fp32, lanes, lanes, 1000.0_MHz}};
  gpu.cache.llc_size = 1.0_MiB;
  gpu.hbm.technology = std::move(technology);
  gpu.hbm.peak = BytesPerSecond{bandwidth};
  gpu.hbm.from_share = true;
  return gpu;
}

/// Two of HBM and one of GDDR6.
std::vector<GpuSpec> gpus() {
  return {gpu_of("a", ampere(), "hbm2e", 1e12), gpu_of("v", volta(), "hbm2", 0.5e12),
          gpu_of("t", turing(), "gddr6", 0.3e12)};
}

CoefficientTable truth() {
  CoefficientTable table{"vector", {}};
  const VectorCoefficients defaults;
  for (const VectorField& field : kVectorFields) {
    const bool differs = field.key == "memory_share" || field.key == "absmax_ops";
    if (!differs) table.values.emplace_back(field.key, defaults.*field.member);
  }
  for (auto& [key, value] : table.values) {
    if (key == "absmax_us") value = 5.0;
  }
  table.values.emplace_back("absmax_ops_default", 40.0);
  table.values.emplace_back("memory_share_default", 0.9);
  table.values.emplace_back("memory_share_gddr6", 0.7);
  table.values.emplace_back("memory_share_gddr7", 0.6);  // nobody has it
  return table;
}

CoefficientTable with(CoefficientTable table, std::string_view key, double value) {
  for (auto& [name, old] : table.values) {
    if (name == key) old = value;
  }
  return table;
}

/// Streams that HBM bounds, norms that arithmetic bounds, and rows of softmax; on every GPU.
std::vector<KernelSample> samples(const CoefficientTable& made_with = truth()) {
  std::vector<KernelSample> all;
  for (std::size_t gpu = 0; gpu < gpus().size(); ++gpu) {
    for (const std::int64_t rows : {100, 3000, 20'000}) {
      for (const std::int64_t cols : {64, 500, 3000, 10'000}) {
        for (const VectorOp op : {VectorOp::add, VectorOp::layernorm, VectorOp::softmax, VectorOp::pow})
          all.push_back({VectorShape{.chain = op, .rows = rows, .cols = cols, .is_eager = has_eager_kernel(op)},
                         gpu, Seconds{1.0}});
      }
    }
  }
  const std::vector<Seconds> times = predict_kernels(all, gpus(), made_with);
  for (std::size_t i = 0; i < all.size(); ++i)
    all[i].time = times[i];
  return all;
}

/// All keys but those given.
KernelFitOptions fitting(std::set<std::string> keys) {
  KernelFitOptions options;
  options.fit.starts = 1;
  for (const auto& [key, value] : truth().values) {
    if (!keys.contains(key)) options.hold.push_back(key);
  }
  return options;
}

bool is_on(const KernelSample& sample, std::size_t gpu) { return sample.gpu == gpu; }

}  // namespace

TEST_CASE("the coefficients that made the times are found again") {
  CoefficientTable start = truth();
  start = with(start, "memory_share_default", 0.75);
  start = with(start, "memory_share_gddr6", 0.85);
  start = with(start, "row_cycles", 300);
  start = with(start, "block_us", 8);
  const KernelFit fit =
      fit_kernels(samples(), gpus(), start,
                  fitting({"memory_share_default", "memory_share_gddr6", "row_cycles", "block_us"}));
  REQUIRE(fit.table.values.size() == truth().values.size());
  for (std::size_t i = 0; i < fit.table.values.size(); ++i) {
    CAPTURE(fit.table.values[i].first);
    CHECK(fit.table.values[i].first == truth().values[i].first);
    CHECK(fit.table.values[i].second == near(truth().values[i].second, 0.01));
  }
  CHECK(fit.table.kernel_class == "vector");
  CHECK(fit.cost < 1e-6);
  CHECK(fit.rows == samples().size());
  CHECK(fit.at_bound.empty());
}

TEST_CASE("what is held, starts at 0, is a GPU's own, or belongs to memory that nobody has, keeps its value") {
  const CoefficientTable without_block = with(truth(), "block_us", 0.0);  // 0 has no logarithm
  CoefficientTable start = with(without_block, "memory_share_default", 0.75);
  start = with(start, "row_cycles", 700);  // not what made the times, and held
  KernelFitOptions options = fitting({"block_us", "memory_share_default", "memory_share_gddr7", "scale"});
  const KernelFit fit = fit_kernels(samples(without_block), gpus(), start, options);
  CHECK(*fit.table.find("row_cycles") == 700);
  CHECK(*fit.table.find("block_us") == 0.0);
  CHECK(*fit.table.find("memory_share_gddr7") == 0.6);
  CHECK(*fit.table.find("scale") == 1.0);
  CHECK(*fit.table.find("memory_share_default") == near(0.9, 0.05));  // fitted beside all that
  CHECK(fit.at_bound.empty());                                        // held is not at a bound
}

TEST_CASE("a coefficient that ends at a bound of its range is named") {
  const CoefficientTable fast = with(truth(), "memory_share_gddr6", 1.4);  // beyond the memory's peak
  const KernelFit fit = fit_kernels(samples(fast), gpus(), truth(), fitting({"memory_share_gddr6"}));
  CHECK(fit.at_bound == std::vector<std::string>{"memory_share_gddr6"});
  CHECK(*fit.table.find("memory_share_gddr6") == near(1.0, 1e-3));
}

TEST_CASE("a GPU is predicted by fits that saw neither its times nor the share of its memory") {
  const KernelFitOptions options = fitting({"memory_share_default", "memory_share_gddr6", "row_cycles"});
  const std::vector<KernelSample> all = samples();
  const std::vector<Seconds> predicted = predict_unseen_gpus(all, gpus(), truth(), options);
  constexpr std::size_t kTuring = 2;  // the only one with GDDR6

  std::vector<KernelSample> poisoned = all;
  for (KernelSample& sample : poisoned) {
    if (is_on(sample, kTuring)) sample.time = sample.time * 10.0;
  }
  const std::vector<Seconds> without_times = predict_unseen_gpus(poisoned, gpus(), truth(), options);
  const std::vector<Seconds> without_share =
      predict_unseen_gpus(all, gpus(), with(truth(), "memory_share_gddr6", 0.41), options);
  // What is known of GDDR6 without a GPU that has it: the default, that of the HBM GPUs.
  const std::vector<Seconds> by_default =
      predict_kernels(all, gpus(), with(truth(), "memory_share_gddr6", 0.9));
  bool others_moved = false;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (is_on(all[i], kTuring)) {
      CHECK(without_times[i] == predicted[i]);
      CHECK(without_share[i] == predicted[i]);
      CHECK(predicted[i].value == near(by_default[i].value, 1e-3));
    } else {
      CHECK(predicted[i].value == near(all[i].time.value, 1e-3));
      others_moved = others_moved || without_times[i] != predicted[i];
    }
  }
  CHECK(others_moved);  // they were fitted to the poison
}

TEST_CASE("a GPU whose like was never measured takes the mean of the shares that were") {
  // Left out: volta. Fitted: ampere's and turing's own shares, so that nothing takes the default.
  CoefficientTable start = truth();
  start.values.emplace_back("memory_share_ampere", 0.8);
  const std::vector<KernelSample> all = samples(start);
  const KernelFitOptions options =
      fitting({"memory_share_default", "memory_share_gddr6", "memory_share_ampere"});
  const std::vector<Seconds> predicted = predict_unseen_gpus(all, gpus(), start, options);
  const std::vector<Seconds> by_mean =
      predict_kernels(all, gpus(), with(start, "memory_share_default", std::sqrt(0.8 * 0.7)));
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (is_on(all[i], 1)) CHECK(predicted[i].value == near(by_mean[i].value, 1e-3));
  }
}

TEST_CASE("shapes are predicted by fits that did not see them on any GPU") {
  const KernelFitOptions options = fitting({"memory_share_default", "memory_share_gddr6"});
  std::vector<KernelSample> all = samples();
  const std::vector<Seconds> predicted = predict_unseen_shapes(all, gpus(), truth(), 4, options);
  for (std::size_t i = 0; i < all.size(); ++i)
    CHECK(predicted[i].value == near(all[i].time.value, 1e-3));
  // One shape's times on all GPUs are wrong: its own predictions do not know.
  const std::uint64_t key = shape_key(all.front().op);
  for (KernelSample& sample : all) {
    if (shape_key(sample.op) == key) sample.time = sample.time * 10.0;
  }
  const std::vector<Seconds> again = predict_unseen_shapes(all, gpus(), truth(), 4, options);
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (shape_key(all[i].op) == key) CHECK(again[i] == predicted[i]);
  }
}

TEST_CASE("a prediction is the kernel's time on its GPU with the table's coefficients") {
  const std::vector<KernelSample> all = samples();
  const std::vector<Seconds> times = predict_kernels(all, gpus(), truth());
  for (std::size_t i = 0; i < all.size(); ++i) {
    GpuSpec gpu = gpus().at(all[i].gpu);
    KernelCoefficients coefficients;
    coefficients.vector.memory_share = all[i].gpu == 2 ? 0.7 : 0.9;
    gpu.kernels = coefficients;
    gpu.hbm.read = gpu.hbm.write = gpu.hbm.copy = gpu.hbm.peak * coefficients.vector.memory_share;
    CHECK(times[i] == time_of(all[i].op, gpu).time);
  }
}

TEST_CASE("a fit takes as many rows of each GPU as it may, the same ones for a seed") {
  KernelFitOptions options = fitting({"memory_share_default"});
  options.most_rows = 7;
  const KernelFit fit = fit_kernels(samples(), gpus(), with(truth(), "memory_share_default", 0.8), options);
  CHECK(fit.rows == 3 * 7);
  CHECK(fit_kernels(samples(), gpus(), with(truth(), "memory_share_default", 0.8), options).table.values ==
        fit.table.values);
}

TEST_CASE("a key to hold that is none, and rows too few, are refused") {
  KernelFitOptions options;
  options.hold = {"row_cylces"};
  CHECK_THROWS_WITH_AS(fit_kernels(samples(), gpus(), truth(), options), "no coefficient 'row_cylces' to hold",
                       std::invalid_argument);
  const std::vector<KernelSample> one = {samples().front()};
  CHECK_THROWS_AS(fit_kernels(one, gpus(), truth(), fitting({"row_cycles", "memory_share_default"})),
                  std::invalid_argument);
  const CoefficientTable odd{"vector", {{"no_such", 1.0}}};
  CHECK_THROWS_WITH_AS(fit_kernels(samples(), gpus(), odd), "no coefficient 'no_such'", std::invalid_argument);
}

TEST_CASE("shapes have one key each") {
  const GemmShape gemm{64, 128, 256, DType::bf16, 2};
  const AttentionShape attention{
      .batch = 1, .heads = 8, .kv_heads = 4, .queries = 16, .keys = 32, .head_dim = 64, .causal = true};
  const VectorShape vector{.chain = VectorOp::add, .rows = 3, .cols = 5};
  const PoolShape pool{.channels = 3, .image = {8, 8}, .window = {2, 2}, .stride = {2, 2}};
  CHECK(shape_key(gemm) == shape_key(GemmShape{64, 128, 256, DType::bf16, 2}));
  CHECK(shape_key(attention) == shape_key(AttentionShape{attention}));
  CHECK(shape_key(vector) == shape_key(VectorShape{vector}));

  const BatchNormShape norm{.channels = 3, .image = {8, 8}};
  std::vector<Operator> all = {gemm, attention, vector, pool, norm};
  const auto add = [&all](auto shape, auto change) {
    change(shape);
    all.emplace_back(shape);
  };
  add(gemm, [](GemmShape& s) { std::swap(s.m, s.n); });
  add(gemm, [](GemmShape& s) { s.k = 255; });
  add(gemm, [](GemmShape& s) { s.dtype = DType::fp16; });
  add(gemm, [](GemmShape& s) { s.batch = 1; });
  add(attention, [](AttentionShape& s) { s.kv_heads = 8; });
  add(attention, [](AttentionShape& s) { s.causal = false; });
  add(attention, [](AttentionShape& s) { s.dtype = DType::fp8; });
  add(attention, [](AttentionShape& s) { s.pass = Pass::backward; });
  add(vector, [](VectorShape& s) { s.chain = VectorOp::mul; });
  add(vector, [](VectorShape& s) { s.chain.append(VectorOp::add); });
  add(vector, [](VectorShape& s) { std::swap(s.rows, s.cols); });
  add(vector, [](VectorShape& s) { s.dtype = DType::bf16; });
  add(vector, [](VectorShape& s) { s.pass = Pass::backward; });
  add(pool, [](PoolShape& s) { s.op = PoolOp::average; });
  add(pool, [](PoolShape& s) { s.stride.w = 1; });
  add(pool, [](PoolShape& s) { s.pad.h = 1; });
  add(pool, [](PoolShape& s) { s.layout = ImageLayout::nhwc; });
  add(norm, [](BatchNormShape& s) { s.layout = ImageLayout::nhwc; });
  add(norm, [](BatchNormShape& s) { s.pass = Pass::backward; });
  add(norm, [](BatchNormShape& s) { s.channels = 8; });
  std::set<std::uint64_t> keys;
  for (const Operator& op : all)
    keys.insert(shape_key(op));
  CHECK(keys.size() == all.size());
}

}  // namespace c3::calibration_kernel_fit_test
