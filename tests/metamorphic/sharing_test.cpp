// What sharing may and may not do to the two sides of a job.

#include <doctest/doctest.h>

#include <algorithm>

#include "tests/support/main_job.hpp"
#include "tests/support/near.hpp"

namespace c3::test::sharing_test { namespace {

constexpr std::uint64_t kRandomJobs = 25;
constexpr auto kEverything = Isolation::from_bits((1U << kSharedResources) - 1);

/// Calls \p check with the main job and with random ones.
template <class Check>
void for_all_jobs(const Check& check) {
  check(main_job());
  for (std::uint64_t number = 1; number <= kRandomJobs; ++number)
    check(random_job(number));
}

TEST_CASE("with everything unshared a concurrent run takes the longer side alone: 100 % of ideal") {
  for_all_jobs([](const Experiment& job) {
    CAPTURE(job.name);
    for (const char* name : {"concurrent", "prioritized", "partitioned"}) {
      CAPTURE(name);
      Strategy strategy = strategy_of(job, name);
      // Alone runs use the default algorithm.
      strategy.streams["fsdp"].method.algorithm.reset();
      const Seconds kernels = run_alone(job, OperationFilter::kernels).time;
      const Seconds collectives = run_alone(job, OperationFilter::collectives).time;
      const RunResult together = run_strategy(job, strategy, {.isolation = kEverything});
      CHECK(together.time.value == near(std::max(kernels, collectives).value, 1e-9));
    }
  });
}

TEST_CASE("a partner that moves nothing leaves the kernel as it is alone") {
  for_all_jobs([](Experiment job) {
    CAPTURE(job.name);
    auto& call = job.program.calls[0].what;
    call.bytes = Bytes{1e-3};
    const RunResult together = run_strategy(job, strategy_of(job, "dma"));
    const RunResult alone = run_alone(job, OperationFilter::kernels);
    CHECK(together.kernels.duration().value == near(alone.time.value, 1e-5));  // HBM's mix is settled to 1e-3
  });
}

TEST_CASE("serial takes both sides in turn, less the launch that the gap replaces") {
  for_all_jobs([](Experiment job) {
    CAPTURE(job.name);
    job.cluster.gpu.dispatch.dependent_gap = 5.0_us;
    Strategy serial = strategy_of(job, "serial");
    serial.streams.clear();
    const DispatchSpec& dispatch = job.cluster.gpu.dispatch;
    const Seconds sides =
        run_alone(job, OperationFilter::kernels).time + run_alone(job, OperationFilter::collectives).time;
    const Seconds expected = sides - dispatch.launch_latency + dispatch.dependent_gap;
    CHECK(run_strategy(job, serial).time.value == near(expected.value, 1e-6));
  });
}

TEST_CASE("sharing never speeds a side up, without drawn work-group times") {
  for_all_jobs([](Experiment job) {
    CAPTURE(job.name);
    job.cluster.gpu.dispatch.work_group_spread = 0.0;
    for (const Strategy& original : job.strategies) {
      CAPTURE(original.name);
      Strategy strategy = original;
      strategy.streams["fsdp"].method.algorithm.reset();
      const bool dma = policy_of(strategy, "fsdp").backend == Backend::dma;
      const RunResult together = run_strategy(job, strategy);
      // A smaller resident set may save cache misses: the one way to be faster. It is worth less than 2 % here.
      const double least = run_alone(job, OperationFilter::kernels).time.value * 0.98;
      CHECK(together.kernels.duration().value >= least);
      if (!dma) {
        const double alone = run_alone(job, OperationFilter::collectives).time.value;
        const double launch = job.cluster.gpu.dispatch.launch_latency.value;
        CHECK(together.collectives.duration().value >= (alone - launch) * (1.0 - 1e-9));
      }
    }
  });
}

TEST_CASE("more bandwidth is not slower in the mean over seeds") {
  const auto mean_time = [](const Experiment& job, const Strategy& strategy) {
    constexpr int kSeeds = 8;
    double sum = 0.0;
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
      sum += run_strategy(job, strategy, {.seed = seed}).time.value / kSeeds;
    }
    return sum;
  };
  const auto check = [&](const Experiment& job) {
    CAPTURE(job.name);
    Experiment wider = job;
    for (BytesPerSecond* rate :
         {&wider.cluster.gpu.hbm.peak, &wider.cluster.gpu.hbm.read, &wider.cluster.gpu.hbm.write,
          &wider.cluster.gpu.hbm.copy, &wider.cluster.node.link.raw, &wider.cluster.node.link.one_way,
          &wider.cluster.node.link.both_ways, &wider.cluster.library.link_payload,
          &wider.cluster.gpu.dma.engine_bandwidth}) {
      *rate = *rate * 1.25;
    }
    for (const Strategy& strategy : job.strategies) {
      CAPTURE(strategy.name);
      CHECK(mean_time(wider, strategy) <= mean_time(job, strategy) * 1.002);
    }
  };
  check(main_job());
  for (std::uint64_t number = 1; number <= 6; ++number)
    check(random_job(number));
}

// Draws belong to names (tests/unit/workloads_draws_test.cpp), so a stream of another name draws other times.
TEST_CASE("relabelling streams changes nothing, without drawn work-group times") {
  for_all_jobs([](Experiment job) {
    CAPTURE(job.name);
    job.cluster.gpu.dispatch.work_group_spread = 0.0;
    Experiment renamed = job;
    renamed.program.streams[0] = "zz";
    for (Strategy& strategy : renamed.strategies) {
      std::ranges::replace(strategy.order, std::string("compute"), std::string("zz"));
      if (const auto policy = strategy.streams.extract("compute")) strategy.streams["zz"] = policy.mapped();
    }
    for (std::size_t i = 0; i < job.strategies.size(); ++i) {
      CHECK(run_strategy(renamed, renamed.strategies[i]).time == run_strategy(job, job.strategies[i]).time);
    }
  });
}

TEST_CASE("one representative and eight explicit GPUs agree within 0.2 %") {
  const auto check = [](const Experiment& job) {
    CAPTURE(job.name);
    Experiment explicit_job = job;
    explicit_job.measure.fold = Fold::none;
    for (std::size_t i = 0; i < job.strategies.size(); ++i) {
      CAPTURE(job.strategies[i].name);
      const double folded = run_strategy(job, job.strategies[i]).time.value;
      const double all = run_strategy(explicit_job, explicit_job.strategies[i]).time.value;
      CHECK(all == near(folded, 2e-3));
    }
  };
  check(main_job());
  for (std::uint64_t number = 1; number <= 4; ++number)
    check(random_job(number));
}

}}  // namespace c3::test::sharing_test
