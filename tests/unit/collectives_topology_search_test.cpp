// What NCCL's topology search finds, worked out by hand from its sources (src/graph/search.cc).

#include <doctest/doctest.h>
#include "collectives/library/topology_search.hpp"

#include "collectives/library/version.hpp"

namespace c3::collectives_topology_search_test {

namespace {

constexpr SearchedNode kH100{.gpu = TunedGpu::hopper, .gpus = 8, .port = 18 * 20.6};
constexpr SearchedNode kB200{.gpu = TunedGpu::blackwell, .gpus = 8, .port = 18 * 40.1};
constexpr SearchedNode kA100{.gpu = TunedGpu::ampere, .gpus = 8, .port = 12 * 20.0, .has_switch = false};

SearchedNode over(SearchedNode node, int nics, double nic) {
  node.nics = nics;
  node.nic = nic;
  return node;
}

SearchedNode of(SearchedNode node, LibraryVersion version) {
  node.version = version;
  return node;
}

}  // namespace

TEST_CASE(
    "one node: the fastest rings that fill the links are halved, and a kernel has twice as many channels") {
  // H100: 6 x 60 = 360 of 370.8, as fast as any slower set, so 12 x 30. A log of 2.18 to 2.19 has 24 channels.
  CHECK(search_topology(kH100).ring == SearchedGraph{12, 30, 30});
  CHECK(search_topology(kH100).channels == 24);
  // B200: 8 x 90 of 721.8. A log has 32 (NVIDIA/nccl issue 1646).
  CHECK(search_topology(kB200).ring == SearchedGraph{16, 45, 45});
  CHECK(search_topology(kB200).channels == 32);
  // A100: 6 x 40 = 240, all of the links. A log has 24 (NVIDIA/nccl-tests issue 100).
  CHECK(search_topology(kA100).ring == SearchedGraph{12, 20, 20});
  CHECK(search_topology(kA100).channels == 24);
}

TEST_CASE("several nodes: rings as fast as NICs and links allow, fewer than on one node") {
  // H100, 8 NICs, PCIe 48: 7 x 48 = 336, 8 x 45 = 360; not halved below 50 with more than 4. A log has 16
  // channels.
  const SearchedGraphs h100 = search_topology(over(kH100, 8, 48.0));
  CHECK(h100.ring == SearchedGraph{8, 45, 45});
  CHECK(h100.channels == 16);
  // B200: 15 x 48 would fit the links, eight NICs carry 8.
  CHECK(search_topology(over(kB200, 8, 48.0)).ring == SearchedGraph{8, 48, 48});
  // A rack of 72 with 72 NICs: 15 x 48 = 720, 16 x 45.1 = 721.6.
  SearchedNode rack = over(kB200, 72, 48.0);
  rack.gpus = 72;
  CHECK(search_topology(rack).ring == SearchedGraph{16, 45.1, 45.1});
  CHECK(search_topology(of(rack, {2, 26, 2})).ring == SearchedGraph{15, 48, 48});  // had no 45.1
  // Four H100 with four NICs: 4 x 48, of which few enough to be halved, and twice as many in the kernel.
  SearchedNode four = over(kH100, 4, 48.0);
  four.gpus = 4;
  CHECK(search_topology(four).ring == SearchedGraph{8, 24, 24});
  CHECK(search_topology(four).channels == 16);
}

TEST_CASE("a tree over nodes is sped up within the node, to twice its NICs' speed") {
  // Two nodes of four GH200, 4 x 25 GB/s: NICs allow 24, links 48.
  SearchedNode gh200 = over(kH100, 4, 24.0);
  gh200.gpus = 4;
  CHECK(search_topology(gh200).ring == SearchedGraph{4, 24, 24});
  CHECK(search_topology(gh200).tree == SearchedGraph{4, 48, 24});
  CHECK(search_topology(gh200).channels == 8);
  // Eight H100: 8 chains of 48 send 7/8 of 8 x 48 = 336 from each GPU.
  CHECK(search_topology(over(kH100, 8, 48.0)).tree == SearchedGraph{8, 48, 48});
  CHECK(search_topology(kB200).tree == SearchedGraph{16, 50, 50});
}

TEST_CASE(
    "NVLS: a head takes its own share twice, up to 32 heads, and speed between nodes up to twice that within") {
  CHECK(search_topology(kH100).nvls == SearchedGraph{8, 40, 60});  // 9 x 40 = 360
  CHECK(search_topology(over(kH100, 8, 48.0)).nvls == SearchedGraph{8, 40, 48});
  CHECK(search_topology(kB200).nvls == SearchedGraph{8, 80, 90});  // 9 x 80 = 720
  CHECK(search_topology(over(kB200, 8, 48.0)).nvls == SearchedGraph{8, 48, 48});
  SearchedNode rack = over(kB200, 72, 48.0);
  rack.gpus = 72;
  CHECK(search_topology(rack).nvls == SearchedGraph{32, 20, 40});  // 33 x 20 = 660
  CHECK(search_topology(kA100).nvls.channels == 0);
  SearchedNode two = kH100;
  two.gpus = 2;
  CHECK(search_topology(two).nvls.channels == 0);
}

TEST_CASE("a release is read with its patch or without, which is the last one") {
  CHECK(version_named("2.26.2") == LibraryVersion{2, 26, 2});
  CHECK(*version_named("2.26") > *version_named("2.26.7"));
  CHECK(*version_named("2.26") < *version_named("2.27.0"));
  CHECK(name_of(*version_named("2.26")) == "2.26");
  for (const char* const wrong : {"", "2", "2.", "2.26.", "2.26.2.1", "v2.26", "2.-1", "2.26rc1"})
    CHECK_FALSE(version_named(wrong));
}

TEST_CASE(
    "a kernel has two channels of each ring, four of a fast one, and over nodes as many of few that stay "
    "fast") {
  CHECK(kernel_channels({4, 40.0, 40.0}, TunedGpu::ampere, false) == 16);  // eight of 20 GB/s
  CHECK(kernel_channels({4, 24.0, 24.0}, TunedGpu::ampere, false) == 8);
  CHECK(kernel_channels({5, 48.0, 48.0}, TunedGpu::hopper, false) == 10);  // more than four below 50 GB/s stay
  CHECK(kernel_channels({5, 48.0, 48.0}, TunedGpu::hopper, true) == 20);
  CHECK(kernel_channels({8, 48.0, 48.0}, TunedGpu::hopper, true) == 16);
  CHECK(kernel_channels({5, 42.0, 42.0}, TunedGpu::hopper, true) == 10);
}

}  // namespace c3::collectives_topology_search_test
