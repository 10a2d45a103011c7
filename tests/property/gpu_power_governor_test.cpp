// Random kernels on a governed GPU: the governor's mean is that of the power that an observer integrates in
// small steps, and stays at the limit. A run that never meets it is the run without a governor.

#include "gpu/clock/power_governor.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <vector>

#include "gpu/clock/governor.hpp"
#include "tests/support/governed_gpu.hpp"
#include "tests/support/near.hpp"
#include "tests/support/recorded_power.hpp"

namespace c3::gpu_power_governor_test {

using namespace literals;
using namespace test;

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

struct Ends {
  std::vector<double> dates;
  Watts highest_mean;  ///< of a governed GPU
};

Ends ends_of(const std::vector<Job>& jobs, const GpuSpec& gpu) {
  GpuBench bench(gpu);
  std::vector<const GpuBench::Ran*> ran;
  for (const Job& job : jobs)
    ran.push_back(&bench.launch(job.begin, job.kernel, job.launch));
  bench.run();
  Ends ends;
  for (const GpuBench::Ran* job : ran)
    ends.dates.push_back(job->end);
  if (is_governed(gpu)) ends.highest_mean = bench.gpu.governor()->means().highest;
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
    // Two bands above the limit what runs now decides the clock. What begins after that may draw more, until
    // the mean has risen by another band; a tenth of a band is for the steps of the integral.
    RC_ASSERT(means.highest < (1.0 + 3.1 * kGovernorBand) * governed_gpu().governor.limit);
  }));
}

TEST_CASE("property: below the limit a governed GPU has the dates of one without a governor") {
  CHECK(rc::check([] {
    const std::vector<Job> jobs = random_jobs(1500);
    GpuSpec far = governed_gpu();
    far.governor.limit = Watts{1e4};
    // The mean comes within a band of this limit: alarms ring there, and the clock stays free. Nor is a burst
    // held.
    GpuSpec near = governed_gpu();
    near.governor.limit = 1.002 * ends_of(jobs, far).highest_mean;
    near.governor.burst = 1e3;
    GpuSpec without = governed_gpu();
    without.governor.board = {};
    const Ends ends = ends_of(jobs, near);
    RC_ASSERT(ends.highest_mean > (1.0 - 0.5 * kGovernorBand) * near.governor.limit);
    RC_ASSERT(ends.dates == ends_of(jobs, without).dates);
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
    const std::vector<double> slow = ends_of(jobs, governed_gpu()).dates, fast = ends_of(jobs, free).dates;
    for (std::size_t i = 0; i < jobs.size(); ++i)
      RC_ASSERT(slow[i] >= fast[i] * (1.0 - 1e-12));
  }));
}

}  // namespace c3::gpu_power_governor_test
