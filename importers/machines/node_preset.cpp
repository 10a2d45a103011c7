#include "importers/machines/node_preset.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <utility>

#include "base/enum_names.hpp"
#include "configs/presets/preset_store.hpp"
#include "configs/toml/toml_text.hpp"
#include "importers/machines/gpu_join.hpp"
#include "importers/machines/known_gpus.hpp"
#include "importers/machines/nic_fabric.hpp"
#include "importers/machines/node_wires.hpp"
#include "importers/machines/preset_values.hpp"

namespace c3 { inline namespace importers {
namespace {

constexpr std::size_t kMostHubs = 64;
constexpr int kUsualLanes = 16;

/// What NCCL takes the way between processors for, GB/s. Source: NCCL 2.30.7, src/graph/topo.h and topo.cc.
double socket_search(const Machine& machine) {
  struct IntelModel {
    int first;
    double rate;
  };
  constexpr auto kIntel = std::to_array<IntelModel>({{207, 40}, {143, 22}, {85, 10}, {0, 6}});
  constexpr double kAmd = 16;
  if (machine.processor == "AuthenticAMD" || machine.processor.empty()) return kAmd;
  if (machine.processor != "GenuineIntel") return kIntel.back().rate;
  return std::ranges::find_if(kIntel,
                              [&](const IntelModel& model) { return machine.processor_model >= model.first; })
      ->rate;
}

/// The shipped node whose processors, and what goes through their memory, are most like the machine's.
std::string host_like(const Machine& machine, int generation) {
  constexpr int kPcie5 = 5;
  if (machine.processor != "GenuineIntel") return "a100-pcie-4";
  return generation >= kPcie5 ? "rtx-pro-6000-8" : "l40s-8";
}

class NodeDraft {
 public:
  NodeDraft(FileReading& reading, const Machine& machine, const GpuBoard& board, const GpuJoin& join,
            std::string name)
      : reading_(reading),
        machine_(machine),
        board_(board),
        join_(join),
        name_(std::move(name)),
        at_(origin_in(reading.file)) {
    base_ = load_preset(PresetKind::node, join.base, at_, "node");
    for (const std::string_view key : {"name", "gpu", "library", "fabric", "topology", "gpus"})
      node_.put(key, at_, text_node(""));  // they come first
  }

  Table table() && {
    put_head();
    put_link();
    if (join_.topology == NodeTopology::wired && machine_.gpus.size() > 1) put_wires();
    if (!has_tree_) {
      put_slots();
      copy("host_memory");
    }
    if (join_.topology != NodeTopology::wired) {
      for (const std::string_view key : kLinkKeys)
        copy(fmt::format("c2c_{}", key));
    }
    return std::move(node_);
  }

 private:
  Node text_node(const std::string& text) const { return {text, at_}; }

  void put(std::string_view key, Node value) { node_.put(key, at_, std::move(value)); }
  void put_said(std::string_view key, decltype(Node::value) value) {
    put(key, sourced(at_, std::move(value), "derived", reading_.file));
  }
  void copy(const std::string& key) {
    if (const Node* value = base_.table()->find(key)) put(key, *value);
  }
  std::string text_of(std::string_view key) const {
    const Node* const found = base_.table()->find(key);
    return found == nullptr ? std::string() : *found->text();
  }

  void put_head() {
    put("name", text_node(name_));
    put("gpu", text_node(std::string(board_.preset)));
    put("library", text_node(library()));
    put("topology", of_join(std::string(name_of(join_.topology))));
    put_said("gpus", static_cast<std::int64_t>(machine_.gpus.size()));
    if (join_.topology == NodeTopology::switched) copy("switch_reduces");
    if (machine_.nics.empty()) {
      node_.erase("fabric");
      return;
    }
    const std::string fabric = fabric_for(machine_, name_, text_of("fabric"), reading_);
    if (fabric.empty())
      node_.erase("fabric");
    else
      put("fabric", text_node(fabric));
  }

  /// A library is also shipped for hosts by AMD where those make a difference.
  std::string library() const {
    const std::string usual = text_of("library");
    const std::string amd = usual + "-amd";
    const std::vector<std::string> shipped = preset_names(PresetKind::library);
    const bool is_amd =
        machine_.processor == "AuthenticAMD" && std::ranges::find(shipped, amd) != shipped.end();
    return is_amd ? amd : usual;
  }

  void put_link() {
    LinkValues link = scaled(shipped_link(join_.base, "link_"), join_.factor,
                             fmt::format("{} ({})", join_.why, reading_.file));
    for (std::size_t key = 0; key < kLinkKeys.size(); ++key)
      put(fmt::format("link_{}", kLinkKeys[key]), std::move(link[key]));
  }

  /// What joins the GPUs: from the file, or from the base.
  Node of_join(decltype(Node::value) value) const {
    if (join_.is_assumed) return sourced(at_, std::move(value), "published", fmt::format("as {}", join_.base));
    return sourced(at_, std::move(value), "derived", reading_.file);
  }

  Array text_list(const std::vector<std::string>& texts) const {
    Array list;
    for (const std::string& text : texts)
      list.push_back(text_node(text));
    return list;
  }

  void put_wires() {
    const PcieLink plain = join_.base_is_pcie ? PcieLink{board_.pcie, kUsualLanes} : PcieLink{};
    const NodeWires wires = wires_of(machine_, join_, plain, board_.pcie);
    put("wires", of_join(text_list(wires.wires)));
    has_tree_ = !wires.sockets.empty();
    put_kinds(wires);
    if (!has_tree_) return;
    if (!wires.nic_at.empty()) put_said("nic_at", text_list(wires.nic_at));
    put_said("p2p", std::string(machine_.is_below_one_switch ? "host" : "auto"));
    put_said("sockets", text_list(wires.sockets));
    const std::string host = host_like(machine_, board_.pcie);
    const Node like = load_preset(PresetKind::node, host, at_, "node");
    for (const std::string_view key : {"host_memory", "host_read", "host_both_ways", "host_latency"})
      put(key, *like.table()->find(key));
    put("socket_search", sourced(at_, fmt::format("{} GB/s", socket_search(machine_)), "published",
                                 "NCCL 2.30.7 sources, src/graph/topo.h, for the file's processor"));
  }

  void put_kinds(const NodeWires& wires) {
    Table kinds;
    const auto put_kind = [&](const std::string& name, const LinkValues& link) {
      Table kind;
      for (std::size_t key = 0; key < kLinkKeys.size(); ++key)
        kind.put(kLinkKeys[key], at_, link[key]);
      kinds.put(name, at_, {std::move(kind), at_});
    };
    if (wires.has_nvlink_kind) put_kind("nvlink", one_nvlink());
    for (const auto& [name, link] : wires.pcie)
      put_kind(name, pcie_values(link));
    if (wires.sockets.size() > 1) put_kind("socket", shipped_kind(host_like(machine_, board_.pcie), "socket"));
    if (!kinds.empty()) put("links", {std::move(kinds), at_});
  }

  /// NVLink 3, as A100's: bridges between cards.
  static LinkValues one_nvlink() {
    constexpr double kLinks = 12.0;
    return scaled(shipped_link("a100-sxm-40gb-8", "link_"), 1.0 / kLinks, "one of 12 links");
  }

  void put_slots() {
    if (machine_.nics.empty()) return;
    put_said("nic_slots", static_cast<std::int64_t>(machine_.nics.size()));
    PcieLink way = path_to_nic(machine_);
    if (way.generation == 0) way.generation = board_.pcie;
    const Node* const own = base_.table()->find("pcie_raw");
    const bool is_as_base = own != nullptr && way == PcieLink{board_.pcie, kUsualLanes};
    const LinkValues link = is_as_base ? shipped_link(join_.base, "pcie_") : pcie_values(way);
    for (std::size_t key = 0; key < kLinkKeys.size(); ++key)
      put(fmt::format("pcie_{}", kLinkKeys[key]), link[key]);
  }

  FileReading& reading_;
  const Machine& machine_;
  const GpuBoard& board_;
  const GpuJoin& join_;
  std::string name_;
  Origin at_;
  Node base_;
  Table node_;
  bool has_tree_ = false;
};

/// The GPU of \p machine, and the board that it is on.
const GpuBoard& find_board(Machine& machine, FileReading& reading, const Origin& at) {
  const std::optional<FoundGpu> gpu = gpu_named(machine.gpu);
  if (!gpu)
    throw ConfigError(at, "gpu",
                      "the file does not say which GPU the machine has, so name a system with --system");
  const GpuBoard* const board = board_of(gpu->preset);
  if (board == nullptr) throw ConfigError(at, "gpu", missing_preset(*gpu));
  machine.preset = gpu->preset;
  if (!gpu->as.empty()) {
    reading.assumed.push_back({.key = "node.gpu", .value = fmt::format("\"{}\"", gpu->preset), .why = gpu->as});
  }
  return *board;
}

/// Rates of PCIe that a file cannot mean: idle cards and the bridges of virtual machines say 2.5 GT/s, some
/// files more than the GPU has.
void correct_pcie(Machine& machine, const GpuBoard& board, FileReading& reading) {
  bool is_idle = false;
  bool is_above = false;
  const auto correct = [&](PcieLink& link) {
    if (link.generation != 1) return;
    link = {};
    is_idle = true;
  };
  for (Hub& hub : machine.hubs)
    correct(hub.up);
  for (MachineNic& nic : machine.nics)
    correct(nic.up);
  for (MachineGpu& gpu : machine.gpus) {
    correct(gpu.up);
    if (gpu.up.generation <= board.pcie) continue;
    gpu.up.generation = board.pcie;
    is_above = true;
  }
  if (is_idle) {
    reading.ignored.push_back({.from = "2.5 GT/s",
                               .why =
                                   "idle cards and emulated bridges say so; the link is taken to be as fast as "
                                   "what is beside it"});
  }
  if (is_above) {
    reading.ignored.push_back(
        {.from = "link_speed of GPUs",
         .why = fmt::format("the GPU's own end is PCIe {}.0, which is slower", board.pcie)});
  }
}

void check_sizes(const Machine& machine, const Origin& at) {
  if (machine.gpus.empty()) throw ConfigError(at, "gpu", "the file has no GPU");
  const auto check = [&](std::string_view what, std::size_t count, std::size_t most) {
    if (count > most)
      throw ConfigError(at, what,
                        fmt::format("a node has at most {} of them, and the file has {}", most, count));
  };
  check("gpus", machine.gpus.size(), kMostDevices);
  check("nics", machine.nics.size(), kMostDevices);
}

/// Routes are sought between all vertices of a wired node.
void check_wired(const Machine& machine, const GpuJoin& join, const Origin& at) {
  constexpr std::size_t kMostWired = 64;
  if (join.topology != NodeTopology::wired || machine.gpus.size() <= kMostWired) return;
  throw ConfigError(at, "gpus",
                    fmt::format("{} without a switch of their own are too many: at most {}",
                                machine.gpus.size(), kMostWired));
}

void say_join(FileReading& reading, const Machine& machine, const GpuJoin& join, bool has_tree) {
  if (join.is_assumed) {
    reading.assumed.push_back(
        {.key = "node.topology",
         .value = fmt::format("\"{}\"", name_of(join.topology)),
         .why = fmt::format("the file has no links between GPUs: they are those of {}", join.base)});
  }
  if (!join.short_of.empty()) reading.unmodelled.push_back({.what = join.short_of});
  if (!has_tree && switch_count(machine) > 0) {
    reading.ignored.push_back(
        {.from = "PCIe switches",
         .why =
             "not modelled: which GPUs and NICs share a switch; links of their own join the GPUs, and each GPU "
             "has a way to its NICs"});
  }
}

void say_facts(FileReading& reading, const Machine& machine, const GpuJoin& join) {
  const auto count = [](std::size_t number, std::string_view what) {
    return fmt::format("{} {}{}", number, what, number == 1 ? "" : "s");
  };
  const auto switches = static_cast<std::size_t>(switch_count(machine));
  reading.facts.push_back(fmt::format("{} ({}), joined as {}", count(machine.gpus.size(), "GPU"),
                                      machine.preset, name_of(join.topology)));
  if (!machine.hubs.empty()) {
    reading.facts.push_back(
        fmt::format("{}, PCIe switches: {}", count(machine.hubs.size() - switches, "NUMA node"), switches));
  }
  std::string nics = count(machine.nics.size(), "NIC");
  if (!machine.nics.empty() && machine.nics.front().gigabits > 0.0)
    nics += fmt::format(" of {} Gb/s", machine.nics.front().gigabits);
  reading.facts.push_back(std::move(nics));
}

/// "topo 8" as "topo-8".
std::string slug_of(std::string_view stem) {
  constexpr std::size_t kLongest = 60;
  std::string slug;
  for (const char c : stem.substr(0, kLongest)) {
    const bool is_capital = c >= 'A' && c <= 'Z';
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    if (is_capital)
      slug += static_cast<char>(c - 'A' + 'a');
    else if (is_plain)
      slug += c;
    else if (!slug.empty() && slug.back() != '-')
      slug += '-';
  }
  while (!slug.empty() && slug.back() == '-')
    slug.pop_back();
  return slug.empty() ? "machine" : slug;
}

}  // namespace

std::string preset_name_of(const std::string& name) {
  std::string slug = slug_of(std::filesystem::path(name).stem().string());
  for (const PresetKind kind : {PresetKind::node, PresetKind::fabric}) {
    const std::vector<std::string> shipped = preset_names(kind);
    if (std::ranges::find(shipped, slug) != shipped.end()) slug += "-as-read";
  }
  return slug;
}

void add_node(FileReading& reading, Machine machine, const std::string& root, const Origin& at) {
  check_sizes(machine, at);
  const GpuBoard& board = find_board(machine, reading, at);
  correct_pcie(machine, board, reading);
  prune_hubs(machine);
  if (machine.hubs.size() > kMostHubs)
    throw ConfigError(at, "pci", fmt::format("a node has at most {} PCIe switches and processors", kMostHubs));
  order_nics(machine);
  const std::string name = preset_name_of(reading.file);
  GpuJoin join;
  try {
    join = join_of(machine, board);
  } catch (const std::invalid_argument& error) {
    throw ConfigError(at, "gpu", error.what());
  }
  check_wired(machine, join, at);
  Node node{NodeDraft(reading, machine, board, join, name).table(), at};
  check_preset(PresetKind::node, node);
  say_join(reading, machine, join, node.table()->find("sockets") != nullptr);
  say_facts(reading, machine, join);
  reading.taken.push_back({.from = root, .key = "system", .value = fmt::format("\"{}\"", name)});
  const bool is_usual = machine.nics.size() <= machine.gpus.size();  // else a node has no more NICs than GPUs
  if (!is_usual && node.table()->find("fabric") != nullptr) {
    reading.taken.push_back(
        {.from = root + " (NICs)", .key = "fabric.nics", .value = fmt::format("{}", machine.nics.size())});
  }
  reading.presets.push_back(
      {.path = fmt::format("nodes/{}.toml", name),
       .text = fmt::format("# {} GPUs ({}). Read from {}, {}; what that does not say is as in {}.\n\n{}",
                           machine.gpus.size(), machine.preset, reading.file, reading.what, join.base,
                           write_toml(*node.table()))});
}

}}  // namespace c3::importers
