/// What NCCL and RCCL say about themselves with NCCL_DEBUG=INFO.

#include <doctest/doctest.h>

#include <string>

#include "files/io_error.hpp"
#include "importers/logs/library_log.hpp"
#include "importers/logs/log_lines.hpp"
#include "tests/support/mutated_text.hpp"
#include "tests/support/printed_tests.hpp"
#include "tests/unit/config_files.hpp"

namespace c3::logs_library_log_test {
namespace {

/// Messages of GPU 0 of two hosts.
std::string messages(const std::string& lines) {
  return marked(lines, "node-0:4000:4100 [0] NCCL INFO ") + marked(lines, "node-1:4008:4108 [0] NCCL INFO ");
}

const std::string kLog =
    "NCCL version 2.27.3+cuda12.8\n" +
    messages(
        "Bootstrap : Using eth0:10.0.0.1<0>\n"
        "NCCL_IB_HCA set to mlx5\n"
        "NCCL_ALGO set by environment to Ring,Tree\n"
        "NCCL_MIN_CTAS set by environment to 8.\n"
        "Comm config maxCTAs reset to NCCL_MAX_CTAS=16\n"
        "NET/Plugin: Loaded net plugin AWS Libfabric (v8)\n"
        "NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/IB [RO]; OOB eth0:10.0.0.1<0>\n"
        "Using network IB\n"
        "ncclCommInitRank comm 0x5581 rank 0 nranks 16 cudaDev 0 nvmlDev 0 busId 18000 commId 0x12 - Init "
        "START\n"
        "NVLS multicast support is available on dev 0\n"
        "comm 0x5581 rank 0 nRanks 16 nNodes 2 localRanks 8 localRank 0 MNNVL 0\n"
        "Channel 00/12 :  0  1  2  3  4  5  6  7\n"
        "Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM\n"
        "Trees [0] 1/-1/-1->0->-1 [1] 1/-1/-1->0->-1\n"
        "Connected all rings, use ring PXN 0 GDR 1\n"
        "24 coll channels, 24 collnet channels, 16 nvls channels, 32 p2p channels, 2 p2p channels per peer\n"
        "ncclCommInitRank comm 0x5581 rank 0 nranks 16 cudaDev 0 nvmlDev 0 busId 18000 commId 0x12 - Init "
        "COMPLETE\n");

const std::string kChoices = marked(
    "AllReduce: 1048576 Bytes -> Algo RING proto LL128 channel{Lo..Hi}={0..15}\n"
    "AllReduce: 1048576 Bytes -> Algo RING proto LL128 channel{Lo..Hi}={0..15}\n"
    "AllGather: 65536 Bytes -> Algo COLLNET_DIRECT proto SIMPLE channel{Lo..Hi}={2..9}\n"
    "AllReduce [Symmetric]: 4096 Bytes -> Kernel AllReduce_AGxLL_R nchannels 4 nthreads 512 nWorks 1\n"
    "Broadcast: 2048 Bytes -> Algo 0 proto 0 time 12.500000\n"
    "512 Bytes -> Algo 4 proto 2 time 12.500000\n",
    "[2026-11-29 10:11:12] node-0:4000:4100 [0] NCCL INFO ");

void check_facts(const LibraryLog& log) {
  CHECK(log.library == "NCCL 2.27.3");
  CHECK(log.ranks == 16);
  CHECK(log.nodes == 2);
  CHECK(log.hosts == std::set<std::string>{"node-0", "node-1"});
  CHECK(log.host_count() == 2);
  CHECK(log.channels == 24);
  CHECK(log.nvls_channels == 16);
  CHECK(log.p2p_channels == 32);
  CHECK(log.rings == 12);
  CHECK(log.trees == 2);
  CHECK(log.connected_rings);
  CHECK(log.nvls == true);
  CHECK(log.network == "IB");
  CHECK(log.nics == std::set<std::string>{"mlx5_0:1/IB", "mlx5_1:1/IB"});
  CHECK(log.plugins == std::set<std::string>{"AWS Libfabric"});
  REQUIRE(log.variables.size() == 4);
  CHECK(log.variables.at("NCCL_ALGO").value == "Ring,Tree");
  CHECK(log.variables.at("NCCL_MIN_CTAS").value == "8");
  CHECK(log.variables.at("NCCL_MAX_CTAS").value == "16");
  CHECK(log.variables.at("NCCL_IB_HCA").value == "mlx5");
}

}  // namespace

TEST_CASE("a log of NCCL_DEBUG=INFO says version, ranks, nodes, channels, network and variables") {
  check_facts(read_library_log(kLog));
  CHECK(is_library_log(kLog));
  CHECK_FALSE(is_library_log(printed_head()));
}

TEST_CASE("marks of launchers, times and other lines are none of a message") {
  check_facts(read_library_log(marked(kLog, "[1,0]<stdout>:")));
  check_facts(read_library_log("step 1 loss 2.5\n" + kLog + "AllReduce: 8 Bytes -> Algo\n"));
}

TEST_CASE("each way in which a size was run is there once, with its calls and channels") {
  const LibraryLog log = read_library_log(kLog + kChoices);
  REQUIRE(log.choices.size() == 5);
  CHECK(log.choices[0].kind == CollectiveKind::all_reduce);
  CHECK(log.choices[0].bytes == Bytes{1048576.0});
  CHECK(log.choices[0].algorithm == "ring");
  CHECK(log.choices[0].protocol == "ll128");
  CHECK(log.choices[0].channels == 16);
  CHECK(log.choices[0].calls == 2);
  // An all-gather's size is one rank's there, and of all 16 here.
  CHECK(log.choices[1].kind == CollectiveKind::all_gather);
  CHECK(log.choices[1].bytes == Bytes{1048576.0});
  CHECK(log.choices[1].algorithm == "collnet");
  CHECK(log.choices[1].channels == 8);
  CHECK(log.choices[2].algorithm == "symmetric (AllReduce_AGxLL_R)");
  CHECK(log.choices[2].channels == 4);
  // NCCL 2.20 to 2.23 have numbers, and up to 2.22 no name.
  CHECK(log.choices[3].kind == CollectiveKind::broadcast);
  CHECK(log.choices[3].algorithm == "tree");
  CHECK(log.choices[3].protocol == "ll");
  CHECK_FALSE(log.choices[3].channels);
  CHECK_FALSE(log.choices[4].kind);
  CHECK(log.choices[4].algorithm == "nvls");
  CHECK(log.choices[4].protocol == "simple");
}

TEST_CASE("the communicator with the most ranks counts") {
  const LibraryLog log =
      read_library_log(messages("comm 0x1 rank 0 nRanks 16 nNodes 2 localRanks 8 localRank 0 MNNVL 0\n"
                                "comm 0x2 rank 0 nRanks 2 nNodes 1 localRanks 2 localRank 0 MNNVL 0\n"));
  CHECK(log.ranks == 16);
  CHECK(log.nodes == 2);
  const LibraryLog rack =
      read_library_log(messages("comm 0x1 rank 0 nRanks 64 nNodes 1 localRanks 64 localRank 0 MNNVL 1\n"));
  CHECK(rack.nodes == 1);
  CHECK(rack.multi_node_nvlink);
}

TEST_CASE("one host that printed says nothing of others") {
  const LibraryLog one =
      read_library_log("node-0:1:1 [0] NCCL INFO comm 0x1 rank 0 nranks 16 cudaDev 0 - Init COMPLETE\n");
  CHECK(one.ranks == 16);
  CHECK(one.host_count() == 0);
  CHECK(read_library_log(printed_head({.hosts = 2})).ranks == 16);
}

TEST_CASE("RCCL and old releases of NCCL say their version in other words") {
  CHECK(read_library_log("RCCL version : 2.22.3-HEAD:1234567\n").library == "RCCL 2.22.3");
  CHECK(read_library_log("node-0:1:1 [0] NCCL INFO RCCL version 2.18.6+hip6.0 HEAD:12\n").library ==
        "RCCL 2.18.6");
  CHECK(read_library_log("NCCL version 2.13.4+hip5.4\n").library == "RCCL 2.13.4");
  CHECK(read_library_log("NCCL version in use\n").library.empty());
  CHECK(version_of_number(22703) == "2.27.3");
  CHECK(version_of_number(2804) == "2.8.4");
  CHECK_FALSE(version_of_number(-1));
  CHECK_FALSE(version_of_number(999));
}

TEST_CASE("devices of nccl-tests of any release have a rank, a host and a name") {
  const auto device =
      logged_rank("#  Rank 12 Group  1 Pid  6899 on     node-a device  4 [0000:04:00] NVIDIA H100 80GB HBM3\r");
  REQUIRE(device);
  CHECK(device->rank == 12);
  CHECK(device->group == 1);
  CHECK(device->host == "node-a");
  CHECK(device->gpu == "NVIDIA H100 80GB HBM3");
  CHECK(logged_rank("#   Rank  0 Pid  6899 on node-a device  0 [0x1a] Tesla V100-SXM2-16GB")->gpu ==
        "Tesla V100-SXM2-16GB");
  CHECK_FALSE(logged_rank("# Rank of hosts"));
  CHECK_FALSE(logged_rank("#  Rank x on node-a device 0"));
}

TEST_CASE("whatever is wrong with a log, it is read") {
  std::mt19937 random(2);
  std::size_t facts = 0;
  for (int turn = 0; turn < 2000; ++turn) {
    const std::string text = mutated(kLog + kChoices, random);
    facts += read_library_log(text).has_facts() ? 1U : 0U;
    for_each_line(text,
                  [](std::uint32_t, std::string_view line) { (void)logged_rank(without_launcher(line)); });
  }
  CHECK(facts > 1000);
}

}  // namespace c3::logs_library_log_test
