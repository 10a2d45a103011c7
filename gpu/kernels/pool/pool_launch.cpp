#include "gpu/kernels/pool/pool_launch.hpp"

#include <algorithm>
#include <cmath>

namespace c3 { inline namespace gpu {
namespace {

constexpr std::int64_t kWave = 32;          // threads
constexpr std::int64_t kMaxBlock = 256;     // threads of a max pool's work group in NCHW
constexpr std::int64_t kLargeBlock = 1024;  // of the others
constexpr std::int64_t kMostChannels = 4;   // of a thread in NHWC
constexpr std::int64_t kMostPlaces = 2;     // columns of a thread, and rows, in NHWC

double as_double(std::int64_t count) { return static_cast<double>(count); }

std::int64_t ceil_ratio(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

std::int64_t power_of_2_below(std::int64_t count) {
  return static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(count)));
}

bool keeps_results_in_shared_memory(const PoolShape& shape) {
  return shape.op == PoolOp::max && shape.layout == ImageLayout::nhwc;
}

Extent2 places_of(const PoolShape& shape) {
  return shape.pass == Pass::forward ? output_extent(shape) : shape.image;
}

/// Which channels a thread of a max pool in NHWC makes: every so many'th.
struct Channels {
  std::int64_t threads;  ///< of a work group
  std::int64_t of_thread;
  std::int64_t work_groups;  ///< among which they are divided
};

Channels channels_of(const PoolShape& shape) {
  const std::int64_t threads = std::min(power_of_2_below(shape.channels), kWave);
  const std::int64_t work_groups = ceil_ratio(shape.channels, threads * kMostChannels);
  return {threads, ceil_ratio(shape.channels, threads * work_groups), work_groups};
}

/// How \p places along an axis are cut among work groups, each of which has \p threads along it.
struct Cut {
  std::int64_t work_groups;
  double in_turn;  ///< of a thread; mean of the work groups
};

Cut cut(std::int64_t places, std::int64_t threads) {
  const std::int64_t work_groups = ceil_ratio(places, threads * kMostPlaces);
  const std::int64_t each = ceil_ratio(places, work_groups);
  const std::int64_t in_turn = places / each * ceil_ratio(each, threads) + ceil_ratio(places % each, threads);
  return {work_groups, as_double(in_turn) / as_double(work_groups)};
}

PoolLaunch in_shared_memory(const PoolShape& shape) {
  const Channels channels = channels_of(shape);
  const Extent2 places = places_of(shape);
  const std::int64_t across = std::min(power_of_2_below(places.w), kLargeBlock / channels.threads);
  const std::int64_t down = std::min(power_of_2_below(places.h), kLargeBlock / channels.threads / across);
  const Cut columns = cut(places.w, across);
  const Cut rows = cut(places.h, down);
  const std::int64_t block = channels.threads * across * down;
  // What a thread keeps: the largest number of a window and its index, or backward the sum of gradients.
  const Bytes kept = shape.pass == Pass::forward ? Bytes{4} + element_size(shape.dtype) : Bytes{4};
  const double idle = std::max(1.0, as_double(kWave) / as_double(block));
  PoolLaunch launch;
  launch.work_groups =
      as_double(shape.batch) * as_double(channels.work_groups * columns.work_groups * rows.work_groups);
  launch.block = as_double(block);
  launch.lds = kept * as_double(block * channels.of_thread);
  launch.places = idle * as_double(channels.threads * channels.of_thread) * as_double(places.h * places.w) /
                  as_double(columns.work_groups * rows.work_groups);
  launch.in_turn = columns.in_turn * rows.in_turn * as_double(channels.of_thread);
  return launch;
}

PoolLaunch within_channels(const PoolShape& shape) {
  const std::int64_t pixels = shape.image.h * shape.image.w;
  const std::int64_t of_channel = ceil_ratio(pixels, kMaxBlock);
  PoolLaunch launch;
  launch.work_groups = as_double(of_channel) * as_double(shape.batch) * as_double(shape.channels);
  launch.places = as_double(ceil_ratio(pixels, kWave) * kWave) / as_double(of_channel);
  return launch;
}

double registers_of_average(const PoolShape& shape) {
  if (shape.pass == Pass::backward) return 48;
  return shape.layout == ImageLayout::nchw ? 32 : 40;
}

}  // namespace

PoolLaunch launch_of(const PoolShape& shape) {
  if (keeps_results_in_shared_memory(shape)) return in_shared_memory(shape);
  if (shape.op == PoolOp::max && shape.pass == Pass::backward) return within_channels(shape);
  const PoolElements elements = elements_of(shape);
  const double places = shape.pass == Pass::forward ? elements.output : elements.input;
  PoolLaunch launch;
  launch.block = as_double(shape.op == PoolOp::max ? kMaxBlock : kLargeBlock);
  if (shape.op == PoolOp::average) launch.registers = registers_of_average(shape);
  launch.work_groups = std::ceil(places / launch.block);
  launch.places = std::min(launch.block, std::ceil(places / as_double(kWave)) * as_double(kWave));
  return launch;
}

double channels_of_thread(const PoolShape& shape) {
  return keeps_results_in_shared_memory(shape) ? as_double(channels_of(shape).of_thread) : 1.0;
}

}}  // namespace c3::gpu
