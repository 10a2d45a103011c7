#pragma once
/// One GPU in a simulation of its own, and kernels whose times are worked out by hand.

#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gpu/kernel_run.hpp"

namespace c3::test {

inline constexpr BytesPerSecond kFast{1e21};  ///< a bandwidth that nobody notices

/// 2 XCDs of 4 CUs at 1 GHz, 1 TB/s of HBM however it is mixed, 1 us of memory latency; caches that limit
/// nothing. A full XCD is 2 cohorts, and all work groups take equally long.
inline GpuSpec round_gpu() {
  using namespace literals;
  GpuSpec gpu;
  gpu.name = "round";
  gpu.compute = {.xcds = 2,
                 .cus_per_xcd = 4,
                 .lds_per_cu = 64.0_KiB,
                 .registers_per_cu = 512.0_KiB,
                 .wave_slots_per_cu = 32,
                 .boost_clock = 1000.0_MHz,
                 .matrix = {{DType::bf16, 16.0_TFLOPs, 8.0_TFLOPs, 1000.0_MHz}}};
  gpu.simulation.cohorts_per_placement = 2;
  gpu.cache = {.l2_size = 4.0_MiB,
               .l2_bandwidth = kFast,
               .xcd_port_bandwidth = kFast,
               .llc_size = 256.0_MiB,
               .llc_bandwidth = kFast};
  gpu.hbm = {.technology = "hbm3",
             .size = 64.0_GB,
             .peak = 1.0_TBps,
             .read = 1.0_TBps,
             .write = 1.0_TBps,
             .copy = 1.0_TBps,
             .latency = 1.0_us,
             .arbitration = HbmArbitration::outstanding};
  gpu.dma = {.engines = 4,
             .engine_bandwidth = 50.0_GBps,
             .outstanding = 50.0_kB,
             .control = 1.0_us,
             .schedule = 2.0_us,
             .sync = 3.0_us};
  return gpu;
}

/// \returns \p gpu with all bandwidths of its memory system out of the way.
inline GpuSpec with_fast_memory(GpuSpec gpu) {
  gpu.cache.l2_bandwidth = gpu.cache.xcd_port_bandwidth = gpu.cache.llc_bandwidth = kFast;
  gpu.hbm.peak = gpu.hbm.read = gpu.hbm.write = gpu.hbm.copy = kFast;
  return gpu;
}

/// The same bytes for every work group, whatever the caches hold.
class FixedTraffic final : public TrafficModel {
 public:
  explicit FixedTraffic(Traffic traffic) : traffic_(traffic) {}
  Traffic per_work_group(const CacheState&) const override { return traffic_; }

 private:
  Traffic traffic_;
};

inline KernelLaunch on_stream(int stream) {
  KernelLaunch launch;
  launch.stream = stream;
  return launch;
}

/// Work groups that fill a CU of round_gpu() each and compute for \p time. Every byte loaded, \p loads in all,
/// comes from HBM.
inline KernelDescription plain_kernel(std::string name, std::int64_t work_groups, Seconds time,
                                      Bytes loads = {}) {
  using namespace literals;
  KernelDescription kernel;
  kernel.name = std::move(name);
  kernel.work_groups = work_groups;
  kernel.needs = {.lds = 64.0_KiB, .registers = {}, .waves = 4};
  kernel.compute_time = time;
  kernel.clock = 1000.0_MHz;
  kernel.outstanding = 64.0_KiB;
  kernel.traffic = std::make_shared<FixedTraffic>(Traffic{loads, loads, loads});
  return kernel;
}

class GpuBench {
 public:
  struct Ran {
    double begin = -1.0;  ///< release
    double end = -1.0;    ///< last store
    double span() const { return end - begin; }
  };

  explicit GpuBench(GpuSpec gpu_spec, Observer* observer = nullptr, GpuSetup gpu_setup = {{"a", "b"}, {}, 0},
                    GpuPace pace = {})
      : spec(std::move(gpu_spec)),
        setup(std::move(gpu_setup)),
        simulation(observer),
        gpu(simulation, spec, setup, 0, pace) {}

  /// Releases \p kernel at \p date. An empty range is all CUs. \returns its dates, known after run().
  const Ran& launch(Seconds date, KernelDescription kernel, KernelLaunch how = {}) {
    if (how.range.size() == 0) how.range = {0, spec.compute.cus_per_xcd};
    how.draw = ran_.size();
    Ran& ran = ran_.emplace_back();
    simulation.spawn("launch", launched(gpu, date, std::move(kernel), how, &ran));
    return ran;
  }
  void run() { simulation.run_without_simgrid(); }

  const GpuSpec spec;
  const GpuSetup setup;
  Simulation simulation;
  Gpu gpu;

 private:
  static Task launched(Gpu& gpu, Seconds date, KernelDescription kernel, KernelLaunch how, Ran* ran) {
    co_await gpu.simulation().sleep(date);
    ran->begin = gpu.simulation().now().value;
    co_await run_kernel(gpu, std::move(kernel), how);
    ran->end = gpu.simulation().now().value;
  }
  std::deque<Ran> ran_;
};

}  // namespace c3::test
