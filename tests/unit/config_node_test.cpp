// Reading nodes: what joins the GPUs, and what is refused.

#include <doctest/doctest.h>

#include "configs/presets/preset_store.hpp"
#include "configs/presets/spec_readers.hpp"
#include "configs/toml/section.hpp"
#include "configs/toml/toml_text.hpp"
#include "tests/support/near.hpp"
#include "tests/support/print_units.hpp"
#include "tests/unit/config_files.hpp"

namespace c3::config_node_test { namespace {

constexpr const char* kTree = R"(name = "tree"
topology = "wired"
gpus = 3
link_raw = "32 GB/s"
link_one_way = "24 GB/s"
link_both_ways = "20 GB/s"
link_latency = "1 us"
wires = ["gpu0 - cpu0", "gpu1 - cpu0 x2", "cpu0 - cpu1 socket x3", "cpu1 - gpu2"]
links.socket = { raw = "40 GB/s", one_way = "30 GB/s", both_ways = "25 GB/s", latency = "100 ns" }
)";

NodeSpec read(const std::string& text) {
  const Node node = parse_toml(text, "tree.toml");
  Section section(node, "node");
  return read_node(section);
}

/// What reading says when \p part of the tree's text is \p instead.
std::string error_with(const std::string& part, const std::string& instead) {
  std::string text = kTree;
  const std::size_t at = text.find(part);
  REQUIRE(at != std::string::npos);
  text.replace(at, part.size(), instead);
  return error_of([&] { read(text); });
}

TEST_CASE("wires name GPUs and hubs, a kind of link and how many lie side by side") {
  using namespace literals;
  const NodeSpec node = read(kTree);
  CHECK(node.topology == NodeTopology::wired);
  CHECK(node.hubs == std::vector<std::string>{"cpu0", "cpu1"});
  REQUIRE(node.other_links.size() == 1);
  CHECK(node.other_links[0].raw == 40.0_GBps);
  CHECK(node.other_links[0].one_way == 30.0_GBps);
  CHECK(node.other_links[0].both_ways == 25.0_GBps);
  CHECK(node.other_links[0].latency.value == near(100e-9));
  CHECK(node.wires == std::vector<Wire>{{0, 3}, {.a = 1, .b = 3, .count = 2}, {3, 4, 3, 1}, {4, 2}});
}

TEST_CASE("NICs are at GPUs or hubs, or each GPU has a path to its own") {
  using namespace literals;
  const NodeSpec placed = read(std::string("nic_at = [\"cpu1\", \"gpu0\"]\n") + kTree);
  CHECK(placed.nic_at == std::vector<int>{4, 0});
  CHECK(placed.nic_slots == 2);
  const std::string pcie =
      "pcie_raw = \"32 GB/s\"\npcie_one_way = \"26 GB/s\"\npcie_both_ways = \"25 GB/s\"\npcie_latency = \"1 "
      "us\"\n";
  const NodeSpec slots = read("nic_slots = 4\n" + pcie + kTree);
  CHECK(slots.nic_slots == 4);
  CHECK(slots.pcie.both_ways == 25.0_GBps);
  CHECK(error_of([&] { read("nic_slots = 4\n" + pcie + "nic_at = [\"cpu1\"]\n" + kTree); }) ==
        "tree.toml:6:10: node.nic_at: cannot be combined with nic_slots, which gives each GPU a path to "
        "NICs of its own");
  CHECK(error_of([&] {
          read(std::string("nic_at = [\"cpu2\"]\n") + kTree);
        }).starts_with("tree.toml:1:11: node.nic_at: unknown GPU or hub 'cpu2'"));
  CHECK(error_of([&] { read(std::string("nic_slots = 0\n") + kTree); }) ==
        "tree.toml:1:13: node.nic_slots: must be between 1 and 256, not 0");
}

constexpr const char* kMemory =
    "sockets = [\"cpu0\", \"cpu1\"]\nhost_memory = \"200 GB/s\"\nhost_read = \"20 GB/s\"\nhost_both_ways = "
    "\"18 "
    "GB/s\"\nhost_latency = \"700 ns\"\nsocket_search = \"22 GB/s\"\n";

TEST_CASE("a wired node says which hubs are sockets, and which GPUs are peers") {
  using namespace literals;
  const NodeSpec node = read(std::string("p2p = \"switch\"\nshm = false\n") + kMemory + kTree);
  CHECK(node.host.p2p == P2pReach::direct);
  CHECK_FALSE(node.host.shm);
  CHECK(node.host.sockets == std::vector<int>{3, 4});
  CHECK(node.host.memory == 200.0_GBps);
  CHECK(node.host.read == 20.0_GBps);
  CHECK(node.host.both_ways == 18.0_GBps);
  CHECK(node.host.latency.value == near(700e-9));
  CHECK(node.host.between == 22.0_GBps);
  const NodeSpec unsaid = read(kTree);
  CHECK(unsaid.host.p2p == P2pReach::all);
  CHECK(unsaid.host.sockets.empty());
}

TEST_CASE("what is wrong with peers and sockets is said where it is") {
  CHECK(error_of([] { read(std::string("p2p = \"switch\"\n") + kTree); }) ==
        "tree.toml:1:7: node.p2p: requires a wired node with sockets, the hubs that are processors, as in "
        "sockets = [\"cpu0\", "
        "\"cpu1\"]");
  CHECK(error_of([] {
          read(std::string("sockets = [\"gpu0\"]\n") + kTree);
        }).starts_with("tree.toml:1:12: node.sockets: unknown hub 'gpu0'"));
  CHECK(error_of([] { read(std::string("p2p = \"phb\"\n") + kTree); }).starts_with("tree.toml:1:7: node.p2p:"));
}

TEST_CASE("a switched node may say that its switch reduces") {
  const std::string switched = R"(name = "s"
topology = "switched"
gpus = 8
link_raw = "450 GB/s"
link_one_way = "370 GB/s"
link_both_ways = "370 GB/s"
link_latency = "1 us"
)";
  CHECK_FALSE(read(switched).switch_reduces);
  CHECK(read(switched + "switch_reduces = true").switch_reduces);
  CHECK(read(switched + "switch_reduces = { value = true, kind = 'published', source = 'x' }").switch_reduces);
  CHECK_FALSE(read(switched + "switch_reduces = false").switch_reduces);
  CHECK(error_of([&] { read(switched + "switch_reduces = 'yes'"); }) ==
        "tree.toml:8:18: node.switch_reduces: must be true or false, not a string");
  CHECK(error_with("wires", "switch_reduces = true\nwires") ==
        "tree.toml:8:18: node.switch_reduces: requires topology = \"switched\"");
}

TEST_CASE("a wire that says nothing sensible is refused where it is written") {
  const auto refused = [](const char* wire) { return error_with("gpu1 - cpu0 x2", wire); };
  const std::string at = "tree.toml:8:25: node.wires: ";
  const std::string form =
      at + "must read 'gpu0 - gpu1', then a kind of link and a count such as 'x2' if wanted";
  CHECK(refused("gpu1 to cpu0") == form);
  CHECK(refused("gpu1 - cpu0 x2 socket") == form);
  CHECK(refused("gpu1-cpu0") == form);
  CHECK(refused("gpu3 - cpu0") == at + "'gpu3' is none of the 3 GPUs, gpu0 to gpu2");
  CHECK(refused("gpu99999999999 - cpu0") == at + "'gpu99999999999' is none of the 3 GPUs, gpu0 to gpu2");
  CHECK(refused("gpu1 - gpu1") == at + "'gpu1' is joined to itself");
  CHECK(refused("cpu0 - gpu0") ==
        at + "'cpu0' and 'gpu0' are joined already; links side by side are one wire with a count, 'x2'");
  CHECK(refused("gpu1 - cpu0 x65") == at + "a count is x1 to x64, not x65");
  CHECK(refused("gpu1 - cpu0 x0") == at + "a count is x1 to x64, not x0");
  CHECK(refused("gpu1 - cpu0 sockt") ==
        at + "unknown kind of link 'sockt'; did you mean 'socket'? known: socket");
  CHECK(refused("gpu1 - cpu.0") == at + "'cpu.0': a socket or switch is named by letters, digits and '_'");
}

TEST_CASE("wires that do not join all GPUs are refused") {
  const std::string at = "tree.toml:8:9: node.wires: ";
  CHECK(error_with(R"("gpu1 - cpu0 x2", )", "") == at + "gpu1 has no wire");
  CHECK(error_with("gpu1 - cpu0 x2", "gpu1 - cpuO") ==
        at + "hub 'cpuO' has one wire only, so nothing passes it; did you mean 'cpu0'?");
  CHECK(error_with(R"(["gpu0 - cpu0", "gpu1 - cpu0 x2", "cpu0 - cpu1 socket x3", "cpu1 - gpu2"])",
                   R"(["gpu0 - gpu1", "cpu0 - gpu2 x2", "cpu0 - cpu1 socket x3", "cpu1 - gpu2"])") ==
        at + "no path joins gpu0 and gpu2");
  CHECK(error_with(R"(["gpu0 - cpu0", "gpu1 - cpu0 x2", "cpu0 - cpu1 socket x3", "cpu1 - gpu2"])", "[]") ==
        at + "must not be empty");
  CHECK(error_with(R"(["gpu0 - cpu0", "gpu1 - cpu0 x2", "cpu0 - cpu1 socket x3", "cpu1 - gpu2"])",
                   "'gpu0 - gpu1'") == at + "must be a list of texts, not a string");
}

TEST_CASE("a kind of link is read like the node's own, must be used, and must be known") {
  CHECK(error_with("30 GB/s", "50 GB/s") ==
        Part{"tree.toml:9:45: node.links.socket.one_way: must not be above raw"});
  CHECK(error_with("socket x3", "x3") == "tree.toml:9:7: node.links.socket: no wire is of this kind");
  CHECK(error_with("links.socket", "#") ==
        "tree.toml:8:43: node.wires: unknown kind of link 'socket'; there is no table [node.links.socket]");
  CHECK(error_with("latency = \"100 ns\"", "latncy = \"100 ns\"") ==
        Part{"node.links.socket.latency: is missing"});
}

TEST_CASE("wires and kinds of links belong to wired nodes only") {
  CHECK(error_with("\"wired\"", "\"full_mesh\"") ==
        "tree.toml:8:9: node.wires: requires topology = \"wired\"\n"
        "tree.toml:9:1: node.links: requires topology = \"wired\"");
  CHECK(error_with("wires =", "#") ==
        Part{"node.wires: is missing; a wired node lists the links between its GPUs"});
}

TEST_CASE("wires of a preset state their source, and cannot be a range") {
  const auto read_preset = [](const std::string& wires) {
    return error_of([&] {
      const Node node = parse_toml("wires = " + wires, "n.toml");
      Section section(node, "node", {}, Provenance::required);
      section.sourced_texts("wires", {".*", "x"});
    });
  };
  CHECK(read_preset("['gpu0 - gpu1']") == Part{"a preset states where each value comes from"});
  CHECK(read_preset("{ value = ['gpu0 - gpu1'], kind = 'published' }") == Part{"has no source"});
  CHECK(read_preset("{ low = ['a'], nominal = ['a'], high = ['a'], kind = 'assumed', source = 's' }") ==
        Part{"cannot be a range"});
  CHECK(read_preset("{ value = ['gpu0 - gpu1', 3], kind = 'published', source = 's' }") ==
        "n.toml:1:35: node.wires: must be a string, not an integer");
  CHECK(read_preset("{ value = ['gpu0 - gpu1'], kind = 'published', source = 's' }") == "no error");
}

TEST_CASE("no draw of a node preset's ranges contradicts itself") {
  for (const std::string& name : preset_names(PresetKind::node)) {
    CAPTURE(name);
    const Node preset = load_preset(PresetKind::node, name, {}, "test");
    for (std::uint64_t draw = 0; draw < 200; ++draw) {
      Section section(preset, "node", Sampling(draw, 1));
      section.text("gpu");
      section.text("library");
      if (section.has("fabric")) section.text("fabric");
      const NodeSpec node = read_node(section);
      CHECK(node.link.both_ways <= node.link.one_way);
    }
  }
}

}}  // namespace c3::config_node_test
