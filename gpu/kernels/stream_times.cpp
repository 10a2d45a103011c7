#include "gpu/kernels/stream_times.hpp"

#include <limits>
#include <utility>
#include <vector>

#include "gpu/clock/governor.hpp"
#include "gpu/kernels/describe.hpp"
#include "gpu/kernels/operator_table.hpp"

namespace c3 { inline namespace gpu {
namespace {

/// \p gpu at its boost clock, whatever it draws.
GpuSpec unlimited(const GpuSpec& gpu) {
  GpuSpec copy = gpu;
  copy.governor.board = {};
  return copy;
}

/// Beyond idling, of one call: the same on a part of the GPU, where it takes longer.
Joules energy_of(const KernelDescription& kernel, const GpuSpec& gpu, KernelSlice slice) {
  slice.cus = 0;
  return (power_of_stream(kernel, gpu) - gpu.governor.idle) * time_alone(kernel, gpu, slice).time;
}

Seconds time_of_all(std::vector<KernelDescription> kernels, double slower, const GpuSpec& gpu,
                    const KernelSlice& slice) {
  Seconds time;
  for (KernelDescription& kernel : kernels) {
    slow_down(kernel, slower);
    time += time_alone(kernel, gpu, slice).time;
  }
  return time;
}

}  // namespace

GovernedTimes stream_times(std::span<const Operator> operators, const GpuSpec& gpu, const KernelSlice& slice) {
  const bool governed = is_governed(gpu);
  const GpuSpec copy = governed ? unlimited(gpu) : GpuSpec{};
  const GpuSpec& at_boost = governed ? copy : gpu;
  std::vector<KernelDescription> kernels;
  double seconds = 0;
  double joules = 0;
  for (const Operator& op : operators) {
    kernels.push_back(describe(name_of(op), op, at_boost));
    const double time = time_alone(kernels.back(), at_boost, slice).time.value;
    seconds += time;
    if (governed) joules += energy_of(kernels.back(), at_boost, slice).value;
  }
  GovernedTimes times{.burst = Seconds{seconds},
                      .sustained = Seconds{seconds},
                      .power = {},
                      .to_limit = Seconds{std::numeric_limits<double>::infinity()}};
  if (!governed) return times;
  times.power = gpu.governor.idle + Watts{joules / seconds};
  const double hot = sustained_slowdown(gpu, times.power);
  if (hot <= 1.0) return times;
  times.to_limit = time_to_limit(gpu, times.power);
  times.burst = time_of_all(kernels, burst_slowdown(gpu, times.power), at_boost, slice);
  times.sustained = time_of_all(std::move(kernels), hot, at_boost, slice);
  return times;
}

}}  // namespace c3::gpu
