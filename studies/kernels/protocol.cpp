#include "studies/kernels/protocol.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "configs/presets/preset_store.hpp"
#include "gpu/kernels/stream_times.hpp"
#include "gpu/kernels/vector/vector_shape.hpp"

namespace c3 { inline namespace studies {
namespace {

constexpr double kUntimed = 6;  // calls and replays
constexpr double kTimed = 6;

Bytes elements(const GemmShape& shape, std::int64_t rows, std::int64_t columns) {
  return element_size(shape.dtype) * (static_cast<double>(rows) * static_cast<double>(columns));
}

Bytes l2_of(const GpuSpec& gpu) { return gpu.cache.l2_size * gpu.compute.xcds; }

/// What a replay leaves of a product's operands: all of them where its buffers together fit into L2.
WarmOperands warm_of(const TakenRow& row, const GpuSpec& gpu) {
  if (!row.finds_warm) return WarmOperands::none;
  const GemmShape& shape = row.shape;
  const Bytes a = elements(shape, shape.m, shape.k);
  const Bytes b = elements(shape, shape.k, shape.n);
  const Bytes c = elements(shape, shape.m, shape.n);
  const double products = products_of_replay(row, gpu);
  const bool shares_a = row.collector == Collector::tensorrt_llm;
  const Bytes buffers = shares_a ? a + c + products * b : products * (a + b + c);
  if (buffers <= l2_of(gpu)) return WarmOperands::all;
  return shares_a ? WarmOperands::activations : WarmOperands::none;
}

/// Timed products.
double timed_products(const TakenRow& row, const GpuSpec& gpu, Seconds time) {
  const double products = products_of_replay(row, gpu);
  if (row.repetition == Repetition::six) return kTimed * products;
  const Seconds replay = products * time;
  const Seconds wanted = replay < 0.1_ms ? 300.0_ms : 1.0_s;
  constexpr double kMostReplays = 3000;
  return products * std::clamp(std::ceil(wanted / replay), 1.0, kMostReplays);
}

}  // namespace

GpuSpec in_burst(std::string_view name) {
  GpuSpec gpu = load_gpu(std::string(name));
  gpu.governor.state = ClockState::burst;
  gpu.governor.settled = 1.0;
  return gpu;
}

double products_of_replay(const TakenRow& row, const GpuSpec& gpu) {
  constexpr double kMostWeights = 5;
  constexpr double kSix = 6;
  if (row.collector != Collector::tensorrt_llm) return kSix;
  return std::clamp(std::ceil(l2_of(gpu) / elements(row.shape, row.shape.k, row.shape.n)), 1.0, kMostWeights);
}

std::vector<Operator> kernels_of(const TakenRow& row, const GpuSpec& gpu) {
  GemmShape shape = row.shape;
  shape.warm = warm_of(row, gpu);
  std::vector<Operator> kernels;
  if (row.quantised) {
    for (const VectorOp op : {VectorOp::absmax, VectorOp::quantize})
      kernels.emplace_back(VectorShape{.chain = op, .rows = shape.m, .cols = shape.k, .dtype = DType::bf16});
  }
  kernels.emplace_back(shape);
  return kernels;
}

Seconds busy_time(const TakenRow& row, const GpuSpec& gpu, Seconds time) {
  return (kUntimed * products_of_replay(row, gpu) + timed_products(row, gpu, time)) * time;
}

Seconds taken_time(const TakenRow& row, const GpuSpec& gpu) {
  const GovernedTimes times = stream_times(kernels_of(row, gpu), gpu);
  return measured_time(
      times.burst, times.sustained, times.to_limit,
      {.before = kUntimed * products_of_replay(row, gpu), .timed = timed_products(row, gpu, times.burst)});
}

}}  // namespace c3::studies
