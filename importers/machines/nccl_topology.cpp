#include "importers/machines/nccl_topology.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <pugixml.hpp>
#include <tuple>
#include <utility>

#include "importers/machines/nccl_attributes.hpp"
#include "importers/machines/node_preset.hpp"
#include "importers/machines/preset_values.hpp"
#include "importers/machines/published_machines.hpp"
#include "importers/machines/xml_file.hpp"

namespace c3 { inline namespace importers {
namespace {

constexpr std::int64_t kMostDevice = 1'000'000;
constexpr std::int64_t kMostLinks = 64;
constexpr std::string_view kSwitchClass = "0680";

/// A GPU as the file has it, before they are put in order.
struct ReadGpu {
  MachineGpu gpu;
  std::int64_t rank = -1;
  std::int64_t device = -1;
  pugi::xml_node node;      ///< node of its PCI function
  pugi::xml_node gpu_node;  ///< empty: the file has only the PCI function
};

struct ReadNic {
  MachineNic nic;
  std::int64_t device = -1;
  pugi::xml_node node;  ///< node of its PCI function; empty for a virtual one
};

class TopologyReader {
 public:
  TopologyReader(const XmlFile& xml, FileReading& reading)
      : xml_(xml), reading_(reading), attributes_(xml, reading) {}

  Machine read() && {
    read_system(xml_.root());
    choose_devices();
    attributes_.finish();
    sort_devices();
    name_gpus();
    read_links();
    attributes_.finish();
    return std::move(machine_);
  }

 private:
  void read_system(const pugi::xml_node& system) {
    attributes_.note_ignored(system);
    std::vector<std::pair<std::int64_t, pugi::xml_node>> processors;
    for (const pugi::xml_node node : elements(system)) {
      if (std::string_view(node.name()) != "cpu")
        attributes_.refuse(node, "cpu");
      else
        processors.emplace_back(attributes_.number(node, "numaid", kMostDevice).value_or(-1), node);
    }
    std::ranges::stable_sort(processors, {}, [](const auto& one) { return one.first; });
    for (const auto& [number, node] : processors)
      read_processor(node);
  }

  void read_processor(const pugi::xml_node& node) {
    attributes_.note_ignored(node);
    machine_.processor = node.attribute("vendor").value();
    machine_.processor_family = static_cast<int>(attributes_.number(node, "familyid", kMostDevice).value_or(0));
    machine_.processor_model = static_cast<int>(attributes_.number(node, "modelid", kMostDevice).value_or(0));
    read_below(node, add_hub(-1, {}));
  }

  int add_hub(int parent, const PcieLink& up) {
    machine_.hubs.push_back({.name = {}, .parent = parent, .up = up});
    return static_cast<int>(machine_.hubs.size()) - 1;
  }

  /// PCI functions and virtual NICs of a processor or a bridge. XmlFile bounds the depth.
  void read_below(const pugi::xml_node& above, int hub) {
    for (const pugi::xml_node node : elements(above)) {
      const std::string_view name = node.name();
      if (name == "pci")
        read_pci(node, hub);
      else if (name == "nic")
        read_nets(node, hub, {});
      else if (name == "pcilink")
        attributes_.ignore("pcilink", "it joins parts of one PCIe switch");
      else if (name != "gpu")
        attributes_.refuse(node, "pci, nic");
    }
  }

  void read_pci(const pugi::xml_node& node, int hub) {
    attributes_.note_ignored(node);
    const PcieLink up = attributes_.pcie(node);
    int gpus = 0;
    bool is_nic = false;
    bool is_bridge = false;
    for (const pugi::xml_node child : elements(node)) {
      const std::string_view name = child.name();
      is_bridge |= name == "pci";
      if (name == "gpu") add_gpu(node, child, hub, up);
      if (name == "gpu" && ++gpus == 2)
        attributes_.fail(child, "gpu", "is a second one on the same device: parts of a GPU are not modelled");
      if (name == "nic") read_nets(child, hub, node);
      is_nic |= name == "nic";
      if (name != "pci" && name != "gpu" && name != "nic" && name != "pcilink")
        attributes_.refuse(child, "pci, gpu, nic");
    }
    if (is_bridge)
      read_bridge(node, hub, up);
    else if (gpus == 0 && !is_nic)
      read_bare(node, hub, up);
  }

  void read_bridge(const pugi::xml_node& node, int hub, const PcieLink& up) {
    const int bridge = add_hub(hub, up);
    for (const pugi::xml_node child : elements(node)) {
      if (std::string_view(child.name()) == "pci") read_pci(child, bridge);
    }
  }

  void add_gpu(const pugi::xml_node& pci, const pugi::xml_node& gpu, int hub, const PcieLink& up) {
    attributes_.note_ignored(gpu);
    gpus_.push_back({.gpu = {.name = attributes_.id(pci, "busid"), .hub = hub, .up = up},
                     .rank = attributes_.number(gpu, "rank", kMostDevice).value_or(-1),
                     .device = attributes_.number(gpu, "dev", kMostDevice).value_or(-1),
                     .node = pci,
                     .gpu_node = gpu});
  }

  void read_nets(const pugi::xml_node& nic, int hub, const pugi::xml_node& pci) {
    for (const pugi::xml_node net : elements(nic)) {
      if (std::string_view(net.name()) != "net") {
        attributes_.refuse(net, "net");
        continue;
      }
      attributes_.note_ignored(net);
      constexpr std::int64_t kFastest = 100'000'000;  // Mb/s
      constexpr double kMega = 1e-3;                  // Gb/s
      const auto megabits = static_cast<double>(attributes_.number(net, "speed", kFastest).value_or(0));
      nics_.push_back({.nic = {.name = net.attribute("name").value(),
                               .hub = hub,
                               .up = pci ? attributes_.pcie(pci) : PcieLink{},
                               .gigabits = megabits * kMega},
                       .device = attributes_.number(net, "dev", kMostDevice).value_or(-1),
                       .node = pci});
    }
  }

  /// A PCI function of which the file has no more than its class, as vendors' files do: NCCL asks the machine.
  void read_bare(const pugi::xml_node& node, int hub, const PcieLink& up) {
    const std::string pci_class = attributes_.id(node, "class");
    const std::string bus = attributes_.id(node, "busid");
    if (pci_class.starts_with("03") || pci_class.starts_with("12"))
      bare_gpus_.push_back({.gpu = {.name = bus, .hub = hub, .up = up}, .node = node, .gpu_node = {}});
    else if (pci_class.starts_with("02"))
      bare_nics_.push_back({.nic = {.name = bus, .hub = hub, .up = up}, .node = node});
    else if (pci_class.empty())
      unclassed_.push_back({.gpu = {.name = bus, .hub = hub, .up = up}, .node = node, .gpu_node = {}});
    else
      attributes_.ignore("pci of class 0x" + pci_class, "it is neither GPU nor NIC and leads to none");
  }

  void choose_devices() {
    machine_.lists_links = !gpus_.empty();
    sort_out_unclassed();
    if (gpus_.empty())
      gpus_ = std::move(bare_gpus_);
    else if (!bare_gpus_.empty())
      attributes_.ignore("pci of class 0x03", "NCCL found no GPU there that it may use");
    const bool any_ranked = std::ranges::any_of(gpus_, [](const ReadGpu& gpu) { return gpu.rank >= 0; });
    const auto left_out = [&](const ReadGpu& gpu) { return any_ranked && gpu.rank < 0; };
    if (std::erase_if(gpus_, left_out) > 0)
      attributes_.ignore("gpu without rank", "NCCL leaves it out where others have ranks");
    if (nics_.empty())
      nics_ = std::move(bare_nics_);
    else if (!bare_nics_.empty())
      attributes_.ignore("pci of class 0x02", "NCCL found no network device there");
    if (nics_.size() > kMostDevices || gpus_.size() > kMostDevices) {
      attributes_.fail(xml_.root(), "system", fmt::format("has more than {} GPUs or NICs", kMostDevices));
      return;
    }
    std::map<std::string, int> seen;
    for (const ReadGpu& gpu : gpus_) {
      if (++seen[gpu.gpu.name] == 2)
        attributes_.fail(gpu.node, "busid", fmt::format("'{}' is that of another GPU, too", gpu.gpu.name));
    }
  }

  /// Files that have bus ids only are read where it is known which machine they are of.
  void sort_out_unclassed() {
    if (unclassed_.empty()) return;
    constexpr std::size_t kNics = 1;
    std::ranges::sort(unclassed_, {}, [](const ReadGpu& one) { return one.gpu.name; });
    std::vector<std::string> buses;
    for (const ReadGpu& one : unclassed_)
      buses.push_back(one.gpu.name);
    const std::span<const std::string> all(buses);
    if (published_machine(all.subspan(kNics), all.first(kNics)) == nullptr) {
      attributes_.fail(unclassed_.front().node, "class",
                       "is missing: 0x030200 is a GPU, 0x020700 a NIC, 0x060400 a PCIe switch");
      return;
    }
    for (std::size_t one = 0; one < unclassed_.size(); ++one) {
      const ReadGpu& device = unclassed_[one];
      if (one >= kNics)
        bare_gpus_.push_back(device);
      else
        bare_nics_.push_back({.nic = {.name = device.gpu.name, .hub = device.gpu.hub, .up = device.gpu.up},
                              .node = device.node});
    }
  }

  void sort_devices() {
    std::ranges::sort(gpus_, {},
                      [](const ReadGpu& one) { return std::tuple(one.rank, one.device, one.gpu.name); });
    std::ranges::stable_sort(nics_, {}, [](const ReadNic& one) { return one.device; });
    for (const ReadGpu& one : gpus_)
      machine_.gpus.push_back(one.gpu);
    for (const ReadNic& one : nics_) {
      const bool is_again = one.device >= 0 && !machine_.nics.empty() &&
                            machine_.nics.back().name == one.nic.name && last_device_ == one.device;
      last_device_ = one.device;
      if (!is_again) machine_.nics.push_back(one.nic);  // a virtual one is listed at each processor
    }
    machine_.nic_kind = kind_of_nics();
  }

  NicKind kind_of_nics() const {
    const auto found = std::ranges::find_if(nics_, [](const ReadNic& one) { return !one.node.empty(); });
    if (found == nics_.end()) return nics_.empty() ? NicKind::not_said : NicKind::ethernet;
    const std::string device = attributes_.id(found->node, "device");
    const std::string vendor = attributes_.id(found->node, "vendor");
    constexpr auto kEfa = std::to_array<std::pair<std::string_view, NicKind>>(
        {{"efa0", NicKind::efa_p4d}, {"efa1", NicKind::efa_p5}, {"efa2", NicKind::efa_p5en}});
    const auto* const efa = std::ranges::find_if(kEfa, [&](const auto& one) { return one.first == device; });
    if (vendor == "1d0f" && efa != kEfa.end()) return efa->second;
    if (vendor == "17db") return NicKind::slingshot;
    return attributes_.id(found->node, "class").starts_with("0207") ? NicKind::infiniband : NicKind::ethernet;
  }

  void name_gpus() {
    if (gpus_.empty()) return;
    machine_.gpu = names_of(gpus_.front());
    for (const ReadGpu& gpu : gpus_) {
      if (names_of(gpu) == machine_.gpu) continue;
      attributes_.fail(gpu.node, "device", "is another GPU than the first; a node's GPUs are alike");
    }
    if (machine_.gpu == GpuNames{}) take_published();
  }

  GpuNames names_of(const ReadGpu& gpu) {
    GpuNames names;
    const std::string vendor = attributes_.id(gpu.node, "vendor");
    const std::string device = attributes_.id(gpu.node, "device");
    if (!vendor.empty() && !device.empty()) names.pci = fmt::format("{}:{}", vendor, device);
    std::string chip = attributes_.id(gpu.gpu_node, "gcn");
    if (chip.empty()) return names;  // NVIDIA's `sm` is a capability, not a number of SMs
    if (chip == "910") chip = "90a";
    names.chip = chip.starts_with("gfx") ? chip : "gfx" + chip;
    names.units = static_cast<int>(attributes_.number(gpu.gpu_node, "sm", kMostDevice).value_or(0));
    return names;
  }

  void take_published() {
    std::vector<std::string> gpus;
    std::vector<std::string> nics;
    for (const ReadGpu& one : gpus_)
      gpus.push_back(one.gpu.name);
    for (const ReadNic& one : nics_)
      nics.push_back(one.nic.name);
    const PublishedMachine* const machine = published_machine(gpus, nics);
    if (machine == nullptr) return;
    machine_.gpu.product = machine->gpu;
    const std::string others =
        machine->like_it.empty() ? "" : fmt::format("; the same file also serves {}", machine->like_it);
    reading_.assumed.push_back(
        {.key = "node.gpu",
         .value = fmt::format("\"{}\"", machine->gpu),
         .why = fmt::format("the file does not name the GPU; its bus ids are those of {} ({}){}", machine->name,
                            machine->source, others)});
    machine_.nic_kind = machine->nic_kind;
    for (MachineNic& nic : machine_.nics)
      nic.gigabits = machine->gigabits;
  }

  void read_links() {
    std::map<std::string, int> gpu_at;
    for (std::size_t gpu = 0; gpu < gpus_.size(); ++gpu)
      gpu_at[gpus_[gpu].gpu.name] = static_cast<int>(gpu);
    std::map<std::pair<int, int>, int> counts;  // keyed by source and target
    for (std::size_t gpu = 0; gpu < gpus_.size(); ++gpu) {
      for (const pugi::xml_node link : elements(gpus_[gpu].gpu_node))
        read_link(link, static_cast<int>(gpu), gpu_at, counts);
    }
    for (const auto& [ends, count] : counts) {
      const auto [from, to] = ends;
      const auto back = counts.find({to, from});
      if (to != GpuLink::kSwitch && back != counts.end() && to < from) continue;
      if (back != counts.end() && back->second != count) {
        attributes_.ignore(fmt::format("links of {} and {}", gpus_[static_cast<std::size_t>(from)].gpu.name,
                                       gpus_[static_cast<std::size_t>(to)].gpu.name),
                           "the two ends disagree on their number: the smaller one is taken");
      }
      const int least = back == counts.end() ? count : std::min(count, back->second);
      const bool is_turned = to != GpuLink::kSwitch && to < from;
      machine_.links.push_back({is_turned ? to : from, is_turned ? from : to, least});
    }
  }

  void read_link(const pugi::xml_node& link, int from, const std::map<std::string, int>& gpu_at,
                 std::map<std::pair<int, int>, int>& counts) {
    const std::string_view name = link.name();
    if (name == "c2c") {
      attributes_.ignore("c2c", "the node preset of such a GPU has it");
      return;
    }
    if (name != "nvlink" && name != "xgmi") {
      attributes_.refuse(link, "nvlink, xgmi, c2c");
      return;
    }
    attributes_.note_ignored(link);
    const auto count = static_cast<int>(attributes_.number(link, "count", kMostLinks).value_or(1));
    if (count == 0) return;
    if (attributes_.id(link, "tclass").starts_with(kSwitchClass)) {
      counts[{from, GpuLink::kSwitch}] += count;
      return;
    }
    const std::string target = attributes_.id(link, "target");
    const auto to = gpu_at.find(target);
    if (to == gpu_at.end())
      attributes_.ignore(fmt::format("{} to {}", name, target), "that GPU is not in the file");
    else if (to->second == from)
      attributes_.ignore(fmt::format("{} of {} to itself", name, target), "it joins nothing");
    else
      counts[{from, to->second}] += count;
  }

  /// Elements directly below \p node.
  static std::vector<pugi::xml_node> elements(const pugi::xml_node& node) {
    std::vector<pugi::xml_node> found;
    for (const pugi::xml_node child : node.children()) {
      if (child.type() == pugi::node_element) found.push_back(child);
    }
    return found;
  }

  const XmlFile& xml_;
  FileReading& reading_;
  NcclAttributes attributes_;
  Machine machine_;
  std::vector<ReadGpu> gpus_, bare_gpus_, unclassed_;
  std::vector<ReadNic> nics_, bare_nics_;
  std::int64_t last_device_ = -1;
};

}  // namespace

bool is_nccl_topology(std::string_view text) { return first_element(text) == "system"; }

Machine read_nccl_machine(const ForeignFile& file, FileReading& reading) {
  const XmlFile xml(file, {});
  return TopologyReader(xml, reading).read();
}

FileReading read_nccl_topology(const ForeignFile& file) {
  FileReading reading{.file = file.name, .what = std::string(kNcclTopologyFile)};
  Machine machine = read_nccl_machine(file, reading);
  add_node(reading, std::move(machine), "system", begin_of(file.name));
  return reading;
}

}}  // namespace c3::importers
