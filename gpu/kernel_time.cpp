#include "gpu/kernel_time.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>
#include <vector>

#include "engine/errors.hpp"
#include "gpu/clock/core_clock.hpp"
#include "gpu/hbm_rate.hpp"
#include "gpu/waves.hpp"

namespace c3 { inline namespace gpu {
namespace {

/// Most likely largest of \p n standard normal draws.
/// Source: Cramer, "Mathematical Methods of Statistics", 1946, section 28.6.
double likely_largest(double n) {
  if (n < 2.0) return 0.0;
  const double leading = std::sqrt(2.0 * std::log(n));
  return leading - std::log(4.0 * std::numbers::pi * std::log(n)) / (2.0 * leading);
}

int cus_of(const GpuSpec& gpu, const KernelSlice& slice) {
  const int all = gpu.compute.cus();
  if (slice.cus < 0 || slice.cus > all) {
    throw InfeasibleError(fmt::format("gpu '{}' has {} CUs, not {}", gpu.name, all, slice.cus));
  }
  if (!(slice.cache >= 0.0 && slice.cache <= 1.0) || !(slice.hbm > 0.0 && slice.hbm <= 1.0)) {
    throw InfeasibleError(fmt::format("a share of {} of the caches and {} of HBM is not one of gpu '{}'",
                                      slice.cache, slice.hbm, gpu.name));
  }
  return slice.cus == 0 ? all : slice.cus;
}

bool longer(const Occupancy& a, const Occupancy& b) {
  return std::pair(a.waves, computed_in_turn(a)) > std::pair(b.waves, computed_in_turn(b));
}

/// Work groups dealt to XCDs round robin, CUs too: how the XCD that needs longest goes through its own.
Occupancy occupancy_on(const KernelDescription& kernel, const GpuSpec& gpu, int cus) {
  const int per_cu = work_groups_per_cu(gpu.compute, kernel.needs, kernel.name);
  const int xcds = gpu.compute.xcds;
  Occupancy found{.resident = 0};
  for (int xcd = 0; xcd < xcds; ++xcd) {
    const std::int64_t share = work_groups_of_xcd(kernel.work_groups, xcds, xcd);
    const std::int64_t cus_here = std::max<std::int64_t>(1, work_groups_of_xcd(cus, xcds, xcd));
    const std::int64_t slots = std::min(share, cus_here * per_cu);
    if (slots == 0) continue;
    const PersistentBlocks blocks{work_groups_of_xcd(kernel.persistent.blocks, xcds, xcd),
                                  kernel.persistent.own_tiles};
    const std::int64_t waves = wave_count_on(share, slots, blocks);
    const auto sharing = static_cast<int>((slots + cus_here - 1) / cus_here);
    const Occupancy here = occupancy(share, slots, waves, kernel.needs.computes ? sharing : 1);
    const std::int64_t resident = found.resident + slots;
    if (xcd == 0 || longer(here, found)) found = here;
    found.resident = resident;
  }
  found.first = found.resident;
  found.last = work_groups_in_last(kernel.work_groups, found.resident, found.waves);
  return found;
}

double cus_taken_by(const GpuSpec& gpu, const KernelSlice& slice) {
  return 1.0 - static_cast<double>(cus_of(gpu, slice)) / gpu.compute.cus();
}

CacheState caches_of(const GpuSpec& gpu, const KernelSlice& slice, const KernelDescription& kernel,
                     std::int64_t resident) {
  const bool has_llc = gpu.cache.llc_size.value > 0.0;
  CacheState state;
  state.resident = resident;
  state.xcds = gpu.compute.xcds;
  state.l2_size = gpu.cache.l2_size * slice.cache;
  state.llc_size = has_llc ? gpu.cache.llc_size * slice.cache : state.l2_size * static_cast<double>(state.xcds);
  state.work_group_time = kernel.compute_time;
  state.cus_taken = cus_taken_by(gpu, slice);
  state.cold = slice.cold;
  return state;
}

Seconds launch_of(const KernelDescription& kernel, const GpuSpec& gpu, const KernelSlice& slice) {
  if (slice.launch == LaunchCost::device) return gpu.dispatch.launch_latency;
  const Seconds call = cost_of(slice.calls, kernel.call);
  if (call.value > 0.0) return call;
  return kernel.measured_launch.value > 0.0 ? kernel.measured_launch : gpu.dispatch.launch_latency;
}

}  // namespace

std::int64_t computed_in_turn(const Occupancy& of) { return (of.waves - 1) * of.sharing + of.last_sharing; }

std::int64_t work_groups_in_last(std::int64_t work_groups, std::int64_t slots, std::int64_t waves) {
  return std::clamp<std::int64_t>(work_groups - (waves - 1) * slots, 1, slots);
}

Occupancy occupancy(std::int64_t work_groups, std::int64_t slots, std::int64_t waves, int sharing) {
  const std::int64_t last = work_groups_in_last(work_groups, slots, waves);
  const auto last_sharing = static_cast<int>((sharing * last + slots - 1) / slots);
  return {.resident = slots,
          .waves = waves,
          .sharing = sharing,
          .last_sharing = last_sharing,
          .first = slots,
          .last = last};
}

// The first loads of all resident work groups come at once, and nothing hides them. The last wave ends with its
// slowest work group; the stores of the others are over by then, unless all stop together and their stores come
// at once too.
BoundLaw law_of_waves(const KernelDescription& kernel, const GpuSpec& gpu, const Traffic& traffic,
                      const Occupancy& occupancy, double slower) {
  const Seconds latency = gpu.hbm.latency;
  const Seconds compute = kernel.compute_time * slower;
  const Seconds least = kernel.least_time * slower;
  const auto first = static_cast<double>(occupancy.first);
  const auto resident = static_cast<double>(occupancy.resident);
  const auto full_waves = static_cast<double>(occupancy.waves - 1);
  const auto in_last_wave = static_cast<double>(occupancy.last);
  const Bytes to_compute = traffic.hbm - kernel.added_to;
  const Seconds first_loads = std::max(latency, to_compute * (kernel.prologue * first) / gpu.hbm.read);
  const Seconds last_stores =
      std::max(latency, kernel.output * (traffic.stores_to_hbm * in_last_wave) / gpu.hbm.write);
  const Seconds adding = kernel.added_to * resident / gpu.hbm.read;  // of a wave
  const Seconds adding_last = kernel.added_to * in_last_wave / gpu.hbm.read;
  const Seconds last = compute * static_cast<double>(occupancy.last_sharing);
  const Seconds slowest = last * (gpu.dispatch.work_group_spread * likely_largest(in_last_wave));
  const Seconds first_wave_waits = first_loads - latency;
  const Seconds full_waves_compute = compute * (full_waves * static_cast<double>(occupancy.sharing));
  const Seconds full_waves_add = full_waves * adding;
  return {.phases = {{{.fixed = (first_wave_waits + full_waves * latency + full_waves_add).value,
                       .scaled = full_waves_compute.value,
                       .least = (first_wave_waits + full_waves_add).value,
                       .steps = (full_waves * least).value},
                      {.fixed = (latency + adding_last).value,
                       .scaled = last.value,
                       .least = adding_last.value,
                       .steps = least.value},
                      {.scaled = slowest.value, .least = last_stores.value}}}};
}

Seconds overlapped(Seconds a, Seconds b, double p) { return {overlapped_time(a.value, b.value, p)}; }

KernelTime time_alone(const KernelDescription& kernel, const GpuSpec& gpu, const KernelSlice& slice) {
  const Occupancy occupancy = occupancy_on(kernel, gpu, cus_of(gpu, slice));
  const CacheState caches_left = caches_of(gpu, slice, kernel, occupancy.resident);
  const Traffic traffic = with_added_to(kernel, kernel.traffic->per_work_group(caches_left));
  const auto work_groups = static_cast<double>(kernel.work_groups);
  const Bytes stored = kernel.output * work_groups;
  const Bytes written = traffic.stores_to_hbm * stored;

  KernelTime result;
  result.waves = static_cast<double>(occupancy.waves);
  result.l2 = traffic.l2 * work_groups + stored;
  result.hbm_read = traffic.hbm * work_groups;
  result.hbm_write = written;
  result.found = traffic.found * work_groups;
  result.kept = stored - written;
  result.flops = kernel.useful_flops;

  const double rate = hbm_rate_alone(gpu.hbm, result.hbm_read, written) * slice.hbm * kernel.hbm_share;
  const Seconds hbm{rate > 0.0 ? 1.0 / rate : 0.0};
  const double speed = speed_under_power_limit(gpu, kernel.clock, BytesPerSecond{}, cus_taken_by(gpu, slice));
  const Seconds waves{law_of_waves(kernel, gpu, traffic, occupancy).time(speed)};
  const auto xcds = static_cast<double>(gpu.compute.xcds);
  const Bytes through_port = traffic.llc * work_groups + written;
  Seconds caches = std::max(result.l2 / (gpu.cache.l2_bandwidth * xcds),
                            through_port / (gpu.cache.xcd_port_bandwidth * xcds));
  if (gpu.cache.llc_size.value > 0.0) caches = std::max(caches, through_port / gpu.cache.llc_bandwidth);
  caches = std::max(caches, through_port / gpu.cache.fabric_bandwidth);

  const Seconds busy = std::max(overlapped(waves, hbm, kernel.overlap), caches);
  result.launch = launch_of(kernel, gpu, slice);
  Seconds phases{};
  for (const std::vector<KernelPhase>* of : {&kernel.before, &kernel.after}) {
    for (const KernelPhase& phase : *of) {
      phases += phase.time;
      result.hbm_read += phase.read;
      result.hbm_write += phase.written;
      result.l2 += phase.read + phase.written;
    }
  }
  result.time = result.launch + busy + phases + kernel.overhead;
  return result;
}

double arithmetic_asked(const KernelDescription& kernel, const GpuSpec& gpu, const Traffic& traffic, int groups,
                        int cus, double slower) {
  const Seconds latency = gpu.hbm.latency;
  const Seconds computing = kernel.compute_time * (slower * groups);
  const Seconds first_loads = kernel.prologue > 0.0 ? latency : Seconds{};  // over before it computes
  const Seconds fastest = std::max(latency + computing, kernel.least_time) - first_loads;
  const auto work_groups = static_cast<double>(kernel.work_groups);
  const Bytes written = kernel.output * (traffic.stores_to_hbm * work_groups);
  const double fed = hbm_rate_alone(gpu.hbm, traffic.hbm * work_groups, written) * kernel.hbm_share;
  const double on_one_cu = work_groups / std::min(static_cast<double>(cus), work_groups);
  return std::min({1.0, computing / fastest, fed * on_one_cu * slower * kernel.compute_time.value});
}

Seconds roofline(const KernelDescription& kernel, const GpuSpec& gpu) {
  const Seconds memory = kernel.compulsory / gpu.hbm.peak;
  return kernel.peak.value > 0.0 ? std::max(memory, kernel.useful_flops / kernel.peak) : memory;
}

}}  // namespace c3::gpu
