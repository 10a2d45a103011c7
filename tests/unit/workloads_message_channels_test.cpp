// Messages take the channels that the library deals to their communicator, unless a strategy says otherwise.

#include <doctest/doctest.h>

#include <set>
#include <utility>

#include "configs/jobs/experiment_reader.hpp"
#include "workloads/execute/run.hpp"
#include "workloads/program/program_builder.hpp"

namespace c3::workloads_message_channels_test {

using namespace literals;

namespace {

/// Rank 0 sends \p bytes to the next one of its group of \p ranks. \returns the channels of both.
std::set<int> channels_of_message(ClusterSpec cluster, RankGroups group, Bytes bytes,
                                  ChannelLimits limits = {}) {
  ProgramBuilder builder;
  const CommunicatorId pipeline = builder.communicator("pipeline", group);
  const auto stream = builder.stream("s");
  builder.begin_script({0});
  builder.exchange(stream, "send", {pipeline, {{1, bytes, true}}});
  builder.begin_script({group.stride});
  builder.exchange(stream, "receive", {pipeline, {{-1, bytes, false}}});
  Experiment experiment;
  experiment.name = "message";
  experiment.program = builder.take(cluster.ranks());
  experiment.cluster = std::move(cluster);
  StreamPolicy policy;
  policy.method.channels = limits;
  std::set<int> channels;
  const Strategy strategy{.name = "now", .order = {}, .streams = {{"s", policy}}};
  for (const CollectiveRecord& record : run_once(experiment, strategy, {}).records)
    channels.insert(record.channels);
  return channels;
}

}  // namespace

TEST_CASE(
    "a message in a node has 32 channels over the ranks of its communicator, and more where it is large") {
  const ClusterSpec node = load_cluster("h100-sxm-8");
  CHECK(channels_of_message(node, {8, 1}, 32.0_MiB) == std::set{4});
  CHECK(channels_of_message(node, {4, 2}, 32.0_MiB) == std::set{8});
  CHECK(channels_of_message(node, {2, 4}, 32.0_MiB) == std::set{16});
  CHECK(channels_of_message(node, {8, 1}, 128.0_MiB) == std::set{8});
}

TEST_CASE("a message to another node has a quarter of that, and a strategy's limits count for both") {
  const ClusterSpec nodes = load_cluster({.system = "h100-sxm-8", .nodes = 2, .fabric = "ib-ndr"}, {});
  CHECK(channels_of_message(nodes, {2, 8}, 32.0_MiB) == std::set{4});
  CHECK(channels_of_message(nodes, {2, 8}, 32.0_MiB, {.most = 3}) == std::set{3});
  const ClusterSpec node = load_cluster("h100-sxm-8");
  CHECK(channels_of_message(node, {8, 1}, 32.0_MiB, {.most = 2}) == std::set{2});
  CHECK(channels_of_message(node, {8, 1}, 32.0_MiB, {.least = 6}) == std::set{6});
}

}  // namespace c3::workloads_message_channels_test
