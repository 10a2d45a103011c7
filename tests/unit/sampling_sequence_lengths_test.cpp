// Lengths of a job's sequences and iterations, and epochs of which a few lengths are simulated.

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <vector>

#include "tests/support/near.hpp"
#include "workloads/sampling/sequence_lengths.hpp"
#include "workloads/sampling/simulated_epoch.hpp"

namespace c3::sampling_sequence_lengths_test { namespace {

SequenceLengths lognormal(std::int64_t sequences) {
  return {.sequences = sequences,
          .lognormal = LogNormalLengths{.median = 500.0, .deviation = 0.8},
          .longest = 8192};
}

/// Time of a step of so many tokens: a launch, products, and attention that grows with the square.
Seconds step_time(std::int64_t length) {
  const auto tokens = static_cast<double>(length);
  return Seconds{0.01 + 1e-5 * tokens + 2e-9 * tokens * tokens};
}

Seconds whole(const std::vector<std::int64_t>& lengths) {
  Seconds sum;
  for (const std::int64_t length : lengths)
    sum += step_time(length);
  return sum;
}

TEST_CASE("lengths are drawn in proportion to the counts of a histogram, the same for the same seed") {
  const SequenceLengths job{
      .sequences = 100'000, .histogram = {{128, 3}, {512, 1}}, .lognormal = {}, .longest = 1024};
  const std::vector<std::int64_t> lengths = draw_lengths(job, 1);
  REQUIRE(lengths.size() == 100'000);
  CHECK(std::ranges::count(lengths, 128) == doctest::Approx(75'000).epsilon(0.02));
  CHECK(std::ranges::count(lengths, 128) + std::ranges::count(lengths, 512) == 100'000);
  CHECK(draw_lengths(job, 1) == lengths);
  CHECK(draw_lengths(job, 2) != lengths);
}

TEST_CASE("a log-normal has its median and deviation, and is cut at both ends") {
  std::vector<std::int64_t> lengths = draw_lengths(lognormal(100'001), 1);
  std::ranges::sort(lengths);
  const auto at = [&](double place) {
    return static_cast<double>(lengths[static_cast<std::size_t>(place * 100'000)]);
  };
  CHECK(at(0.5) == near(500.0, 0.02));
  // One deviation of the logarithm above and below: 0.8413 and 0.1587 of all.
  CHECK(std::log(at(0.8413) / at(0.1587)) == near(1.6, 0.02));

  SequenceLengths cut = lognormal(10'000);
  cut.shortest = 300;
  cut.longest = 900;
  const std::vector<std::int64_t> short_ones = draw_lengths(cut, 1);
  CHECK(*std::ranges::min_element(short_ones) == 300);
  CHECK(*std::ranges::max_element(short_ones) == 900);
}

TEST_CASE("iterations are as long as their longest sequence, sorted ones hardly longer, packed ones full") {
  SequenceLengths job{.sequences = 7, .lognormal = {}, .longest = 64};
  const std::vector<std::int64_t> lengths = {3, 30, 4, 31, 5, 32, 6};
  CHECK(iteration_lengths(job, lengths, 2, 64) == std::vector<std::int64_t>{30, 31, 32, 6});
  job.multiple = 8;
  CHECK(iteration_lengths(job, lengths, 2, 64) == std::vector<std::int64_t>{32, 32, 32, 8});
  job.batches = LengthBatches::sorted;
  CHECK(iteration_lengths(job, lengths, 2, 64) == std::vector<std::int64_t>{8, 8, 32, 32});
  // 111 tokens in sequences of 16, two an iteration: four iterations, the last of them half empty.
  job.batches = LengthBatches::packed;
  CHECK(iteration_lengths(job, lengths, 2, 16) == std::vector<std::int64_t>{16, 16, 16, 16});
}

TEST_CASE(
    "an epoch from a few simulated lengths is within the error asked for, and no length is simulated twice") {
  const SequenceLengths job = lognormal(64'000);
  for (const std::uint64_t seed : {1U, 2U, 3U, 4U, 5U, 6U, 7U, 8U}) {
    for (const double error : {0.01, 0.002}) {
      const std::vector<std::int64_t> lengths = iteration_lengths(job, draw_lengths(job, seed), 16, 8192);
      std::map<std::int64_t, int> calls;
      const EpochSample sample = simulated_epoch(lengths, {.error = error}, [&](std::int64_t length) {
        ++calls[length];
        return step_time(length);
      });
      CHECK(sample.iterations() == lengths.size());
      CHECK(sample.estimate().value == near(whole(lengths).value, error));
      CHECK(std::ranges::all_of(calls, [](const auto& call) { return call.second == 1; }));
      CHECK(calls.size() < 60);
      for (const SeqPoint& point : sample.points)
        CHECK(point.time == step_time(std::llround(point.length)));
    }
  }
}

TEST_CASE("of packed sequences one length is simulated") {
  int calls = 0;
  const std::vector<std::int64_t> lengths(1000, 4096);
  const EpochSample sample = simulated_epoch(lengths, {}, [&](std::int64_t length) {
    ++calls;
    return step_time(length);
  });
  CHECK(calls == 1);
  CHECK(sample.estimate().value == near(1000.0 * step_time(4096).value));
}

}}  // namespace c3::sampling_sequence_lengths_test

TEST_CASE("packed sequences: a query sees the keys of its piece, and cuts make pieces") {
  // 3 + 5 + 2 tokens, cut every 4: pieces of 3, 1 | 4 | 2.
  CHECK(c3::sampling::keys_of_query({3, 5, 2}, 4, true) == (6.0 + 1.0 + 10.0 + 3.0) / 10.0);
  CHECK(c3::sampling::keys_of_query({3, 5, 2}, 4, false) == (9.0 + 1.0 + 16.0 + 4.0) / 10.0);
  // Equal lengths that divide the whole: (l + 1) / 2.
  CHECK(c3::sampling::keys_of_query(std::vector<std::int64_t>(64, 128), 1024, true) == 64.5);
  // A sequence longer than the whole is cut into whole ones.
  CHECK(c3::sampling::keys_of_query({4096}, 1024, false) == 1024.0);
}
