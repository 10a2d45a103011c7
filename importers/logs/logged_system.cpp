#include "importers/logs/logged_system.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "base/small_letters.hpp"
#include "base/usage_error.hpp"
#include "configs/presets/gpu_match.hpp"
#include "configs/presets/preset_store.hpp"
#include "configs/toml/toml_text.hpp"

namespace c3 { inline namespace importers {
namespace {

/// A node preset, as far as a log can tell.
struct NodePreset {
  std::string name;
  int gpus = 0;
  std::string fabric;
};

/// Presets whose NVLink joins hosts: "gb200-nvl72".
bool joins_hosts(std::string_view system) { return system.find("-nvl") != std::string_view::npos; }

NodePreset node_preset(const std::string& name, const Node& file) {
  NodePreset preset{.name = name, .gpus = 0, .fabric = {}};
  const Node* gpus = file.table()->find("gpus");
  if (gpus != nullptr && gpus->table() != nullptr) gpus = gpus->table()->find("value");
  if (const auto* number = gpus == nullptr ? nullptr : std::get_if<std::int64_t>(&gpus->value))
    preset.gpus = static_cast<int>(*number);
  const Node* fabric = file.table()->find("fabric");
  if (fabric != nullptr && fabric->text() != nullptr) preset.fabric = *fabric->text();
  return preset;
}

Node preset_file_of(const std::string& name) { return load_preset(PresetKind::node, name, {}, "system"); }

/// Node presets of \p gpu, the smallest first.
std::vector<NodePreset> presets_with(const std::string& gpu) {
  std::vector<NodePreset> found;
  for (const std::string& name : preset_names(PresetKind::node)) {
    const Node file = preset_file_of(name);
    const Node* preset_gpu = file.table()->find("gpu");
    if (preset_gpu != nullptr && preset_gpu->text() != nullptr && *preset_gpu->text() == gpu)
      found.push_back(node_preset(name, file));
  }
  std::ranges::stable_sort(found, {}, &NodePreset::gpus);
  return found;
}

/// Names of presets of a cloud, and what of the network's plug-in tells that it is there.
constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kClouds = {{{"libfabric", "aws-"},
                                                                                   {"ofi", "aws-"},
                                                                                   {"fastrak", "gcp-a3-mega"},
                                                                                   {"tcpx", "gcp-a3-high"},
                                                                                   {"gib", "gcp-"}}};

/// Chooses among presets that are alike: the one whose name begins with the cloud's, or else with the GPU's.
const NodePreset& chosen_of(const std::vector<NodePreset>& alike, const std::string& gpu,
                            const LibraryLog& log) {
  const std::string network = in_small_letters(fmt::format("{} {}", log.network, fmt::join(log.plugins, " ")));
  for (const auto& [plugin, cloud] : kClouds) {
    if (network.find(plugin) == std::string::npos) continue;
    for (const NodePreset& preset : alike)
      if (preset.name.starts_with(cloud)) return preset;
  }
  const auto is_plain = [&](const NodePreset& preset) { return preset.name.starts_with(gpu); };
  const auto plain = std::ranges::find_if(alike, is_plain);
  return plain == alike.end() ? alike.front() : *plain;
}

std::optional<int> part_of(int ranks, std::optional<int> nodes) {
  return nodes && *nodes > 0 && ranks % *nodes == 0 ? std::optional(ranks / *nodes) : std::nullopt;
}

/// GPUs of a node, where \p largest is the most that a preset has.
int gpus_of_node(const LibraryLog& log, int ranks, const NodePreset& largest) {
  const auto hosts = static_cast<int>(log.host_count());
  const auto said = part_of(ranks, log.nodes                   ? log.nodes
                                   : joins_hosts(largest.name) ? std::nullopt
                                                               : std::optional(hosts));
  if (said) return *said;
  const int nodes = (ranks + largest.gpus - 1) / std::max(largest.gpus, 1);
  return part_of(ranks, nodes).value_or(largest.gpus);
}

std::string toml_text(std::string_view text) { return write_value(Node{std::string(text), {}}); }

void assume_fabric(LoggedSystem& system, const NodePreset& preset, const LibraryLog& log) {
  if (system.nodes.value_or(1) < 2) return;
  constexpr std::string_view kSockets = "tcp-100g";
  const bool by_sockets = log.network == "Socket";
  if (by_sockets) system.fabric = kSockets;
  std::string why =
      by_sockets ? "the log says sockets, but not their rate" : "the log does not say the rate of NICs";
  if (!log.nics.empty()) why += fmt::format("; they are {}", fmt::join(log.nics, ", "));
  system.assumed.push_back(
      {.key = "fabric", .value = toml_text(by_sockets ? kSockets : preset.fabric), .why = why});
}

}  // namespace

std::optional<int> nodes_on(const std::string& system, const LibraryLog& log, std::optional<int> ranks,
                            std::optional<int> hosts) {
  if (log.nodes && (!ranks || log.ranks == ranks)) return log.nodes;
  if (!joins_hosts(system) || !ranks) return hosts;
  const int gpus = node_preset(system, preset_file_of(system)).gpus;
  return gpus > 0 ? std::optional((*ranks + gpus - 1) / gpus) : std::nullopt;
}

LoggedSystem system_of(const LibraryLog& log, std::optional<int> ranks) {
  const std::string device = log.gpu();
  if (device.empty())
    throw UsageError(
        "--system auto: the file does not name one kind of GPU, as nccl-tests' list of devices does; "
        "say --system");
  const auto gpu = gpu_preset_of(device);
  const auto presets = gpu ? presets_with(*gpu) : std::vector<NodePreset>();
  if (presets.empty())
    throw UsageError(
        fmt::format("--system auto: no node preset has '{}'; say --system ('c3sim list systems')", device));
  if (!ranks) throw UsageError("--system auto: the file does not say how many GPUs took part; say --system");
  const int of_node = gpus_of_node(log, *ranks, presets.back());
  const auto fits =
      std::ranges::find_if(presets, [&](const NodePreset& preset) { return preset.gpus >= of_node; });
  if (fits == presets.end())
    throw UsageError(
        fmt::format("--system auto: no node preset has {} of '{}'; say --system", of_node, device));
  std::vector<NodePreset> alike;
  std::ranges::copy_if(presets, std::back_inserter(alike),
                       [&](const NodePreset& preset) { return preset.gpus == fits->gpus; });
  const NodePreset& preset = chosen_of(alike, *gpu, log);

  LoggedSystem system{.system = preset.name};
  system.taken.push_back(
      {.from = fmt::format("{} x {}", *ranks, device), .key = "system", .value = toml_text(preset.name)});
  const auto hosts = static_cast<int>(log.host_count());
  system.nodes = nodes_on(preset.name, log, ranks, hosts > 0 ? std::optional(hosts) : std::nullopt);
  if (!system.nodes) {
    system.nodes = *ranks / of_node;
    system.assumed.push_back({.key = "nodes",
                              .value = fmt::format("{}", *system.nodes),
                              .why = "the file names no hosts: as many as hold the GPUs"});
  }
  if (alike.size() > 1) {
    std::vector<std::string> others;
    for (const NodePreset& other : alike)
      if (other.name != preset.name) others.push_back(other.name);
    system.assumed.push_back({.key = "system",
                              .value = toml_text(preset.name),
                              .why = fmt::format("{} would fit as well", fmt::join(others, ", "))});
  }
  assume_fabric(system, preset, log);
  return system;
}

}}  // namespace c3::importers
