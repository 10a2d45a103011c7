// What random draws depend on: names and occurrences, never positions.

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "gpu/kernels/gemm/gemm_shape.hpp"
#include "tests/support/near.hpp"
#include "tests/unit/workloads_pair.hpp"
#include "workloads/program/written_streams.hpp"

namespace c3::workloads_draws_test {

using namespace literals;
using namespace test;

namespace {

/// Two streams of GEMMs and one of an all-gather, with work-group times drawn.
WrittenExperiment three_streams(DispatchPolicy policy) {
  WrittenExperiment experiment = pair();
  experiment.cluster.gpu.dispatch.work_group_spread = 0.05;
  experiment.cluster.gpu.dispatch.policy = policy;
  const GemmShape small = gemm_of_tiles(12, 13, 1024);
  experiment.streams = {{"left", {{"up", small}, {"down", gemm_of_tiles(9, 7)}, {"up", small}}},
                        {"right", {{"up", small}, {"down", gemm_of_tiles(24, 19)}}},
                        {"fsdp", {{"gather", gather(Bytes{1e8})}}}};
  return experiment;
}

WrittenExperiment with_streams_sorted(WrittenExperiment experiment, const std::vector<std::string>& names) {
  std::vector<WrittenStream> sorted;
  for (const std::string& name : names)
    sorted.push_back(*std::ranges::find(experiment.streams, name, &WrittenStream::name));
  experiment.streams = sorted;
  return experiment;
}

/// Keys of the operations of one stream.
std::vector<std::uint64_t> draw_keys(const WrittenStream& stream) {
  std::vector<std::uint64_t> keys;
  for_each_operation(program_of({stream}, 8),
                     [&](const Operation& operation) { keys.push_back(operation.draw); });
  return keys;
}

std::vector<std::uint64_t> sorted(std::vector<std::uint64_t> keys) {
  std::ranges::sort(keys);
  return keys;
}

}  // namespace

TEST_CASE("every operation of every stream has a key of its own, a name's second occurrence too") {
  std::set<std::uint64_t> keys;
  const Program program = program_of(three_streams(DispatchPolicy::oldest_first).streams, 8);
  for_each_operation(program, [&](const Operation& operation) { keys.insert(operation.draw); });
  CHECK(keys.size() == 6);
}

TEST_CASE("the order in which operations of different names are defined moves no key") {
  const WrittenOperation a{"a", gather()}, b{"b", gather()}, event{"ready", WrittenRecord{"ready"}};
  const std::vector<std::uint64_t> plain = draw_keys({"s", {a, b, a}});
  CHECK(sorted(draw_keys({"s", {b, a, a}})) == sorted(plain));
  const std::vector<std::uint64_t> after_event = draw_keys({"s", {event, a, b, a}});
  CHECK(std::vector(after_event.begin() + 1, after_event.end()) == plain);
  CHECK(draw_keys({"t", {a, b, a}}) != plain);
}

TEST_CASE("the order in which streams are defined changes no date under a given order of enqueueing") {
  for (const DispatchPolicy policy :
       {DispatchPolicy::oldest_first, DispatchPolicy::round_robin, DispatchPolicy::random_order}) {
    const WrittenExperiment experiment = three_streams(policy);
    const Strategy strategy = in_order({"right", "fsdp", "left"});
    for (const std::uint64_t seed : {0U, 1U, 2U}) {
      const RunResult expected = run_once(experiment, strategy, {.seed = seed});
      std::vector<std::string> names = {"fsdp", "left", "right"};
      do {
        CAPTURE(static_cast<int>(policy));
        CAPTURE(names);
        const RunResult result = run_once(with_streams_sorted(experiment, names), strategy, {.seed = seed});
        CHECK(result.time.value == near(expected.time.value));
        CHECK(result.kernels.end.value == near(expected.kernels.end.value));
        CHECK(result.collectives.end.value == near(expected.collectives.end.value));
      } while (std::ranges::next_permutation(names).found);
    }
  }
}

TEST_CASE("an operation that draws nothing changes no other's draws") {
  WrittenExperiment experiment = three_streams(DispatchPolicy::oldest_first);
  const RunResult before = run_once(experiment, in_order(), {});
  for (WrittenStream& stream : experiment.streams)
    stream.operations.insert(stream.operations.begin(), {"begun", WrittenRecord{stream.name + " begun"}});
  CHECK(run_once(experiment, in_order(), {}).time == before.time);
}

}  // namespace c3::workloads_draws_test
