#include "gpu/grain_correction.hpp"

#include <cstdint>
#include <optional>

#include "gpu/gpu.hpp"
#include "gpu/kernel_run.hpp"
#include "gpu/kernel_times.hpp"

namespace c3 { inline namespace gpu {
namespace {

/// Hears how long a main grid took.
class HeardTime final : public KernelTimes {
 public:
  std::optional<Seconds> known(double) override { return std::nullopt; }
  void ended(Seconds time) override { time_ = time; }
  Seconds time() const { return time_; }

 private:
  Seconds time_;
};

Seconds time_alone(const GpuSpec& spec, const KernelDescription& kernel, CuRange range, KernelGrain grain,
                   std::uint64_t draw) {
  const GpuSetup setup{.streams = {"alone"}, .isolation = {}, .seed = draw};
  Simulation simulation;
  Gpu gpu(simulation, spec, setup, /*rank=*/0);
  HeardTime heard;
  KernelLaunch launch;
  launch.range = range;
  launch.grain = grain;
  launch.times = &heard;
  simulation.spawn(kernel.name, run_kernel(gpu, kernel, launch));
  simulation.run_without_simgrid();
  return heard.time();
}

}  // namespace

double cohorts_over_flow(const GpuSpec& gpu, const KernelDescription& kernel, CuRange range) {
  // The slowest of a few work groups varies from draw to draw; what many take together does not.
  constexpr std::int64_t kFew = 8;  // on each CU
  const bool is_few = launched_work_groups(kernel) <= kFew * gpu.compute.cus();
  const std::uint64_t draws = is_few ? 8 : 2;
  Seconds of_cohorts;
  for (std::uint64_t draw = 0; draw < draws; ++draw)
    of_cohorts += time_alone(gpu, kernel, range, KernelGrain::cohort, draw);
  const Seconds of_flow = time_alone(gpu, kernel, range, KernelGrain::fluid, 0);
  return of_cohorts / of_flow / static_cast<double>(draws);
}

}}  // namespace c3::gpu
