#include "importers/machines/hwloc_topology.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <pugixml.hpp>
#include <set>
#include <utility>

#include "importers/machines/node_preset.hpp"
#include "importers/machines/preset_values.hpp"
#include "importers/machines/xml_file.hpp"

namespace c3 { inline namespace importers {
namespace {

constexpr std::string_view kDoctype = "topology SYSTEM \"hwloc2.dtd\"";
constexpr std::size_t kMostMistakes = 20;

/// Attributes and values: open-mpi/hwloc, hwloc/topology-xml.c at c861d32d, include/hwloc.h.
constexpr std::string_view kBridge = "Bridge";
constexpr std::string_view kFunction = "PCIDev";
constexpr std::string_view kDevice = "OSDev";
constexpr std::string_view kOpenFabrics = "3";  // osdev_type

/// Class and ids of a PCI function, as "0302 [10de:2330] [10de:16c1] a1".
struct PciType {
  std::string_view pci_class;  ///< four digits
  std::string_view vendor;
  std::string_view device;
};

bool is_hex(std::string_view text) {
  return std::ranges::all_of(
      text, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); });
}

/// Empty members where \p text is not of that form.
PciType pci_type(std::string_view text) {
  constexpr std::size_t kEnd = 16;  // length of "0302 [10de:2330]"
  if (text.size() < kEnd || text.substr(4, 2) != " [" || text[10] != ':' || text[15] != ']') return {};
  const PciType type{text.substr(0, 4), text.substr(6, 4), text.substr(11, 4)};
  return is_hex(type.pci_class) && is_hex(type.vendor) && is_hex(type.device) ? type : PciType{};
}

/// PCIe that comes nearest to a rate, GB/s; of links alike the one with most lanes. hwloc takes PCIe 6.0 for 4
/// % slower than others do.
PcieLink link_of_rate(double rate) {
  constexpr int kNewest = 6;
  double least = 0.05;  // what counts as near, of the rate
  PcieLink nearest;
  for (const int lanes : {16, 8, 4, 2, 1, 32}) {
    for (int generation = 1; generation <= kNewest; ++generation) {
      const double off = std::abs(raw_rate({generation, lanes}) / rate - 1.0);
      if (off >= least) continue;
      least = off;
      nearest = {generation, lanes};
    }
  }
  return nearest;
}

class HwlocReader {
 public:
  HwlocReader(const XmlFile& xml, FileReading& reading) : xml_(xml), reading_(reading) {}

  Machine read() && {
    check_version();
    for (const pugi::xml_node node : xml_.root().children()) {
      if (is_object(node))
        read_object(node);
      else if (node.type() == pugi::node_element)
        ignore_other(node);
    }
    choose_nics();
    name_gpus();
    if (!mistakes_.empty()) throw ConfigError(mistakes_);
    say_ignored();
    return std::move(machine_);
  }

 private:
  static bool is_object(const pugi::xml_node& node) { return std::string_view(node.name()) == "object"; }
  static std::string_view type_of(const pugi::xml_node& node) { return node.attribute("type").value(); }

  void fail(const pugi::xml_node& node, std::string_view key, std::string_view message) {
    if (mistakes_.size() < kMostMistakes) mistakes_.emplace_back(xml_.place(node, key), key, message);
  }

  void check_version() const {
    const std::string_view version = xml_.root().attribute("version").value();
    if (version.starts_with("2.")) return;
    throw ConfigError(
        xml_.place(xml_.root()), "version",
        fmt::format("'{}' is not 2.0 or another of hwloc 2; lstopo of hwloc 2 writes such a file", version));
  }

  void ignore_other(const pugi::xml_node& node) {
    const std::string_view name = node.name();
    if (!others_.insert(std::string(name)).second) return;
    const bool is_distances = name.starts_with("distances2");
    reading_.ignored.push_back({.from = std::string(name),
                                .why = is_distances ? "not modelled: rates that hwloc found between objects"
                                                    : "it changes nothing that is simulated"});
  }

  /// Reads a machine, a package, a core: whatever has no PCI function of its own. Host bridges are below the
  /// object to which they are near.
  void read_object(const pugi::xml_node& object) {
    int processor = -1;
    for (const pugi::xml_node child : object.children()) {
      if (std::string_view(child.name()) == "info") read_info(child);
      if (!is_object(child)) continue;
      if (type_of(child) != kBridge && type_of(child) != kFunction) {
        read_object(child);
        continue;
      }
      if (processor < 0) processor = add_hub(-1, {});
      read_io(child, processor);
    }
  }

  void read_info(const pugi::xml_node& info) {
    const std::string_view name = info.attribute("name").value();
    const std::string_view value = info.attribute("value").value();
    if (name == "CPUVendor") machine_.processor = value;
    if (name == "CPUFamilyNumber")
      std::from_chars(value.data(), value.data() + value.size(), machine_.processor_family);
    if (name == "CPUModelNumber")
      std::from_chars(value.data(), value.data() + value.size(), machine_.processor_model);
  }

  int add_hub(int parent, const PcieLink& up) {
    machine_.hubs.push_back({.name = {}, .parent = parent, .up = up});
    return static_cast<int>(machine_.hubs.size()) - 1;
  }

  void read_io(const pugi::xml_node& node, int hub) {
    if (type_of(node) == kFunction) {
      read_function(node, hub);
      return;
    }
    // A host bridge, "0-1", is a part of the processor.
    const bool is_host = std::string_view(node.attribute("bridge_type").value()).starts_with("0");
    const int below = is_host ? hub : add_hub(hub, link_of(node));
    for (const pugi::xml_node child : node.children()) {
      const bool is_io = type_of(child) == kBridge || type_of(child) == kFunction;
      if (is_object(child) && is_io) read_io(child, below);
    }
  }

  /// `pci_link_speed` in GB/s.
  PcieLink link_of(const pugi::xml_node& node) {
    const std::string_view text = node.attribute("pci_link_speed").value();
    if (text.empty()) return {};
    double rate = 0.0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), rate);
    constexpr double kMost = 1000.0;
    if (error != std::errc() || end != text.data() + text.size() || !(rate >= 0.0) || rate > kMost) {
      fail(node, "pci_link_speed", fmt::format("'{}' is not a rate in GB/s", text));
      return {};
    }
    return rate > 0.0 ? link_of_rate(rate) : PcieLink{};
  }

  void read_function(const pugi::xml_node& node, int hub) {
    const PciType type = pci_type(node.attribute("pci_type").value());
    const std::string bus = node.attribute("pci_busid").value();
    if (type.pci_class.empty())
      fail(node, "pci_type", "must read as '0302 [10de:2330] ..': class, vendor and device in hexadecimal");
    if (bus.empty()) fail(node, "pci_busid", "is missing");
    const bool is_makers = type.vendor == "10de" || type.vendor == "1002";
    const bool is_gpu = type.pci_class.starts_with("03") || type.pci_class.starts_with("12");
    if (is_gpu && is_makers) {
      gpus_.push_back({{.name = bus, .hub = hub, .up = link_of(node)},
                       fmt::format("{}:{}", type.vendor, type.device),
                       node});
    } else if (type.pci_class.starts_with("02")) {
      read_nic(node, type, {.name = bus, .hub = hub, .up = link_of(node)});
    }
  }

  void read_nic(const pugi::xml_node& node, const PciType& type, MachineNic nic) {
    bool is_rdma = false;
    for (const pugi::xml_node child : node.children()) {
      const bool is_device = is_object(child) && type_of(child) == kDevice;
      if (!is_device || child.attribute("osdev_type").value() != kOpenFabrics) continue;
      is_rdma = true;
      nic.name = child.attribute("name").value();
    }
    nics_.push_back({std::move(nic), is_rdma, type.pci_class == "0207"});
  }

  void choose_nics() {
    const bool any_rdma = std::ranges::any_of(nics_, &ReadNic::is_rdma);
    bool has_left_out = false;
    for (const ReadNic& one : nics_) {
      if (any_rdma ? one.is_rdma : one.is_infiniband) {
        if (machine_.nics.empty())
          machine_.nic_kind = one.is_infiniband ? NicKind::infiniband : NicKind::ethernet;
        machine_.nics.push_back(one.nic);
      } else {
        has_left_out = true;
      }
    }
    if (has_left_out)
      reading_.ignored.push_back(
          {.from = "network devices without OpenFabrics", .why = "GPUs do not use them"});
  }

  void name_gpus() {
    std::ranges::sort(gpus_, {}, [](const ReadGpu& one) { return one.gpu.name; });
    for (const ReadGpu& one : gpus_) {
      if (machine_.gpus.empty()) machine_.gpu.pci = one.pci;
      if (one.pci != machine_.gpu.pci)
        fail(one.node, "pci_type", "is another GPU than the first; a node's GPUs are alike");
      machine_.gpus.push_back(one.gpu);
    }
  }

  void say_ignored() {
    reading_.ignored.push_back({.from = "cores, caches and memory",
                                .why = "not modelled: on which cores processes run, and their caches"});
    if (!machine_.nics.empty())
      reading_.ignored.push_back({.from = "NICs", .why = "the file does not say how fast they are"});
  }

  struct ReadGpu {
    MachineGpu gpu;
    std::string pci;
    pugi::xml_node node;
  };
  struct ReadNic {
    MachineNic nic;
    bool is_rdma = false;
    bool is_infiniband = false;
  };

  const XmlFile& xml_;
  FileReading& reading_;
  Machine machine_;
  std::vector<ReadGpu> gpus_;
  std::vector<ReadNic> nics_;
  std::vector<ConfigError> mistakes_;
  std::set<std::string> others_;
};

}  // namespace

bool is_hwloc_topology(std::string_view text) {
  constexpr std::size_t kHead = 4096;  // what tells hwloc's from other topologies is at its begin
  return first_element(text) == "topology" &&
         text.substr(0, kHead).find("<object type=") != std::string_view::npos;
}

Machine read_hwloc_machine(const ForeignFile& file, FileReading& reading) {
  const XmlFile xml(file, kDoctype);
  return HwlocReader(xml, reading).read();
}

FileReading read_hwloc_topology(const ForeignFile& file) {
  FileReading reading{.file = file.name, .what = std::string(kHwlocTopologyFile)};
  Machine machine = read_hwloc_machine(file, reading);
  add_node(reading, std::move(machine), "topology", begin_of(file.name));
  return reading;
}

}}  // namespace c3::importers
