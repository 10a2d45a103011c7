// Random kernels on a governed GPU: the governor's mean is that of the power that an observer integrates in
// small steps, and stays at the limit. A run that never meets it is the run without a governor.

#include "gpu/clock/power_governor.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <vector>

#include "tests/support/governed_gpu.hpp"
#include "tests/support/near.hpp"
#include "tests/support/recorded_power.hpp"

using namespace c3;
using namespace c3::literals;
using namespace c3::test;

namespace {

struct Job {
  Seconds begin;
  KernelDescription kernel;
  KernelLaunch launch;
};

/// On two streams: products of 100 to \p most W, some of which load, and kernels that only load.
std::vector<Job> random_jobs(int most) {
  std::vector<Job> jobs;
  const int count = *rc::gen::inRange(1, 30);
  for (int i = 0; i < count; ++i) {
    const double seconds = 1e-3 * *rc::gen::inRange(1, 80);
    Job job{.begin = Seconds{1e-3 * *rc::gen::inRange(0, 400)},
            .kernel = hot_kernel(*rc::gen::inRange(100, most), seconds),
            .launch = {}};
    const double bytes = 1e9 * *rc::gen::inRange(0, 8) * seconds;
    job.kernel.traffic = std::make_shared<FixedTraffic>(Traffic{Bytes{bytes}, Bytes{bytes}, Bytes{bytes}});
    if (*rc::gen::inRange(0, 4) == 0) job.kernel.power = {}, job.kernel.energy = {};
    job.launch.stream = *rc::gen::inRange(0, 2);
    job.launch.grain = *rc::gen::element(KernelGrain::fluid, KernelGrain::cohort);
    jobs.push_back(std::move(job));
  }
  return jobs;
}

std::vector<double> ends_of(const std::vector<Job>& jobs, const GpuSpec& gpu) {
  GpuBench bench(gpu);
  std::vector<const GpuBench::Ran*> ran;
  for (const Job& job : jobs)
    ran.push_back(&bench.launch(job.begin, job.kernel, job.launch));
  bench.run();
  std::vector<double> ends;
  for (const GpuBench::Ran* its : ran)
    ends.push_back(its->end);
  return ends;
}

}  // namespace

TEST_CASE("property: the governor's mean is the integral of what is drawn, and stays at the limit") {
  CHECK(rc::check([] {
    const std::vector<Job> jobs = random_jobs(1500);
    RecordedPower power;
    GpuBench bench(governed_gpu(), &power);
    for (const Job& job : jobs)
      bench.launch(job.begin, job.kernel, job.launch);
    bench.run();
    constexpr double kStep = 2e-5;
    const PowerMeans means = bench.gpu.governor()->means();
    PowerState end = bench.gpu.governor()->state();
    MeanPower rest(100.0_ms, Watts{power.curve.mean(100.0_ms, 100.0, kStep)});
    rest.pass(bench.simulation.now() - Seconds{power.curve.until()}, Watts{power.curve.watts()});
    RC_ASSERT(std::abs(end.mean.value - rest.value().value) < 0.01);
    RC_ASSERT(std::abs(means.highest.value - power.curve.highest_mean(100.0_ms, kStep)) < 0.1);
    // From 2 % above the limit on what runs now counts. What begins later may draw more, for another 1 %.
    RC_ASSERT(means.highest.value < 600.0 * 1.031);
  }));
}

TEST_CASE("property: below the limit a governed GPU has the dates of one without a governor") {
  CHECK(rc::check([] {
    std::vector<Job> jobs = random_jobs(600);
    GpuSpec gpu = governed_gpu();
    gpu.governor.limit = Watts{1e4};  // two streams may draw more than one
    GpuSpec other = gpu;
    other.governor.board = {};
    RC_ASSERT(ends_of(jobs, gpu) == ends_of(jobs, other));
  }));
}

TEST_CASE("property: a governed run is never faster than a free one of the same kernels in turn") {
  CHECK(rc::check([] {
    std::vector<Job> jobs = random_jobs(1500);
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      jobs[i].begin = Seconds{static_cast<double>(i)};  // one after another: nobody gains by another's delay
      jobs[i].launch.grain = KernelGrain::fluid;
    }
    GpuSpec free = governed_gpu();
    free.governor.board = {};
    const std::vector<double> slow = ends_of(jobs, governed_gpu()), fast = ends_of(jobs, free);
    for (std::size_t i = 0; i < jobs.size(); ++i)
      RC_ASSERT(slow[i] >= fast[i] * (1.0 - 1e-12));
  }));
}
