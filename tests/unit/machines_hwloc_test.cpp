// Topologies of hwloc as nodes.

#include <doctest/doctest.h>

#include <algorithm>

#include "importers/machines/hwloc_topology.hpp"
#include "interconnect/wiring.hpp"
#include "tests/support/read_machines.hpp"

namespace c3::machines_hwloc_test {

using namespace test;

namespace {

/// Two packages. At the first: a switch with a GPU and a NIC of InfiniBand, and the screen's chip. At the
/// second: a GPU at a root port of its own, and a NIC of Ethernet without OpenFabrics.
constexpr const char* kTwoPackages = R"(<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE topology SYSTEM "hwloc2.dtd">
<topology version="2.0">
  <object type="Machine" os_index="0">
    <info name="OSName" value="Linux"/>
    <object type="Package" os_index="0">
      <info name="CPUVendor" value="GenuineIntel"/>
      <info name="CPUFamilyNumber" value="6"/>
      <info name="CPUModelNumber" value="143"/>
      <object type="NUMANode" os_index="0" local_memory="1000"/>
      <object type="Core" os_index="0"><object type="PU" os_index="0"/></object>
      <object type="Bridge" bridge_type="0-1" depth="0" bridge_pci="0000:[00-10]">
        <object type="PCIDev" pci_busid="0000:01:00.0" pci_type="0300 [1a03:2000] [1a03:2000] 41"/>
        <object type="Bridge" bridge_type="1-1" pci_busid="0000:02:00.0" pci_type="0604 [1000:c030] [0000:0000] 00" pci_link_speed="31.507692">
          <object type="PCIDev" pci_busid="0000:05:00.0" pci_type="0302 [10de:26b9] [10de:1851] a1" pci_link_speed="31.507692">
            <object type="OSDev" name="cuda0" osdev_type="5"/>
          </object>
          <object type="PCIDev" pci_busid="0000:06:00.0" pci_type="0207 [15b3:1021] [15b3:0041] 00" pci_link_speed="31.507692">
            <object type="OSDev" name="ib0" osdev_type="2"/>
            <object type="OSDev" name="mlx5_0" osdev_type="3"/>
          </object>
        </object>
      </object>
    </object>
    <object type="Package" os_index="1">
      <object type="Bridge" bridge_type="0-1" depth="0" bridge_pci="0000:[80-90]">
        <object type="Bridge" bridge_type="1-1" pci_busid="0000:80:01.0" pci_type="0604 [8086:352a] [0000:0000] 00" pci_link_speed="15.753846">
          <object type="PCIDev" pci_busid="0000:81:00.0" pci_type="0302 [10de:26b9] [10de:1851] a1" pci_link_speed="31.507692"/>
        </object>
        <object type="PCIDev" pci_busid="0000:90:00.0" pci_type="0200 [8086:1593] [8086:0002] 02" pci_link_speed="0.000000">
          <object type="OSDev" name="eno1" osdev_type="2"/>
        </object>
      </object>
    </object>
  </object>
  <support name="discovery.pu"/>
</topology>
)";

std::string with(std::string text, const std::string& part, const std::string& instead) {
  const std::size_t at = text.find(part);
  REQUIRE(at != std::string::npos);
  return text.replace(at, part.size(), instead);
}

FileReading read(const std::string& text) { return read_hwloc_topology({"machine.xml", text}); }
std::string refusal(const std::string& text) {
  return error_of([&] { read(text); });
}

}  // namespace

TEST_CASE("hwloc's topologies are known by their objects") {
  CHECK(is_hwloc_topology(kTwoPackages));
  CHECK_FALSE(is_hwloc_topology("<topology name=\"another tool's\"/>"));
  CHECK_FALSE(is_hwloc_topology("<system/>"));
}

TEST_CASE("hwloc: packages are sockets, bridges with two devices are switches, root ports are not") {
  using namespace literals;
  const FileReading reading = read(kTwoPackages);
  CHECK(reading.facts ==
        std::vector<std::string>{"2 GPUs (l40s), joined as wired", "2 NUMA nodes, PCIe switches: 1", "1 NIC"});
  const ReadPresets presets(reading);
  const ClusterSpec cluster = ReadPresets::cluster(reading, 2);
  CHECK(cluster.gpu.name == "l40s");
  CHECK(cluster.node.hubs == std::vector<std::string>{"sw0", "cpu1", "cpu0"});
  CHECK(cluster.node.nic_at == std::vector<int>{2});  // sw0
  CHECK(cluster.node.host.between == 22.0_GBps);      // Xeon of the fourth generation
  REQUIRE(cluster.node.wires.size() == 4);
  CHECK(link_of(cluster.node, cluster.node.wires[0]).raw == 31.5_GBps);
  CHECK(link_of(cluster.node, cluster.node.wires[1]).raw == 15.75_GBps);  // the root port's, which is narrower
}

TEST_CASE("hwloc: without OpenFabrics, NICs of InfiniBand are taken") {
  FileReading reading;
  const std::string text = with(kTwoPackages, "<object type=\"OSDev\" name=\"mlx5_0\" osdev_type=\"3\"/>", "");
  const Machine machine = read_hwloc_machine({"machine.xml", text}, reading);
  REQUIRE(machine.nics.size() == 1);
  CHECK(machine.nics[0].name == "0000:06:00.0");
  CHECK(machine.nic_kind == NicKind::infiniband);
}

TEST_CASE("hwloc: what is wrong with a topology is said where it is") {
  CHECK(refusal(with(kTwoPackages, "version=\"2.0\"", "version=\"1.0\"")) ==
        Part{"machine.xml:3:2: version: '1.0' is not 2.0 or another of hwloc 2"});
  CHECK(refusal(with(kTwoPackages, "SYSTEM \"hwloc2.dtd\"", "[<!ENTITY a \"b\">]")) ==
        Part{"machine.xml:2:1: DOCTYPE: document types and entities are not read"});
  CHECK(refusal(with(kTwoPackages, "\"0302 [10de:26b9] [10de:1851] a1\"", "\"0302\"")) ==
        Part{"machine.xml:15:58: pci_type: must read as '0302 [10de:2330] ..'"});
  CHECK(refusal(with(kTwoPackages, "pci_busid=\"0000:05:00.0\" ", "")) == Part{"pci_busid: is missing"});
  CHECK(refusal(with(kTwoPackages, "15.753846", "fast")) ==
        Part{"pci_link_speed: 'fast' is not a rate in GB/s"});
  CHECK(refusal(with(kTwoPackages, "10de:26b9", "10de:27b8")) ==
        Part{"pci_type: is another GPU than the first; a node's GPUs are alike"});
  CHECK(refusal(std::string(kTwoPackages).substr(0, 900)) == Part{"XML: cannot be read"});
  CHECK(refusal(with(with(kTwoPackages, "10de:26b9", "1a03:2000"), "10de:26b9", "1a03:2000")) ==
        "machine.xml:1:1: gpu: the file has no GPU");
}

TEST_CASE("no mutation of hwloc's topology crashes, hangs or throws anything but a ConfigError") {
  check_mutations(kTwoPackages, [](const ForeignFile& file) { read_hwloc_topology(file); });
}

}  // namespace c3::machines_hwloc_test
