// Slurm's topology.conf and what ibnetdiscover prints, as fabrics.

#include <doctest/doctest.h>

#include <algorithm>

#include "importers/machines/host_list.hpp"
#include "importers/machines/ib_network.hpp"
#include "importers/machines/slurm_topology.hpp"
#include "tests/support/near.hpp"
#include "tests/support/print_units.hpp"
#include "tests/support/read_machines.hpp"

namespace c3::machines_fabric_test {

using namespace test;

namespace {

constexpr const char* kSlurm =
    "# racks of a cluster\n"
    "SwitchName=leaf0 Nodes=gpu[000-015]\n"
    "switchname=leaf1 nodes=gpu[016-030],login LinkSpeed=400  # the second\n"
    "SwitchName=leaf2 Nodes=gpu[100-115]\n"
    "SwitchName=leaf3 Nodes=gpu[116-131]\n"
    "SwitchName=pod0 Switches=leaf[0-1]\n"
    "SwitchName=pod1 Switches=leaf[2-3]\n"
    "SwitchName=core Switches=pod[0-1]\n";

std::string with(std::string text, const std::string& part, const std::string& instead) {
  const std::size_t at = text.find(part);
  REQUIRE(at != std::string::npos);
  return text.replace(at, part.size(), instead);
}

FileReading read_slurm(const std::string& text) { return read_slurm_topology({"topology.conf", text}); }
std::string slurm_refusal(const std::string& text) {
  return error_of([&] { read_slurm(text); });
}

/// `system` is not what these files say.
FabricSpec fabric_of(const FileReading& reading) {
  const ReadPresets presets(reading);
  return *ReadPresets::cluster(reading, 2, "system = \"h100-sxm-8\"\n").fabric;
}

/// What ibnetdiscover prints of \p leaves leaf switches with \p nodes nodes of two NICs each and \p uplinks
/// links to each of two spines. NICs of a node are at two leaves (2k and 2k + 1) where there are \p rails.
std::string network(int leaves, int nodes, int uplinks, bool rails, const std::string& rate = "4xNDR") {
  const auto id = [](const std::string& kind, int number) {
    return fmt::format("\"{}-{:016x}\"", kind, number);
  };
  std::string text = "#\n# Topology file: generated on a day\n#\n\n";
  for (int leaf = 0; leaf < leaves; ++leaf) {
    text += fmt::format(
        "vendid=0x2c9\nswitchguid=0x{0:x}({0:x})\nSwitch\t64 {1}\t\t# \"MF0;leaf-{0}:MQM9700/U1\" enhanced "
        "port 0 lid 3 lmc 0\n",
        leaf, id("S", leaf));
    int port = 0;
    for (int nic = 0; nic < 2 * nodes; ++nic) {
      const int host = rails ? leaf / 2 * 2 * nodes + nic : leaf * nodes + nic / 2;
      text += fmt::format("[{}]\t{}[1](a{:x}) \t\t# \"node{} mlx5_{}\" lid 5 {}\n", ++port,
                          id("H", 1000 + leaf * 2 * nodes + nic), nic, host, rails ? leaf % 2 : nic % 2, rate);
    }
    for (int link = 0; link < 2 * uplinks; ++link)
      text += fmt::format("[{}]\t{}[{}]\t\t# \"MF0;spine\" lid 1 {}\n", ++port, id("S", 500 + link % 2), link,
                          rate);
    text += "\n";
  }
  for (int spine = 0; spine < 2 && uplinks > 0; ++spine) {
    text += fmt::format("Switch\t64 {}\t\t# \"MF0;spine-{}:MQM9700/U1\" enhanced port 0 lid 1 lmc 0\n",
                        id("S", 500 + spine), spine);
    int port = 0;
    for (int leaf = 0; leaf < leaves; ++leaf) {
      for (int link = 0; link < uplinks; ++link)
        text += fmt::format("[{}]\t{}[{}]\t\t# \"MF0;leaf\" lid 3 {}\n", ++port, id("S", leaf), link, rate);
    }
    text += "\n";
  }
  return text +
         "caguid=0x1000\nCa\t1 \"H-00000000000003e8\"\t\t# \"node0 mlx5_0\"\n[1](a0) "
         "\t\"S-0000000000000000\"[1]\t\t# lid 5 lmc 0 \"MF0;leaf-0\" lid 3 4xNDR\n";
}

FileReading read_ib(const std::string& text) { return read_ib_network({"net.txt", text}); }
std::string ib_refusal(const std::string& text) {
  return error_of([&] { read_ib(text); });
}

}  // namespace

TEST_CASE("lists of hosts are written out, with leading zeros and several brackets in a name") {
  CHECK(expand_hosts("a") == std::vector<std::string>{"a"});
  CHECK(expand_hosts("n[08-10,3],b") == std::vector<std::string>{"n08", "n09", "n10", "n3", "b"});
  CHECK(expand_hosts("r[0-1]n[0-1]x") == std::vector<std::string>{"r0n0x", "r0n1x", "r1n0x", "r1n1x"});
  for (const char* const wrong : {"", ",", "a,", "a[", "a]", "a[1", "a[]", "a[2-1]", "a[1-x]", "a[0-999999999]",
                                  "a[-1]", "a[0-999][0-999]", "a[1][2][3][4][5]", "a]1["})
    CHECK_THROWS_AS(expand_hosts(wrong), std::invalid_argument);
}

TEST_CASE("each file of switches is known by its own lines") {
  CHECK(is_slurm_topology(kSlurm));
  CHECK_FALSE(is_slurm_topology("# SwitchName=a\nNodeName=b\n"));
  CHECK_FALSE(is_slurm_topology(""));
  CHECK_FALSE(is_slurm_topology(network(2, 2, 1, true)));
  CHECK(is_ib_network(network(2, 2, 1, true)));
  CHECK_FALSE(is_ib_network(kSlurm));
  CHECK_FALSE(is_ib_network("Switch 36 leaf"));
}

TEST_CASE("Slurm: leaves of nodes below pods below a core are three levels") {
  const FileReading reading = read_slurm(kSlurm);
  CHECK(reading.facts == std::vector<std::string>{"64 nodes at 4 leaf switches, levels of switches: 3"});
  CHECK(reading.taken.size() == 1);
  CHECK(reading.taken[0].value == "\"topology\"");
  const FabricSpec fabric = fabric_of(reading);
  CHECK(fabric.topology == FabricTopology::leaf_spine);
  CHECK(fabric.tree.levels == 3);
  CHECK(fabric.tree.leaf_nics == 16);
  CHECK(fabric.tree.pod_leaves == 2);
  CHECK(fabric.tree.leaf_oversubscription == 1.0);
}

TEST_CASE("Slurm: one switch never blocks, two levels are leaves and spines, a fourth level is said") {
  CHECK(fabric_of(read_slurm("SwitchName=a Nodes=n[0-3]\n")).topology == FabricTopology::single_switch);
  const FabricSpec two =
      fabric_of(read_slurm("SwitchName=a Nodes=n[0-3]\nSwitchName=b Nodes=m\nSwitchName=c Switches=a,b\n"));
  CHECK(two.tree.levels == 2);
  CHECK(two.tree.leaf_nics == 4);
  const FileReading four = read_slurm(std::string(kSlurm) + "SwitchName=all Switches=core\n");
  CHECK(fabric_of(four).tree.levels == 3);
  REQUIRE(four.unmodelled.size() == 1);
  CHECK(four.unmodelled[0].what == "4 levels of switches: those above the second are taken for one");
}

TEST_CASE("Slurm: a node that is named twice is one node") {
  const FileReading reading = read_slurm(
      "SwitchName=s1 Nodes=n[1-4],n[3-4]\nSwitchName=s2 Nodes=n[1-4],n[5-6]\nSwitchName=top Switches=s1,s2\n");
  CHECK(reading.facts == std::vector<std::string>{"6 nodes at 2 leaf switches, levels of switches: 2"});
  CHECK(fabric_of(reading).tree.leaf_nics == 6);
  REQUIRE(reading.unmodelled.size() == 2);
  CHECK(reading.unmodelled[0].what ==
        "4 of 10 entries name a node that another leaf switch has, too: each leaf is taken to have "
        "nodes of its own");
  CHECK(reading.unmodelled[1].what == "leaves of 4 to 6 nodes: all are taken to have 6");
}

TEST_CASE("Slurm: what is wrong with a topology is said where it is, all at once") {
  CHECK(slurm_refusal(with(kSlurm, "nodes=", "node=")) ==
        "topology.conf:3:18: node: unknown key 'node'; did you mean 'Nodes'? known: SwitchName, Nodes, "
        "Switches, LinkSpeed\n"
        "topology.conf:3:1: leaf1: has neither Nodes nor Switches");
  CHECK(slurm_refusal(with(kSlurm, "[000-015]", "[015-000]")) ==
        "topology.conf:2:18: Nodes: '015-000' goes backwards");
  CHECK(slurm_refusal(with(kSlurm, "leaf1 ", "leaf0 ")) == Part{"topology.conf:3:1: leaf0: is there already"});
  CHECK(slurm_refusal(with(kSlurm, "leaf[2-3]", "leaf[2-4]")) ==
        "topology.conf:7:1: pod1: its switch 'leaf4' has no line");
  CHECK(slurm_refusal(with(kSlurm, "leaf[2-3]", "leaf[1-3]")) ==
        Part{"its switch 'leaf1' is below another, too"});
  CHECK(slurm_refusal(with(kSlurm, "SwitchName=core Switches=pod[0-1]\n", "")) ==
        "topology.conf:7:1: pod1: no switch joins it and 'pod0'");
  CHECK(slurm_refusal("SwitchName=a Switches=b\nSwitchName=b Switches=a\n") ==
        "topology.conf:1:1: Switches: go round in a ring: no switch is at the top");
  CHECK(slurm_refusal("SwitchName=a Switches=b\nSwitchName=b Switches=a\nSwitchName=c Nodes=n\n") ==
        Part{"some go round in a ring that the top does not reach"});
  CHECK(slurm_refusal("SwitchName=a Nodes=b Switches=c\n") == Part{"a: has Nodes and Switches"});
  CHECK(slurm_refusal("BlockName=a Nodes=b\n") == Part{"BlockName: is of another plug-in than topology/tree"});
  CHECK(slurm_refusal("# nothing\n") == "topology.conf:1:1: SwitchName: no line names a switch");
}

TEST_CASE("ibnetdiscover: NICs and uplinks of leaves are counted, with their rates") {
  using namespace literals;
  // Four leaves with 8 NICs and 2 x 2 uplinks of the same rate: twice as much goes down.
  const FileReading reading = read_ib(network(4, 4, 2, true));
  CHECK(reading.facts ==
        std::vector<std::string>{"32 NICs of 16 nodes at 4 leaf switches of 6, levels of switches: 2"});
  CHECK(reading.unmodelled.empty());
  const FabricSpec fabric = fabric_of(reading);
  CHECK(fabric.topology == FabricTopology::leaf_spine);
  CHECK(fabric.tree.leaf_nics == 8);
  CHECK(fabric.tree.spines == 2);
  CHECK(fabric.tree.leaf_oversubscription == 2.0);
  CHECK(fabric.nic.raw == 50.0_GBps);
  CHECK(fabric_of(read_ib(network(4, 4, 4, false))).topology == FabricTopology::fat_tree);
  CHECK(fabric_of(read_ib(network(4, 4, 4, false))).tree.leaf_oversubscription == 1.0);
  CHECK(fabric_of(read_ib(network(1, 4, 0, false))).topology == FabricTopology::single_switch);
}

namespace {

// Of four nodes at two leaves below two spines, as ibnetdiscover of infiniband-diags 44.0 printed it over ibsim
// 0.10; other lines left out.
constexpr const char* kSections =
    "Switch\t36 \"S-0000000000200001\"\t\t# \"leaf2\" base port 0 lid 0 lmc 0\n"
    "[1]\t\"H-0000000000100004\"[1](100005) \t\t# \"node03\" lid 0 4xSDR\n"
    "[2]\t\"H-0000000000100006\"[1](100007) \t\t# \"node04\" lid 0 4xSDR\n"
    "[33]\t\"S-0000000000200002\"[2]\t\t# \"spine1\" lid 0 4xSDR\n"
    "[34]\t\"S-0000000000200003\"[2]\t\t# \"spine2\" lid 0 4xSDR\n"
    "Switch\t36 \"S-0000000000200003\"\t\t# \"spine2\" base port 0 lid 0 lmc 0\n"
    "[1]\t\"S-0000000000200000\"[34]\t\t# \"leaf1\" lid 0 4xSDR\n"
    "[2]\t\"S-0000000000200001\"[34]\t\t# \"leaf2\" lid 0 4xSDR\n"
    "Switch\t36 \"S-0000000000200002\"\t\t# \"spine1\" base port 0 lid 0 lmc 0\n"
    "[1]\t\"S-0000000000200000\"[33]\t\t# \"leaf1\" lid 0 4xSDR\n"
    "[2]\t\"S-0000000000200001\"[33]\t\t# \"leaf2\" lid 0 4xSDR\n"
    "Switch\t36 \"S-0000000000200000\"\t\t# \"leaf1\" base port 0 lid 0 lmc 0\n"
    "[1]\t\"H-0000000000100000\"[1](100001) \t\t# \"node01\" lid 0 4xSDR\n"
    "[2]\t\"H-0000000000100002\"[1](100003) \t\t# \"node02\" lid 0 4xSDR\n"
    "[33]\t\"S-0000000000200002\"[1]\t\t# \"spine1\" lid 0 4xSDR\n"
    "[34]\t\"S-0000000000200003\"[1]\t\t# \"spine2\" lid 0 4xSDR\n"
    "Ca\t1 \"H-0000000000100006\"\t\t# \"node04\"\n"
    "[1](100007) \t\"S-0000000000200001\"[2]\t\t# lid 0 lmc 0 \"leaf2\" lid 0 4xSDR\n"
    "Ca\t1 \"H-0000000000100004\"\t\t# \"node03\"\n"
    "[1](100005) \t\"S-0000000000200001\"[1]\t\t# lid 0 lmc 0 \"leaf2\" lid 0 4xSDR\n"
    "Ca\t1 \"H-0000000000100002\"\t\t# \"node02\"\n"
    "[1](100003) \t\"S-0000000000200000\"[2]\t\t# lid 0 lmc 0 \"leaf1\" lid 0 4xSDR\n"
    "Ca\t1 \"H-0000000000100000\"\t\t# \"node01\"\n"
    "[1](100001) \t\"S-0000000000200000\"[1]\t\t# lid 0 lmc 0 \"leaf1\" lid 0 4xSDR\n";
constexpr const char* kReport =
    "CA     0  1 0x0000000000100007 4x SDR - SW     0  2 0x0000000000200001 ( 'node04' - 'leaf2' )\n"
    "CA     0  1 0x0000000000100005 4x SDR - SW     0  1 0x0000000000200001 ( 'node03' - 'leaf2' )\n"
    "SW     0 36 0x0000000000200001 4x SDR                                    'leaf2'\n"
    "SW     0 34 0x0000000000200001 4x SDR - SW     0  2 0x0000000000200003 ( 'leaf2' - 'spine2' )\n"
    "SW     0 33 0x0000000000200001 4x SDR - SW     0  2 0x0000000000200002 ( 'leaf2' - 'spine1' )\n"
    "SW     0  2 0x0000000000200001 4x SDR - CA     0  1 0x0000000000100007 ( 'leaf2' - 'node04' )\n"
    "SW     0  1 0x0000000000200001 4x SDR - CA     0  1 0x0000000000100005 ( 'leaf2' - 'node03' )\n"
    "SW     0  2 0x0000000000200003 4x SDR - SW     0 34 0x0000000000200001 ( 'spine2' - 'leaf2' )\n"
    "SW     0  1 0x0000000000200003 4x SDR - SW     0 34 0x0000000000200000 ( 'spine2' - 'leaf1' )\n"
    "SW     0  2 0x0000000000200002 4x SDR - SW     0 33 0x0000000000200001 ( 'spine1' - 'leaf2' )\n"
    "SW     0  1 0x0000000000200002 4x SDR - SW     0 33 0x0000000000200000 ( 'spine1' - 'leaf1' )\n"
    "CA     0  1 0x0000000000100003 4x SDR - SW     0  2 0x0000000000200000 ( 'node02' - 'leaf1' )\n"
    "SW     0 34 0x0000000000200000 4x SDR - SW     0  1 0x0000000000200003 ( 'leaf1' - 'spine2' )\n"
    "SW     0 33 0x0000000000200000 4x SDR - SW     0  1 0x0000000000200002 ( 'leaf1' - 'spine1' )\n"
    "SW     0  2 0x0000000000200000 4x SDR - CA     0  1 0x0000000000100003 ( 'leaf1' - 'node02' )\n"
    "SW     0  1 0x0000000000200000 4x SDR - CA     0  1 0x0000000000100001 ( 'leaf1' - 'node01' )\n"
    "CA     0  1 0x0000000000100001 4x SDR - SW     0  1 0x0000000000200000 ( 'node01' - 'leaf1' )\n";

}  // namespace

TEST_CASE("ibnetdiscover: sections and the report of ports say the same") {
  CHECK(is_ib_network(kSections));
  CHECK(is_ib_network(kReport));
  CHECK_FALSE(is_ib_network("CA 1 2 three"));
  const FileReading sections = read_ib(kSections), report = read_ib(kReport);
  CHECK(report.facts ==
        std::vector<std::string>{"4 NICs of 4 nodes at 2 leaf switches of 4, levels of switches: 2"});
  CHECK(report.facts == sections.facts);
  CHECK(report.unmodelled.empty());
  const FabricSpec fabric = fabric_of(report);
  CHECK(fabric.tree == fabric_of(sections).tree);
  CHECK(fabric.nic.raw == fabric_of(sections).nic.raw);
  CHECK(fabric.tree.leaf_nics == 2);
  CHECK(fabric.tree.spines == 2);
  CHECK(fabric.nic.raw.value == near(1e9));  // four lanes of 2.5 Gb/s, less their encoding
}

TEST_CASE("ibnetdiscover: what is wrong with a report of ports is said where it is") {
  CHECK(ib_refusal(with(kReport, "4x SDR", "4x ABC")) ==
        Part{"net.txt:1:1: port: must read as: SW 5 1 0x0002c903.. 4x NDR"});
  const std::string text = kReport;
  const std::string first = text.substr(text.find("\nSW     0  2") + 1);
  CHECK(ib_refusal(text + first.substr(0, first.find('\n') + 1)) == Part{"port: 2 is listed already"});
  CHECK(ib_refusal(text.substr(0, text.find("SW     0  2 0x0000000000200002 4x"))) ==
        Part{"'0x0000000000200002' at one of its ports is not in the file, which may end too early"});
}

TEST_CASE("ibnetdiscover: rates between generations scale the older one") {
  const FabricSpec fabric = fabric_of(read_ib(network(2, 2, 2, true, "2xNDR")));
  CHECK(fabric.nic.raw.value == near(25e9));
  CHECK(fabric_of(read_ib(network(2, 2, 2, true, "4xFDR"))).nic.raw.value == near(54.56e9 / 8));
  CHECK(fabric_of(read_ib(network(2, 2, 2, true, "4xHDR s=32 w=2 v=4"))).nic.raw.value ==
        near(25e9));  // --full
}

TEST_CASE("ibnetdiscover: spines below cores are pods") {
  // Two pods of network(2, 2, 1): their spines get a link to one core each.
  const auto pod = [](const std::string& digit) {
    std::string text = network(2, 2, 1, true);
    for (const std::string& kind : {std::string("\"S-0000"), std::string("\"H-0000"), std::string("\"node")}) {
      for (std::size_t at = text.find(kind); at != std::string::npos;
           at = text.find(kind, at + kind.size() + 1))
        text.insert(at + kind.size(), digit), text.erase(at + kind.size() + 1, kind == "\"node" ? 0 : 1);
    }
    return text;
  };
  std::string text = pod("1") + pod("2");
  std::string core = "Switch\t64 \"S-c\"\t\t# \"core\" lid 9\n";
  int port = 0;
  for (const char* const digit : {"1", "2"}) {
    for (const char* const spine : {"1f4", "1f5"}) {
      const std::string id = fmt::format("\"S-0000{}00000000{}\"", digit, spine);
      const std::size_t at = text.find("Switch\t64 " + id);
      REQUIRE(at != std::string::npos);
      text.insert(text.find('\n', at) + 1, "[60]\t\"S-c\"[1]\t\t# \"core\" lid 9 4xNDR\n");
      core += fmt::format("[{}]\t{}[60]\t\t# \"spine\" lid 1 4xNDR\n", ++port, id);
    }
  }
  const FabricSpec fabric = fabric_of(read_ib(text + core));
  CHECK(fabric.tree.levels == 3);
  CHECK(fabric.tree.pod_leaves == 2);
  CHECK(fabric.tree.spines == 2);
  CHECK(fabric.tree.spine_cores == 1);
  CHECK(fabric.tree.leaf_oversubscription == 2.0);  // four NICs, two uplinks
  CHECK(fabric.tree.pod_oversubscription == 2.0);   // a spine: two leaves, one core
}

TEST_CASE("ibnetdiscover: what is wrong with a network is said where it is") {
  const std::string text = network(2, 2, 1, true);
  CHECK(ib_refusal(with(text, "4xNDR", "4xABC")) ==
        Part{"net.txt:8:1: port: must read as: [2] \"H-0002c903..\"[1] # \"node01 HCA-1\" lid 5 4xNDR"});
  CHECK(ib_refusal(with(text, "[2]\t", "[1]\t")) == Part{"port: 1 is listed already"});
  CHECK(ib_refusal(text.substr(0, text.find("Switch\t64 \"S-00000000000001f4\""))) ==
        Part{"'S-00000000000001f4' at one of its ports is not in the file, which may end too early"});
  CHECK(ib_refusal(text + text) == Part{"Switch: 'S-0000000000000000' has a section already"});
  CHECK(ib_refusal("Switch\t36 \"S-1\"\n") == "net.txt:1:1: Switch: no switch has a NIC");
  CHECK(ib_refusal("Switch\t36 \"H-1\"\n") == Part{"Switch: must read as: Switch 36"});
  CHECK(ib_refusal("") == "net.txt:1:1: Switch: the file has none");
  CHECK(ib_refusal(
            "Switch 2 \"S-1\"\n[1] \"H-1\"[1] # \"a b\" lid 1 4xHDR\n[2] \"S-2\"[2] # \"c\" lid 2 4xHDR\n"
            "Switch 2 \"S-2\"\n[1] \"H-2\"[1] # \"d e\" lid 3 4xHDR\n[2] \"S-1\"[2] # \"f\" lid 4 4xHDR\n") ==
        Part{"several switches have NICs and none joins them"});
}

TEST_CASE("no mutation of a file of switches crashes, hangs or throws anything but a ConfigError") {
  check_mutations(kSlurm, [](const ForeignFile& file) { read_slurm_topology(file); });
  check_mutations(network(2, 2, 1, true), [](const ForeignFile& file) { read_ib_network(file); });
}

}  // namespace c3::machines_fabric_test
