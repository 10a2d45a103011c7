// Topologies of NCCL and RCCL as nodes.

#include <doctest/doctest.h>

#include <algorithm>
#include <sstream>

#include "collectives/library/published_figures.hpp"
#include "importers/machines/nccl_topology.hpp"
#include "interconnect/wiring.hpp"
#include "tests/support/read_machines.hpp"

namespace c3::machines_nccl_test {

using namespace test;

namespace {

/// Two processors, each with a switch that two GPUs and a NIC share. %LINKS% are those of GPU 0.
constexpr const char* kFourGpus = R"(<?xml version="1.0"?>
<system version="1">
  <cpu numaid="1" arch="x86_64" vendor="GenuineIntel" familyid="6" modelid="143">
    <pci busid="0000:80:00.0" class="0x060400" link_speed="32.0 GT/s PCIe" link_width="16">
      <pci busid="0000:81:00.0" class="0x030200" vendor="0x10de" device="0x2330" link_speed="32.0 GT/s PCIe" link_width="16">
        <gpu dev="2" sm="90" rank="2" gdr="1"><nvlink target="ffffff:ffff:ff" count="18" tclass="0x068000"/></gpu>
      </pci>
      <pci busid="0000:82:00.0" class="0x030200" vendor="0x10de" device="0x2330" link_speed="32.0 GT/s PCIe" link_width="16">
        <gpu dev="3" sm="90" rank="3" gdr="1"><nvlink target="ffffff:ffff:ff" count="18" tclass="0x068000"/></gpu>
      </pci>
      <pci busid="0000:83:00.0" class="0x020700" vendor="0x15b3" device="0x1021" link_speed="32.0 GT/s PCIe" link_width="16">
        <nic><net name="mlx5_1" dev="1" speed="400000" port="1" guid="0x2"/></nic>
      </pci>
    </pci>
  </cpu>
  <cpu numaid="0" arch="x86_64" vendor="GenuineIntel" familyid="6" modelid="143">
    <pci busid="0000:10:00.0" class="0x060400" link_speed="32.0 GT/s PCIe" link_width="16">
      <pci busid="0000:11:00.0" class="0x030200" vendor="0x10de" device="0x2330" link_speed="32.0 GT/s PCIe" link_width="16">
        <gpu dev="0" sm="90" rank="0" gdr="1">%LINKS%</gpu>
      </pci>
      <pci busid="0000:12:00.0" class="0x030200" vendor="0x10de" device="0x2330" link_speed="32.0 GT/s PCIe" link_width="16">
        <gpu dev="1" sm="90" rank="1" gdr="1"><nvlink target="ffffff:ffff:ff" count="18" tclass="0x068000"/></gpu>
      </pci>
      <pci busid="0000:13:00.0" class="0x020700" vendor="0x15b3" device="0x1021" link_speed="32.0 GT/s PCIe" link_width="16">
        <nic><net name="mlx5_0" dev="0" speed="400000" port="1" guid="0x1"/></nic>
      </pci>
    </pci>
  </cpu>
</system>
)";
constexpr const char* kAllLinks = R"(<nvlink target="ffffff:ffff:ff" count="18" tclass="0x068000"/>)";

/// Two cards behind one switch of one processor, of which the file names chip and units only.
constexpr const char* kTwoCards = R"(<system version="2">
  <cpu numaid="0" vendor="AuthenticAMD" familyid="25" modelid="1">
    <pci busid="0000:01:00.0" class="0x060400" link_speed="16 GT/s" link_width="16">
      <pci busid="0000:03:00.0" class="0x038000" link_speed="16 GT/s" link_width="8">
        <gpu dev="0" sm="104" gcn="910" rank="0"><xgmi target="0000:04:00.0" count="3" tclass="0x038000"/></gpu>
      </pci>
      <pci busid="0000:04:00.0" class="0x038000" link_speed="16 GT/s" link_width="16">
        <gpu dev="1" sm="104" gcn="910" rank="1"><xgmi target="0000:03:00.0" count="3" tclass="0x038000"/></gpu>
      </pci>
    </pci>
  </cpu>
</system>
)";

std::string replaced(std::string text, const std::string& part, const std::string& instead) {
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + instead.size()))
    text.replace(at, part.size(), instead);
  return text;
}

std::string four_gpus(const std::string& links = kAllLinks) { return replaced(kFourGpus, "%LINKS%", links); }

FileReading read(const std::string& text) { return read_nccl_topology({"topo.xml", text}); }

std::string refusal(const std::string& text) {
  return error_of([&] { read(text); });
}

template <class Entry>
bool says(const std::vector<Entry>& entries, const std::string& part) {
  return std::ranges::any_of(entries, [&](const Entry& entry) {
    if constexpr (requires { entry.why; })
      return entry.why.find(part) != std::string::npos;
    else
      return entry.what.find(part) != std::string::npos;
  });
}

}  // namespace

TEST_CASE("a topology is known by its outermost element") {
  CHECK(is_nccl_topology(four_gpus()));
  CHECK(is_nccl_topology("\xEF\xBB\xBF<!-- of a vendor --><system/>"));
  CHECK_FALSE(is_nccl_topology("<topology/>"));
  CHECK_FALSE(is_nccl_topology("system"));
  CHECK_FALSE(is_nccl_topology("<!-- <system> "));
  CHECK_FALSE(is_nccl_topology(""));
}

TEST_CASE("GPUs on a switch of their own are a switched node with the NICs of the file") {
  using namespace literals;
  const FileReading reading = read(four_gpus());
  REQUIRE(reading.taken.size() == 1);
  CHECK(reading.taken[0].key == "system");
  CHECK(reading.taken[0].value == "\"topo\"");
  CHECK(reading.assumed.empty());
  CHECK(says(reading.ignored, "not modelled: which GPUs and NICs share a switch"));
  CHECK(reading.facts == std::vector<std::string>{"4 GPUs (h100-sxm), joined as switched",
                                                  "2 NUMA nodes, PCIe switches: 2", "2 NICs of 400 Gb/s"});
  const ReadPresets presets(reading);
  const ClusterSpec cluster = ReadPresets::cluster(reading, 2);
  CHECK(cluster.gpu.name == "h100-sxm");
  CHECK(cluster.node.topology == NodeTopology::switched);
  CHECK(cluster.node.switch_reduces);
  CHECK(cluster.node.gpus == 4);
  CHECK(cluster.node.link.raw == 450.0_GBps);
  CHECK(cluster.node.nic_slots == 2);
  CHECK(cluster.node.pcie.raw == 63.0_GBps);
  CHECK(cluster.fabric->name == "ib-ndr");
  CHECK(cluster.fabric->nics_per_node == 2);
}

TEST_CASE("hubs, GPUs and NICs are where the file has them, GPUs in the order of their ranks") {
  FileReading reading;
  Machine machine = read_nccl_machine({"topo.xml", four_gpus()}, reading);
  prune_hubs(machine);
  REQUIRE(machine.hubs.size() == 4);
  CHECK(machine.hubs[0].name == "cpu0");
  CHECK(machine.hubs[1].name == "sw0");
  CHECK(machine.hubs[1].parent == 0);
  CHECK(machine.hubs[3].parent == 2);
  CHECK(machine.hubs[3].up == PcieLink{5, 16});
  REQUIRE(machine.gpus.size() == 4);
  CHECK(machine.gpus[0].name == "0000:11:00.0");
  CHECK(machine.gpus[0].hub == 1);
  CHECK(machine.gpus[3].hub == 3);
  REQUIRE(machine.nics.size() == 2);
  CHECK(machine.nics[0].hub == 1);
  CHECK(machine.nics[1].gigabits == 400);
  CHECK(machine.links.size() == 4);
}

TEST_CASE("a GPU with fewer links than others is what all are taken to be, and that is said") {
  using namespace literals;
  const FileReading reading =
      read(four_gpus(R"(<nvlink target="ffffff:ffff:ff" count="9" tclass="0x068000"/>)"));
  CHECK(says(reading.unmodelled, "GPU 0000:11:00.0 has 9 links to the switch and others up to 18"));
  const ReadPresets presets(reading);
  CHECK(ReadPresets::cluster(reading, 1).node.link.raw == 225.0_GBps);
  CHECK(refusal(four_gpus("")) == Part{"GPU 0000:11:00.0 has no link to the switch, and others have 18"});
}

TEST_CASE("links of two cards are counted, and a die of MI250 is MI210's") {
  using namespace literals;
  const FileReading reading = read(kTwoCards);
  CHECK(says(reading.assumed, "a die of MI250 has"));
  const ReadPresets presets(reading);
  const ClusterSpec cluster = ReadPresets::cluster(reading, 1);
  CHECK(cluster.gpu.name == "mi210");
  CHECK(cluster.node.topology == NodeTopology::wired);
  CHECK(cluster.node.wires == std::vector<Wire>{{.a = 0, .b = 1, .count = 3}});
  CHECK(cluster.node.link.raw == 50.0_GBps);
}

TEST_CASE("cards without links of their own are wired over PCIe, each link at its own rate") {
  using namespace literals;
  const std::string apart =
      replaced(replaced(kTwoCards, R"(<xgmi target="0000:04:00.0" count="3" tclass="0x038000"/>)", ""),
               R"(<xgmi target="0000:03:00.0" count="3" tclass="0x038000"/>)", "");
  const FileReading reading = read(apart);
  const ReadPresets presets(reading);
  const NodeSpec node = ReadPresets::cluster(reading, 1).node;
  CHECK(node.hubs == std::vector<std::string>{"cpu0"});  // the only switch stands for the processor
  CHECK(node.host.p2p == P2pReach::host);
  REQUIRE(node.wires.size() == 2);
  CHECK(link_of(node, node.wires[0]).raw == 15.75_GBps);  // 8 lanes
  CHECK(link_of(node, node.wires[1]).raw == 31.5_GBps);
}

TEST_CASE("a link whose ends disagree has the smaller number, and one to elsewhere is left out") {
  const std::string text =
      replaced(kTwoCards, R"(target="0000:04:00.0" count="3")", R"(target="0000:04:00.0" count="2")");
  const FileReading reading = read(text);
  CHECK(says(reading.ignored, "the two ends disagree"));
  CHECK(reading.presets[0].text == Part{"gpu0 - gpu1 x2"});
  const std::string self = replaced(kTwoCards, R"(target="0000:04:00.0")", R"(target="0000:03:00.0")");
  CHECK(says(read(self).ignored, "it joins nothing"));
  const std::string gone = replaced(kTwoCards, R"(target="0000:04:00.0")", R"(target="0000:77:00.0")");
  CHECK(says(read(gone).ignored, "that GPU is not in the file"));
}

TEST_CASE("NICs of a rate that no fabric has are a fabric of their own, and more of them than GPUs are said") {
  using namespace literals;
  const FileReading slow = read(replaced(four_gpus(), "400000", "10000"));
  REQUIRE(slow.presets.size() == 2);
  CHECK(slow.presets[0].path == "fabrics/topo.toml");
  {
    const ReadPresets presets(slow);
    CHECK(ReadPresets::cluster(slow, 2).fabric->nic.raw == 1.25_GBps);
  }
  std::string nets;
  for (int dev = 0; dev < 6; ++dev)
    nets += "<net name=\"n" + std::to_string(dev) + "\" dev=\"" + std::to_string(dev) + "\" speed=\"100000\"/>";
  const std::string text =
      replaced(four_gpus(), R"(<net name="mlx5_0" dev="0" speed="400000" port="1" guid="0x1"/>)", nets);
  const FileReading many = read(replaced(text, R"(dev="1" speed="400000")", R"(dev="9" speed="100000")"));
  REQUIRE(many.taken.size() == 2);
  CHECK(many.taken[1].key == "fabric.nics");
  CHECK(many.taken[1].value == "7");
}

TEST_CASE("rates that nothing can mean are corrected and said") {
  const FileReading idle = read(replaced(four_gpus(), "32.0 GT/s PCIe", "2.5 GT/s PCIe"));
  CHECK(says(idle.ignored, "idle cards and emulated bridges"));
  CHECK(idle.presets[0].text == Part{"pcie_raw = { value = \"63 GB/s\""});
  const FileReading above = read(replaced(four_gpus(), "32.0 GT/s PCIe", "64.0 GT/s PCIe"));
  CHECK(says(above.ignored, "the GPU's own end is PCIe 5.0"));
}

TEST_CASE("what is wrong with a topology is said where it is, all at once") {
  CHECK(refusal("<system>\n") ==
        Part{"topo.xml:1:9: XML: cannot be read: Start-end tags mismatch; the file may end too early"});
  CHECK(refusal("<system></cpu>") == Part{"topo.xml:1:"});
  CHECK(refusal("") == Part{"topo.xml:1:1: XML: cannot be read: No document element found"});
  CHECK(refusal("<system/><system/>") == Part{"topo.xml:1:11: system: a second outermost element"});
  CHECK(refusal("<!DOCTYPE system [<!ENTITY a \"b\">]>\n<system/>") ==
        Part{"topo.xml:1:1: DOCTYPE: document types and entities are not read"});
  std::string deep = "<system><cpu>";
  for (int level = 0; level < 70; ++level)
    deep += "<pci>";
  for (int level = 0; level < 70; ++level)
    deep += "</pci>";
  CHECK(refusal(deep + "</cpu></system>") == Part{"nested deeper than 64 levels"});
  CHECK(refusal("<system/>") == "topo.xml:1:1: gpu: the file has no GPU");
  CHECK(refusal("<system><node/><cpu><gpus/></cpu></system>") ==
        "topo.xml:1:10: node: there is no such element here; allowed: cpu\n"
        "topo.xml:1:22: gpus: there is no such element here; allowed: pci, nic");
  CHECK(refusal(replaced(four_gpus(), "\"32.0 GT/s PCIe\"", "\"20 GT/s\"")) ==
        Part{"link_speed: '20 GT/s' is not a rate of PCIe: 2.5, 5, 8, 16, 32 or 64 GT/s"});
  CHECK(refusal(replaced(four_gpus(), "link_width=\"16\"", "link_width=\"15\"")) ==
        Part{"link_width: 15 is not a width of PCIe"});
  CHECK(refusal(replaced(four_gpus(), "rank=\"0\"", "rank=\"a\"")) ==
        Part{"rank: 'a' is not a whole number of at most 1000000"});
  CHECK(refusal(replaced(four_gpus(), "0000:12:00.0", "0000:11:00.0")) ==
        Part{"busid: '0000:11:00.0' is that of another GPU, too"});
  CHECK(refusal(replaced(four_gpus(), "device=\"0x2330\"", "")) ==
        Part{"gpu: the file does not say which GPU the machine has"});
  CHECK(refusal(replaced(four_gpus(), "0x2330", "0x2237")) ==
        Part{"gpu: the GPU is A10G, of which c3sim has no preset"});
  CHECK(refusal(replaced(four_gpus(), "0x2330", "0xffff")) == Part{"the GPU is PCI id 10de:ffff, of which"});
  CHECK(refusal(replaced(four_gpus(), "0x2330", "0x1eb8")) ==
        Part{"the GPU is Tesla T4 (preset t4), for which c3sim has no node"});
  CHECK(refusal("<system><cpu><pci busid=\"0000:01:00.0\"/></cpu></system>") ==
        Part{"class: is missing: 0x030200 is a GPU"});
}

TEST_CASE("no mutation of a topology crashes, hangs or throws anything but a ConfigError") {
  check_mutations(four_gpus(), [](const ForeignFile& file) { read_nccl_topology(file); });
  check_mutations(kTwoCards, [](const ForeignFile& file) { read_nccl_topology(file); });
}

namespace {

/// Counted by hand in the file.
struct Counted {
  std::string file;
  std::size_t gpus, nics, processors;
  int switches;        ///< that several GPUs or NICs share
  std::size_t links;   ///< pairs of GPUs with links of their own
  int links_of_first;  ///< all that the first GPU has
};

}  // namespace

TEST_CASE("files that NCCL, RCCL and clouds publish are read whole") {
  for (const Counted& counted : std::vector<Counted>{
           {"azure-ndv2-topo.xml", 8, 1, 2, 0, 0, 0},
           {"azure-ndv4-topo.xml", 8, 8, 4, 4, 0, 0},
           {"azure-ndv5-topo.xml", 8, 8, 2, 8, 0, 0},
           {"azure-ncv4-topo.xml", 4, 1, 4, 0, 0, 0},
           {"aws-p4d-24xl-topo.xml", 8, 4, 2, 4, 0, 0},
           {"aws-g5.48xl-topo.xml", 8, 1, 2, 0, 0, 0},
           {"rccl-topo_16p1h.xml", 16, 8, 4, 12, 28, 7},
           {"rccl-topo_4p4h.xml", 16, 16, 1, 18, 24, 3},
           {"rccl-topo_8p_90a.xml", 8, 1, 1, 0, 12, 3},
           {"rccl-topo_8p_940.xml", 8, 8, 2, 8, 28, 7},
           {"rccl-topo_8p_pcie_2nic.xml", 8, 2, 1, 2, 0, 0},
           {"rccl-topo_8p_rome_4nics.xml", 8, 4, 4, 4, 12, 3},
       }) {
    const std::optional<ForeignFile> file = measured_file("topology/" + counted.file);
    if (!file) return;
    CAPTURE(counted.file);
    FileReading reading;
    Machine machine = read_nccl_machine(*file, reading);
    CHECK(machine.gpus.size() == counted.gpus);
    CHECK(machine.nics.size() == counted.nics);
    CHECK(machine.links.size() == counted.links);
    int of_first = 0;
    for (const GpuLink& link : machine.links)
      of_first += link.a == 0 ? link.count : 0;
    CHECK(of_first == counted.links_of_first);
    prune_hubs(machine);
    CHECK(switch_count(machine) == counted.switches);
    CHECK(machine.hubs.size() - static_cast<std::size_t>(switch_count(machine)) == counted.processors);
    const std::string missing = error_of([&] { read_nccl_topology(*file); });
    const bool has_preset =
        counted.file != "aws-g5.48xl-topo.xml" && counted.file != "rccl-topo_8p_pcie_2nic.xml";
    CHECK((missing == "no error") == has_preset);
    if (!has_preset) continue;
    const FileReading node = read_nccl_topology(*file);
    const ReadPresets presets(node);
    CHECK(ReadPresets::cluster(node, 2).node.gpus == static_cast<int>(counted.gpus));
  }
}

namespace {

/// A case of graphs.csv, and the file of its machine.
struct Searched {
  std::string file, label;
  int nodes;
  /// Since NCCL 2.20 a ring leaves by its last GPU's own NIC (cross_nic 2) and so reaches 48 GB/s. c3sim's
  /// search closes each ring at its first GPU, as older releases do, and finds 45.
  bool crosses_nics = false;
};

/// Channels and rates of \p graph in the row of \p searched; none: there is no such row.
SearchedGraph published_graph(const std::string& csv, const Searched& searched, const std::string& graph) {
  std::istringstream in(csv);
  const std::string begin = searched.label + "," + std::to_string(searched.nodes) + "," + graph + ",";
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with(begin)) continue;
    std::ranges::replace(line, ',', ' ');
    std::istringstream fields(line.substr(begin.size()));
    int pattern = 0;
    int cross_nic = 0;
    SearchedGraph found;
    fields >> pattern >> cross_nic >> found.channels >> found.intra >> found.inter;
    return found;
  }
  return {};
}

}  // namespace

TEST_CASE("on published files c3sim's search finds the rings, trees and NVLS channels of NCCL's own") {
  const std::optional<ForeignFile> graphs = measured_file("nccl_choices/graphs.csv");
  if (!graphs) return;
  for (const Searched& searched : std::vector<Searched>{{"azure-ndv2-topo.xml", "DGX-1 V100", 1},
                                                        {"azure-ndv4-topo.xml", "A100x8 (AMD host)", 1},
                                                        {"azure-ndv4-topo.xml", "4xA100x8 8x200G AMD", 4},
                                                        {"azure-ndv5-topo.xml", "H100x8", 1},
                                                        {"azure-ndv5-topo.xml", "2xH100x8 8x400G", 2, true},
                                                        {"azure-ndv5-topo.xml", "4xH100x8 8x400G", 4, true},
                                                        {"azure-ndv5-topo.xml", "16xH100x8 8x400G", 16, true},
                                                        {"aws-p4d-24xl-topo.xml", "4x AWS p4d", 4}}) {
    CAPTURE(searched.label);
    const std::optional<ForeignFile> file = measured_file("topology/" + searched.file);
    if (!file) return;
    const FileReading reading = read_nccl_topology(*file);
    const ReadPresets presets(reading);
    const ClusterSpec cluster = ReadPresets::cluster(reading, searched.nodes);
    const CollectiveCall call{.kind = CollectiveKind::all_reduce, .bytes = Bytes{1e9}};
    const SearchedGraphs found = PublishedFigures(call, cluster).graphs;
    const SearchedGraph ring = published_graph(graphs->text, searched, "ring");
    CHECK(found.ring == (searched.crosses_nics ? SearchedGraph{8, 45, 45} : ring));
    CHECK(ring.inter == (searched.crosses_nics ? 48 : found.ring.inter));
    CHECK(found.tree == published_graph(graphs->text, searched, "tree"));
    CHECK(found.nvls == published_graph(graphs->text, searched, "nvls"));
  }
}

}  // namespace c3::machines_nccl_test
