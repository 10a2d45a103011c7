#include "gpu/clock/governor.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace c3::inline gpu {
namespace {

constexpr double kPico = 1e-12;

/// The limit, or the one that a measured level of large products implies.
Watts effective_limit(const GpuSpec& gpu) {
  const GovernorSpec& of = gpu.governor;
  if (of.level.value <= 0.0) return of.limit;
  const MatrixRate& rate = matrix_rate(gpu, DType::bf16);
  const double slower = std::max(1.0, rate.sustained / of.level);
  const Watts draws = power_at_boost(gpu, rate.sustained, rate.peak, {});
  return std::pow(slower, -1.0 / of.exponent) * draws;
}

}  // namespace

bool is_governed(const GpuSpec& gpu) { return gpu.governor.board.value > 0.0 && gpu.governor.flop_pj > 0.0; }

Watts power_at_boost(const GpuSpec& gpu, FlopsPerSecond rate, FlopsPerSecond peak, BytesPerSecond traffic) {
  const GovernorSpec& of = gpu.governor;
  const double per_flop = matrix_rate(gpu, DType::bf16).peak / peak;
  return of.idle + Watts{kPico * (of.flop_pj * per_flop * rate.value + of.byte_pj * traffic.value)};
}

double sustained_slowdown(const GpuSpec& gpu, Watts power) {
  return std::pow(std::max(1.0, power / effective_limit(gpu)), gpu.governor.exponent);
}

double burst_slowdown(const GpuSpec& gpu, Watts power) {
  const Watts limit = gpu.governor.burst * effective_limit(gpu);
  return std::pow(std::max(1.0, power / limit), gpu.governor.exponent);
}

Watts power_when_slowed(const GpuSpec& gpu, Watts power, double slower) {
  return std::pow(slower, -1.0 / gpu.governor.exponent) * power;
}

// The mean P obeys dP/dt = (power - P) / averaging from `idle` on.
Seconds time_to_limit(const GpuSpec& gpu, Watts power) {
  const Watts limit = effective_limit(gpu);
  if (power <= limit) return Seconds{std::numeric_limits<double>::infinity()};
  if (limit <= gpu.governor.idle) return Seconds{};
  const Watts drawn = std::min(power, gpu.governor.burst * limit);
  return gpu.governor.averaging * std::log((drawn - gpu.governor.idle) / (drawn - limit));
}

Seconds measured_time(Seconds burst, Seconds sustained, Seconds to_limit, const Repeats& repeats) {
  const double all = repeats.before + repeats.timed;
  const double fast = std::min(to_limit / burst, all);  // calls before the limit
  const double fast_and_timed = std::clamp(fast - repeats.before, 0.0, repeats.timed);
  return (fast_and_timed * burst + (repeats.timed - fast_and_timed) * sustained) / repeats.timed;
}

}  // namespace c3::gpu
