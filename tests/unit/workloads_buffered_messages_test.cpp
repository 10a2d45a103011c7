// Messages that leave their sender before they are received.

#include <doctest/doctest.h>

#include <cstddef>
#include <utility>
#include <vector>

#include "tests/support/mi300x_like.hpp"
#include "tests/support/near.hpp"
#include "workloads/execute/run.hpp"
#include "workloads/program/program_builder.hpp"

namespace c3::workloads_buffered_messages_test {

using namespace literals;
using namespace test;

namespace {

/// Rank 0 sends \p bytes so many times and works a little; rank 1 works first, and receives them one by one.
Experiment buffered(Bytes buffer, Bytes bytes, int messages, Seconds work) {
  ProgramBuilder builder;
  const CommunicatorId pair = builder.communicator("pair", {2, 1});
  const auto stream = builder.stream("s");
  builder.begin_script({0});
  for (int i = 0; i < messages; ++i)
    builder.exchange(stream, "send", {pair, {{1, bytes, true}}});
  builder.begin_script({1});
  builder.timed(stream, "work", {work});
  for (int i = 0; i < messages; ++i)
    builder.exchange(stream, "receive", {pair, {{-1, bytes, false}}});
  Experiment experiment;
  experiment.name = "buffered";
  experiment.cluster = mi300x_like_cluster(2);
  experiment.cluster.library.pair_buffer = buffer;
  experiment.cluster.library.local_rate = 20.0_GBps;
  experiment.program = builder.take(2);
  return experiment;
}

/// Ends of each message's send and receive.
std::vector<std::pair<Seconds, Seconds>> ends_of(const Experiment& experiment) {
  const Strategy channels{.name = "channels", .order = {}, .streams = {}};
  const RunResult result = run_once(experiment, channels, {});
  std::vector<std::pair<Seconds, Seconds>> ends;
  for (const CollectiveRecord& record : result.records) {
    if (record.gpu == 0) ends.emplace_back(record.end, Seconds{});
  }
  std::size_t next = 0;
  for (const CollectiveRecord& record : result.records) {
    if (record.gpu == 1) ends[next++].second = record.end;
  }
  return ends;
}

}  // namespace

TEST_CASE("a message that fits into the library's buffer leaves before it is received, a larger one does not") {
  const Bytes bytes = 1.0_MiB;
  const auto rendezvous = ends_of(buffered(Bytes{}, bytes, 1, 1.0_ms));
  CHECK(rendezvous[0].first == rendezvous[0].second);
  CHECK(rendezvous[0].first > 1.0_ms);
  CHECK(ends_of(buffered(bytes - Bytes{1.0}, bytes, 1, 1.0_ms)) == rendezvous);
  const auto alone = ends_of(buffered(bytes, bytes, 1, 1.0_ms));
  CHECK(alone[0].first < 0.1_ms);
  // The receiver copies it out of its buffer: later than it came, and sooner than over the link.
  CHECK(alone[0].second > 1.0_ms);
  CHECK(alone[0].second < rendezvous[0].second);
  // If the receiver is there, it ends as a rendezvous does that begins with the sender, a gap of 1.5 us
  // earlier.
  const Seconds both = ends_of(buffered(Bytes{}, bytes, 1, 1.0_ns))[0].second;
  const auto awaited = ends_of(buffered(bytes, bytes, 1, 1.0_ns));
  CHECK((both - awaited[0].second).value == near(1.5e-6, 0.01));
  CHECK(awaited[0].first < awaited[0].second);
}

TEST_CASE("messages wait for room in their pair's buffer, which receives make") {
  const Bytes bytes = 1.0_MiB;
  const auto ends = ends_of(buffered(2.5 * bytes, bytes, 4, 1.0_ms));
  REQUIRE(ends.size() == 4);
  CHECK(ends[1].first < 0.2_ms);
  for (const std::size_t i : {2U, 3U}) {
    CHECK(ends[i].first > ends[i - 2].second);  // two fit
    CHECK(ends[i].second > ends[i].first);
  }
  CHECK(ends_of(buffered(4.0 * bytes, bytes, 4, 1.0_ms))[3].first < 0.4_ms);
}

TEST_CASE("who waits for a message does so until it is written, through a buffer or not") {
  for (const Bytes buffer : {Bytes{}, 1.0_MiB}) {
    ProgramBuilder builder;
    const CommunicatorId pair = builder.communicator("pair", {2, 1});
    const auto stream = builder.stream("s");
    builder.begin_script({0});
    builder.timed(stream, "work", {1.0_ms});
    builder.exchange(stream, "send", {pair, {{1, 1.0_MiB, true}}});
    builder.begin_script({1});
    builder.exchange(stream, "receive", {pair, {{-1, 1.0_MiB, false}}});
    Experiment experiment = buffered(buffer, 1.0_MiB, 1, 1.0_ms);
    experiment.program = builder.take(2);
    const RunResult result = run_once(experiment, {.name = "late", .order = {}, .streams = {}}, {});
    const ExposedTime& sends = result.classes[0].times.exposed_by.at(0);
    const ExposedTime& receives = result.classes[1].times.exposed_by.at(0);
    CAPTURE(buffer.value);
    CHECK(sends.waiting == Seconds{});
    CHECK(receives.waiting.value == near(1e-3, 0.02));
    CHECK(receives.time > receives.waiting + 5.0_us);
  }
}

TEST_CASE("a sender waits until there is room in the buffer") {
  const RunResult result =
      run_once(buffered(1.0_MiB, 1.0_MiB, 2, 1.0_ms), {.name = "full", .order = {}, .streams = {}}, {});
  const ExposedTime& sends = result.classes[0].times.exposed_by.at(0);
  CHECK(sends.waiting > 0.9_ms);
  CHECK(sends.waiting < sends.time);
}

}  // namespace c3::workloads_buffered_messages_test
