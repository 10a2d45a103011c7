#include "configs/presets/library_environment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <utility>

#include "base/nearest_name.hpp"
#include "configs/toml/config_error.hpp"
#include "configs/toml/overrides.hpp"

namespace c3 { inline namespace configs {
namespace {

constexpr HasNoKey kDiagnosis{"it is for diagnosis"};
constexpr HasNoKey kDevices{"it chooses devices of a real machine; node and fabric say what there is"};
constexpr HasNoKey kPlugins{"it names a plug-in; the fabric's preset has its properties"};
constexpr HasNoKey kRecovery{"it matters where links fail"};
constexpr HasNoKey kSetUp{"it is about setting up, which is not simulated"};
constexpr HasNoKey kNotModelled{"it is not modelled: what runs is the library's usual way"};

const std::array kVariables = {
    LibraryVariable{"NCCL_ALGO", "algorithms that the library may choose", SetsText{"library.algorithms"}},
    LibraryVariable{"NCCL_PROTO", "protocols that it may choose", SetsText{"library.protocols"}},
    LibraryVariable{"NCCL_MIN_CTAS", "smallest number of channels", SetsNumber{{"library.min_channels"}}},
    LibraryVariable{"NCCL_MAX_CTAS", "largest number of channels", SetsNumber{{"library.max_channels"}}},
    LibraryVariable{"NCCL_MIN_NCHANNELS", "as NCCL_MIN_CTAS", SetsNumber{{"library.min_channels"}}},
    LibraryVariable{"NCCL_MAX_NCHANNELS", "as NCCL_MAX_CTAS", SetsNumber{{"library.max_channels"}}},
    LibraryVariable{"NCCL_MIN_NRINGS", "as NCCL_MIN_CTAS, its old name", SetsNumber{{"library.min_channels"}}},
    LibraryVariable{"NCCL_MAX_NRINGS", "as NCCL_MAX_CTAS, its old name", SetsNumber{{"library.max_channels"}}},
    LibraryVariable{"NCCL_NVLS_ENABLE", "0: no reduction in the node's switch", SwitchesOff{"library.nvls"}},
    LibraryVariable{"NCCL_NVLS_NCHANNELS", "channels of reductions in the node's switch",
                    SetsNumber{{"library.nvls_channels"}}},
    LibraryVariable{"NCCL_COLLNET_ENABLE", "0: no reduction in the fabric's switches",
                    SwitchesOff{"library.collnet"}},
    LibraryVariable{"NCCL_BUFFSIZE", "bytes of a channel's buffer in protocol Simple, which has 8 steps",
                    SetsBytes{{{"library.chunk_size", 1.0 / 8.0},
                               {"library.ring_chunk", 0.5},
                               {"library.pair_buffer", 1.0},
                               {"fabric.message_size", 1.0 / 8.0}}}},
    LibraryVariable{"NCCL_NTHREADS", "threads of a channel, protocols Simple and LL",
                    SetsNumber{{"library.threads", "library.ll.threads"}}},
    LibraryVariable{"NCCL_LL128_NTHREADS", "threads of a channel, protocol LL128",
                    SetsNumber{{"library.ll128.threads"}}},
    LibraryVariable{"NCCL_CROSS_NIC", "whether a ring may change its NIC between nodes", kNotModelled},
    LibraryVariable{"NCCL_IB_QPS_PER_CONNECTION", "queue pairs of a connection", SetsNumber{{"library.qps"}}},
    LibraryVariable{"NCCL_IB_SPLIT_DATA_ON_QPS", "whether a message is split over them", kNotModelled},
    LibraryVariable{"NCCL_IB_ADAPTIVE_ROUTING", "adaptive routing of InfiniBand", kNotModelled},
    LibraryVariable{"NCCL_P2P_LEVEL", "how far apart GPUs may be that reach each other's memory",
                    SetsName{"node.p2p",
                             {{"LOC", "none"},
                              {"NVL", "nvlink"},
                              {"PIX", "switch"},
                              {"PXB", "switch"},
                              {"PHB", "host"},
                              {"SYS", "all"}}}},
    LibraryVariable{"NCCL_P2P_DISABLE", "1: no access to another GPU's memory",
                    SetsName{"node.p2p", {{"0", ""}, {"1", "none"}}}},
    LibraryVariable{"NCCL_SHM_DISABLE", "1: no transport through host memory", SwitchesOff{"node.shm", 1}},
    LibraryVariable{"NCCL_PXN_DISABLE", "1: no sending through another GPU's NIC",
                    SwitchesOff{"library.pxn", 1}},
    LibraryVariable{"NCCL_P2P_PXN_LEVEL", "when to send through another GPU's NIC", kNotModelled},
    LibraryVariable{"NCCL_NET_GDR_LEVEL", "how far a NIC may be from the GPU whose memory it reaches",
                    kNotModelled},
    LibraryVariable{"NCCL_NET_GDR_READ", "whether NICs read GPU memory", kNotModelled},
    LibraryVariable{"NCCL_NCHANNELS_PER_NET_PEER", "channels for each peer in another node",
                    SetsNumber{{"library.net_peer_channels"}}},
    LibraryVariable{"NCCL_MIN_P2P_NCHANNELS", "smallest number of channels of sends and receives",
                    HasNoKey{"it is not modelled; library.p2p_channels sets their number"}},
    LibraryVariable{"NCCL_MAX_P2P_NCHANNELS", "largest number of channels of sends and receives",
                    HasNoKey{"it is not modelled; library.p2p_channels sets their number"}},
    LibraryVariable{"NCCL_P2P_NET_CHUNKSIZE", "bytes of a message of sends and receives", kNotModelled},
    LibraryVariable{"NCCL_P2P_LL_THRESHOLD", "largest send in protocol LL", kNotModelled},
    LibraryVariable{"NCCL_PAT_ENABLE", "algorithm PAT",
                    HasNoKey{"it is not modelled; library.algorithms = \"^pat\" excludes it"}},
    LibraryVariable{"NCCL_MNNVL_ENABLE", "whether NVLink may join hosts",
                    HasNoKey{"the preset of the node says so: gb200-nvl72 is a rack, gb200-nvl4 a tray"}},
    LibraryVariable{"NCCL_CTA_POLICY", "whether to prefer few channels", kNotModelled},
    LibraryVariable{"NCCL_SOCKET_NTHREADS", "host threads of a connection by sockets", kNotModelled},
    LibraryVariable{"NCCL_NSOCKS_PERTHREAD", "sockets of each such thread", kNotModelled},
    LibraryVariable{"RCCL_MSCCL_ENABLE", "schedules of MSCCL", kNotModelled},
    LibraryVariable{"RCCL_MSCCLPP_ENABLE", "kernels of MSCCL++", kNotModelled},
    LibraryVariable{"NCCL_NET", "transport between nodes", kPlugins},
    LibraryVariable{"NCCL_NET_PLUGIN", "plug-in of the network", kPlugins},
    LibraryVariable{"NCCL_TUNER_PLUGIN", "plug-in that chooses algorithms", kPlugins},
    LibraryVariable{"NCCL_IB_DISABLE", "no verbs",
                    HasNoKey{"the fabric's preset says so, as in fabric = \"tcp-100g\""}},
    LibraryVariable{"NCCL_IB_HCA", "which NICs", kDevices},
    LibraryVariable{"NCCL_SOCKET_IFNAME", "which interfaces", kDevices},
    LibraryVariable{"NCCL_SOCKET_FAMILY", "IPv4 or IPv6", kDevices},
    LibraryVariable{"NCCL_IB_GID_INDEX", "which address", kDevices},
    LibraryVariable{"NCCL_IB_PKEY", "which partition", kDevices},
    LibraryVariable{"NCCL_IB_SL", "which service level", kDevices},
    LibraryVariable{"NCCL_IB_TC", "which traffic class", kDevices},
    LibraryVariable{"NCCL_IB_PCI_RELAXED_ORDERING", "relaxed ordering of PCIe", kDevices},
    LibraryVariable{"NCCL_TOPO_FILE", "description of the machine", kDevices},
    LibraryVariable{"NCCL_GRAPH_FILE", "rings and trees", kDevices},
    LibraryVariable{"NCCL_IGNORE_CPU_AFFINITY", "affinity of host threads", kDevices},
    LibraryVariable{"NCCL_IB_TIMEOUT", "timeout of a queue pair", kRecovery},
    LibraryVariable{"NCCL_IB_RETRY_CNT", "retries of a queue pair", kRecovery},
    LibraryVariable{"NCCL_CUMEM_ENABLE", "how buffers are allocated", kSetUp},
    LibraryVariable{"NCCL_COMM_ID", "where ranks meet", kSetUp},
    LibraryVariable{"NCCL_LAUNCH_MODE", "how kernels are launched", kSetUp},
    LibraryVariable{"NCCL_DEBUG", "messages", kDiagnosis},
    LibraryVariable{"NCCL_DEBUG_SUBSYS", "messages of which parts", kDiagnosis},
    LibraryVariable{"NCCL_DEBUG_FILE", "file of messages", kDiagnosis},
};

constexpr std::string_view kTable = "library.env";

std::string name_of(const Member& variable) { return fmt::format("{}.{}", kTable, variable.key); }

const Node* find_at(const Node& document, std::string_view path) {
  const Node* found = &document;
  while (found != nullptr && !path.empty()) {
    const std::size_t dot = std::min(path.find('.'), path.size());
    found = found->table() == nullptr ? nullptr : found->table()->find(path.substr(0, dot));
    path.remove_prefix(std::min(dot + 1, path.size()));
  }
  return found;
}

const LibraryVariable& known(const Member& variable) {
  const auto found = std::ranges::find(kVariables, variable.key, &LibraryVariable::name);
  if (found != kVariables.end()) return *found;
  std::vector<std::string> names;
  for (const LibraryVariable& described : kVariables)
    names.emplace_back(described.name);
  throw ConfigError(variable.origin, name_of(variable),
                    unknown_name("variable of NCCL or RCCL", variable.key, names));
}

std::string text_of(const Member& variable) {
  if (const std::string* text = variable.value.text(); text != nullptr && !text->empty()) return *text;
  if (const auto* number = std::get_if<std::int64_t>(&variable.value.value)) return fmt::format("{}", *number);
  throw ConfigError(variable.value.origin, name_of(variable), "must be a text or a whole number");
}

std::int64_t number_of(const Member& variable) {
  const std::string text = text_of(variable);
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) {
    throw ConfigError(variable.value.origin, name_of(variable),
                      fmt::format("must be a whole number, not '{}'", text));
  }
  return number;
}

/// Sets keys of a document, each once.
class KeySetter {
 public:
  KeySetter(Node& document, const Member& variable) : document_(document), variable_(variable) {}

  void operator()(const SetsText& effect) const { put(effect.key, Node{text_of(variable_), {}}); }

  void operator()(const SetsNumber& effect) const {
    const std::int64_t number = number_of(variable_);
    for (const std::string_view key : effect.keys)
      put(key, Node{number, {}});
  }

  void operator()(const SetsBytes& effect) const {
    const auto bytes = static_cast<double>(number_of(variable_));
    for (const auto& [key, share] : effect.shares) {
      const bool is_there = !key.starts_with("fabric.") || find_at(document_, "nodes") != nullptr;
      if (is_there) put(key, Node{fmt::format("{} B", bytes * share), {}});
    }
  }

  void operator()(const SwitchesOff& effect) const {
    if (number_of(variable_) == effect.off) put(effect.key, Node{false, {}});
  }

  void operator()(const SetsName& effect) const {
    const std::string text = text_of(variable_);
    const auto found = std::ranges::find(effect.values, text, &SetsName::Value::of_variable);
    if (found == effect.values.end()) {
      std::vector<std::string_view> known;
      for (const SetsName::Value& value : effect.values)
        known.push_back(value.of_variable);
      throw ConfigError(variable_.value.origin, name_of(variable_),
                        fmt::format("must be one of {}, not '{}'", fmt::join(known, ", "), text));
    }
    if (!found->name.empty()) put(effect.key, Node{std::string(found->name), {}});
  }

  void operator()(const HasNoKey&) const {}

 private:
  void put(std::string_view key, Node value) const {
    if (const Node* other = find_at(document_, key)) {
      throw ConfigError(
          variable_.value.origin, name_of(variable_),
          fmt::format("sets {}, which {} sets, too; leave one of them out", key, place_of(other->origin)));
    }
    value.origin = variable_.value.origin;
    override_value(document_, key, std::move(value));
  }

  Node& document_;
  const Member& variable_;
};

}  // namespace

std::span<const LibraryVariable> library_variables() { return kVariables; }

void place_library_environment(Node& document) {
  const Node* found = find_at(document, kTable);
  if (found == nullptr) return;
  const Node environment = *found;
  if (environment.table() == nullptr)
    throw ConfigError(environment.origin, kTable, "must be a table of variables, as in NCCL_ALGO = \"Ring\"");
  document.table()->find("library")->table()->erase("env");
  for (const Member& variable : environment.table()->members())
    std::visit(KeySetter(document, variable), known(variable).effect);
}

std::vector<std::string> notes_on_variables(std::span<const std::string> names) {
  std::vector<std::string> notes;
  for (const std::string& name : names) {
    const auto found = std::ranges::find(kVariables, name, &LibraryVariable::name);
    const auto* none = found == kVariables.end() ? nullptr : std::get_if<HasNoKey>(&found->effect);
    if (none != nullptr) notes.push_back(fmt::format("{} changes nothing here: {}", name, none->why));
  }
  return notes;
}

std::vector<std::string> notes_on_variables(const Node& document) {
  std::vector<std::string> names;
  const Node* found = find_at(document, kTable);
  if (found != nullptr && found->table() != nullptr) {
    for (const Member& variable : found->table()->members())
      names.push_back(variable.key);
  }
  return notes_on_variables(names);
}

}}  // namespace c3::configs
