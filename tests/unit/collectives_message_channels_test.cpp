// Channels of messages by communicator and size, worked out from the rules of NCCL's sources.

#include "collectives/library/message_channels.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "configs/jobs/experiment_reader.hpp"
#include "tests/support/print_units.hpp"

namespace c3::collectives_message_channels_test {

using namespace literals;

namespace {

/// The first rank of each of \p count nodes of eight.
std::vector<int> one_of_each(int count) {
  std::vector<int> members;
  for (int node = 0; node < count; ++node)
    members.push_back(8 * node);
  return members;
}

std::vector<int> first_ranks(int count) {
  std::vector<int> members;
  for (int rank = 0; rank < count; ++rank)
    members.push_back(rank);
  return members;
}

MessageChannels channels_over(const ClusterSpec& cluster, const std::vector<int>& members) {
  return message_channels(cluster, members).value();
}

}  // namespace

TEST_CASE(
    "within a node a message begins with 32 channels over the members, and doubles them above 16 MiB each") {
  const ClusterSpec cluster = load_cluster("h100-sxm-8");
  const std::vector<std::pair<int, int>> begin_with{{2, 16}, {3, 8}, {4, 8}, {5, 4}, {8, 4}};
  for (const auto& [ranks, dealt] : begin_with) {
    CAPTURE(ranks);
    const MessageChannels channels = channels_over(cluster, first_ranks(ranks));
    CHECK(channels.most == 32);
    CHECK(channels.of(Bytes{1.0}) == 1);
    CHECK(channels.of(192.0_KiB) == 3);  // 64 KiB each
    CHECK(channels.of(2.0_MiB) == dealt);
    CHECK(channels.of(dealt * 16.0_MiB) == dealt);
    CHECK(channels.of(dealt * 16.0_MiB + Bytes{1.0}) == 2 * dealt);
    CHECK(channels.of(4.0_GiB) == 32);
  }
}

TEST_CASE("over PCIe a peer has two channels, which a message of more than 4 MiB has where eight share two") {
  const ClusterSpec cluster = load_cluster("rtx-6000d-8");
  CHECK(channels_over(cluster, {0, 1}).most == 2);  // of four
  CHECK(channels_over(cluster, {0, 1}).dealt == 2);
  const MessageChannels channels = channels_over(cluster, first_ranks(8));
  CHECK(channels.most == 2);
  CHECK(channels.dealt == 1);
  CHECK(channels.of(4.0_MiB) == 1);
  CHECK(channels.of(4.0_MiB + Bytes{1.0}) == 2);
  CHECK(channels.of(1.0_GiB) == 2);
}

TEST_CASE("one rank of each node has four channels of one NIC, and fewer for each of many peers") {
  // The search finds one ring of 48 GB/s over a NIC of 50, halves it, and doubles it for the kernel: 4
  // channels in all. 50 GB/s make four of a peer (14 GB/s each); eight ranks fit on a channel.
  ClusterSpec cluster = load_cluster({.system = "h100-sxm-8", .nodes = 16, .fabric = "ib-ndr"}, {});
  CHECK(channels_over(cluster, one_of_each(2)).most == 4);
  CHECK(channels_over(cluster, one_of_each(8)).most == 4);
  CHECK(channels_over(cluster, one_of_each(9)).most == 2);
  CHECK(channels_over(cluster, one_of_each(16)).most == 2);
  const MessageChannels eight = channels_over(cluster, one_of_each(8));
  CHECK(eight.of(128.0_KiB) == 1);  // 4 of 4 for 8 ranks
  CHECK(eight.of(256.0_KiB) == 2);  // 128 KiB each
  CHECK(eight.of(1.0_MiB) == 4);
  cluster.library.version = {2, 28, 9};  // two, which four ranks on each of 4 channels have
  CHECK(channels_over(cluster, one_of_each(8)).most == 2);
  CHECK(channels_over(cluster, one_of_each(9)).most == 1);
}

TEST_CASE("where some members are in another node, messages between neighbours have as few channels") {
  const ClusterSpec cluster = load_cluster({.system = "h100-sxm-8", .nodes = 2, .fabric = "ib-ndr"}, {});
  const MessageChannels channels = channels_over(cluster, {0, 1, 8, 9});
  CHECK(channels.most == 4);
  CHECK(channels.of(1.0_GiB) == 4);
}

TEST_CASE("links of pairs and other libraries have no such rule here") {
  for (const std::string system : {"mi300x-8", "gh200-4", "v100-sxm2-8"}) {
    CAPTURE(system);
    CHECK_FALSE(message_channels(load_cluster(system), {0, 1}).has_value());
  }
}

TEST_CASE("NCCL_NCHANNELS_PER_NET_PEER counts, rounded up to a power of two, however many peers there are") {
  ClusterSpec cluster = load_cluster({.system = "h100-sxm-8", .nodes = 16, .fabric = "ib-ndr"}, {});
  cluster.library.net_peer_channels = 3;
  CHECK(channels_over(cluster, one_of_each(16)).most == 4);
  cluster.library.net_peer_channels = 1;
  CHECK(channels_over(cluster, one_of_each(2)).most == 1);
}

}  // namespace c3::collectives_message_channels_test
