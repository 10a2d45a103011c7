#include "gpu/clock/governor.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "gpu/clock/mean_power.hpp"

namespace c3 { inline namespace gpu {
namespace {

constexpr double kPico = 1e-12;

/// What a burst may draw.
Watts burst_limit(const GpuSpec& gpu) {
  const GovernorSpec& of = gpu.governor;
  return of.burst * (of.level.value <= 0.0 ? of.limit : power_limit(gpu));
}

}  // namespace

Watts power_limit(const GpuSpec& gpu) {
  const GovernorSpec& of = gpu.governor;
  if (of.level.value <= 0.0) return of.settled * of.limit;
  const MatrixRate& rate = matrix_rate(gpu, DType::bf16);
  const double slower = std::max(1.0, rate.sustained / of.level);
  const Watts draws = power_at_boost(gpu, rate.sustained, flop_energy(rate.dtype), {});
  return std::pow(slower, -1.0 / of.exponent) * draws;
}

Watts sustained_target(const GpuSpec& gpu) { return (1.0 - 0.5 * kGovernorBand) * power_limit(gpu); }

bool is_governed(const GpuSpec& gpu) { return gpu.governor.board.value > 0.0 && gpu.governor.flop_pj > 0.0; }

double flop_energy(DType dtype) { return element_size(dtype) / element_size(DType::bf16); }

Watts power_at_boost(const GpuSpec& gpu, FlopsPerSecond rate, double energy, BytesPerSecond traffic) {
  const GovernorSpec& of = gpu.governor;
  return of.idle + Watts{kPico * (of.flop_pj * energy * rate.value + of.byte_pj * traffic.value)};
}

double slowdown_to(const GpuSpec& gpu, Watts power, Watts allowed) {
  return std::pow(std::max(1.0, power / allowed), gpu.governor.exponent);
}

Watts power_on(const GpuSpec& gpu, Watts on_all, int cus) {
  if (on_all.value <= 0.0) return {};
  const Watts idle = gpu.governor.idle;
  return idle + static_cast<double>(cus) / gpu.compute.cus() * (on_all - idle);
}

double sustained_slowdown(const GpuSpec& gpu, Watts power) { return slowdown_to(gpu, power, power_limit(gpu)); }

double burst_slowdown(const GpuSpec& gpu, Watts power) { return slowdown_to(gpu, power, burst_limit(gpu)); }

Watts power_when_slowed(const GpuSpec& gpu, Watts power, double slower) {
  return std::pow(slower, -1.0 / gpu.governor.exponent) * power;
}

Seconds time_to_limit(const GpuSpec& gpu, Watts power) {
  const Watts limit = power_limit(gpu);
  if (power <= limit) return Seconds{std::numeric_limits<double>::infinity()};
  if (limit <= gpu.governor.idle) return Seconds{};
  return MeanPower(gpu.governor.averaging, gpu.governor.idle).time_to(limit, std::min(power, burst_limit(gpu)));
}

Seconds measured_time(Seconds burst, Seconds sustained, Seconds to_limit, const Repeats& repeats) {
  const double all = repeats.before + repeats.timed;
  const double fast = std::min(to_limit / burst, all);  // calls before the limit
  const double fast_and_timed = std::clamp(fast - repeats.before, 0.0, repeats.timed);
  return (fast_and_timed * burst + (repeats.timed - fast_and_timed) * sustained) / repeats.timed;
}

}}  // namespace c3::gpu
