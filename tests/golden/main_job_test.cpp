// Simulated values of the main job, so that a change of the model is noticed. They are no claim about hardware:
// update them with the change that moves them, and say why in its message.

#include <doctest/doctest.h>

#include <map>
#include <string>

#include "tests/support/main_job.hpp"
#include "tests/support/near.hpp"
#include "workloads/analysis/study.hpp"

namespace c3::test::main_job_test { namespace {

TEST_CASE("the main job's median times are those of 2026-11-25 within 0.5 %") {
  const std::map<std::string, double> golden_us = {
      {"serial", 5479.7},         {"concurrent", 5295.4}, {"prioritized", 3386.3},
      {"partitioned", 3756.5},    {"dma", 2831.5},        {"prioritized_partitioned", 3756.5},
      {"dma_partitioned", 3334.4}};
  const StudyResult study = run_study([](std::optional<std::uint64_t>) {
    Experiment job = main_job();
    job.measure.loss_split = false;
    return job;
  });
  REQUIRE(study.strategies.size() == golden_us.size());
  for (const StrategyResult& strategy : study.strategies) {
    CAPTURE(strategy.name);
    CHECK(strategy.time.value * 1e6 == near(golden_us.at(strategy.name), 5e-3));
  }
  CHECK(study.strategies[3].best_cus == 32);
}

TEST_CASE("strategies of the main job rank as their mechanisms say") {
  const StudyResult study = run_study([](std::optional<std::uint64_t>) { return main_job(); });
  std::map<std::string, StrategyResult> by_name;
  for (const StrategyResult& strategy : study.strategies)
    by_name[strategy.name] = strategy;
  CHECK(by_name["concurrent"].speedup > 1.0);
  CHECK(by_name["prioritized"].speedup > by_name["concurrent"].speedup);
  CHECK(by_name["dma"].speedup > by_name["prioritized"].speedup);
  CHECK(by_name["dma"].speedup > by_name["partitioned"].speedup);
  // Enqueued behind the GEMM the collective waits for slots; enqueued before it, it does not.
  CHECK(by_name["concurrent"].loss->dispatch.value > 500e-6);
  CHECK(std::abs(by_name["prioritized"].loss->dispatch.value) < 1e-6);
  // Copy engines take no CU.
  CHECK(by_name["dma"].loss->cus.value == 0.0);
}

}}  // namespace c3::test::main_job_test
