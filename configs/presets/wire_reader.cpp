#include "configs/presets/wire_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <sstream>
#include <utility>

#include "interconnect/wiring.hpp"

namespace c3 { inline namespace configs {
namespace {

constexpr std::string_view kKey = "wires";
constexpr int kMostLinks = 64;         // side by side
constexpr std::size_t kMostHubs = 64;  // sockets and switches of one node

/// VERTEX - VERTEX [KIND] [xCOUNT]
PatternRule wire_rule() {
  return {
      R"([A-Za-z][A-Za-z0-9_]* +- +[A-Za-z][A-Za-z0-9_]*( +(?!x[0-9]*( |$))[A-Za-z0-9_][A-Za-z0-9_.-]*)?( +x[1-9][0-9]?)?)",
      "gpu0 - gpu1"};
}

constexpr std::string_view kForm =
    "must read 'gpu0 - gpu1', then a kind of link and a count such as 'x2' if wanted";

/// The number after \p prefix when that and digits are all there is; the largest for one that is larger still.
std::optional<int> number_after(std::string_view text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return std::nullopt;
  text.remove_prefix(prefix.size());
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc::result_out_of_range) number = std::numeric_limits<int>::max();
  const bool is_number =
      error != std::errc::invalid_argument && end == text.data() + text.size() && number >= 0;
  return is_number ? std::optional(number) : std::nullopt;
}

bool is_name(std::string_view text) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  const auto fits = [&](char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '_'; };
  return is_letter(text.front()) && std::ranges::all_of(text, fits);
}

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> words;
  for (std::string word; in >> word;)
    words.push_back(word);
  return words;
}

class WireReader {
 public:
  WireReader(const Section& section, std::span<const ChosenKey> kinds, NodeSpec& node)
      : section_(section), node_(node) {
    std::ranges::transform(kinds, std::back_inserter(kinds_), &ChosenKey::name);
  }

  void read(const PlacedText& text) {
    at_ = text.origin;
    const std::vector<std::string> words = words_of(text.name);
    if (words.size() < 3 || words.size() > 5 || words[1] != "-") fail(kForm);
    Wire wire{.a = vertex(words[0]), .b = vertex(words[2])};
    std::size_t next = 3;
    if (next < words.size() && !number_after(words[next], "x")) wire.link = kind(words[next++]);
    if (next < words.size()) wire.count = count(words[next++]);
    if (next < words.size()) fail(kForm);
    if (wire.a == wire.b) fail(fmt::format("'{}' is joined to itself", words[0]));
    for (const Wire& other : node_.wires) {
      if (std::minmax(wire.a, wire.b) != std::minmax(other.a, other.b)) continue;
      fail(fmt::format("'{}' and '{}' are joined already; links side by side are one wire with a count, 'x2'",
                       words[0], words[2]));
    }
    node_.wires.push_back(wire);
  }

  /// What holds for all wires together.
  void check() const {
    const int vertices = node_.gpus + static_cast<int>(node_.hubs.size());
    std::vector<int> ends(static_cast<std::size_t>(vertices));
    for (const Wire& wire : node_.wires) {
      ++ends[static_cast<std::size_t>(wire.a)];
      ++ends[static_cast<std::size_t>(wire.b)];
    }
    for (int vertex = 0; vertex < vertices; ++vertex) {
      const int wires = ends[static_cast<std::size_t>(vertex)];
      if (vertex < node_.gpus && wires == 0 && node_.gpus > 1)
        section_.fail(kKey, fmt::format("gpu{} has no wire", vertex));
      if (vertex >= node_.gpus && wires == 1) fail_lone_hub(vertex);
    }
    const Wiring wiring(node_);
    for (int a = 0; a < node_.gpus; ++a) {
      for (int b = a + 1; b < node_.gpus; ++b) {
        if (wiring.route(a, b).empty()) section_.fail(kKey, fmt::format("no path joins gpu{} and gpu{}", a, b));
      }
    }
  }

  bool uses(std::size_t kind) const {
    return std::ranges::any_of(node_.wires,
                               [&](const Wire& wire) { return wire.link == static_cast<int>(kind) + 1; });
  }

 private:
  [[noreturn]] void fail(std::string_view message) const {
    throw ConfigError(at_, section_.dotted(kKey), message);
  }

  int vertex(const std::string& name) {
    if (const std::optional<int> gpu = number_after(name, "gpu")) {
      if (*gpu < node_.gpus) return *gpu;
      fail(fmt::format("'{}' is none of the {} GPUs, gpu0 to gpu{}", name, node_.gpus, node_.gpus - 1));
    }
    if (!is_name(name)) fail(fmt::format("'{}': a socket or switch is named by letters, digits and '_'", name));
    const auto known = std::ranges::find(node_.hubs, name);
    const auto place = static_cast<int>(known - node_.hubs.begin());
    if (known == node_.hubs.end()) {
      if (node_.hubs.size() == kMostHubs) fail(fmt::format("at most {} hubs", kMostHubs));
      node_.hubs.push_back(name);
    }
    return node_.gpus + place;
  }

  int kind(const std::string& word) const {
    const auto known = std::ranges::find(kinds_, word);
    if (known == kinds_.end() && kinds_.empty()) {
      fail(fmt::format("unknown kind of link '{}'; there is no table [{}.{}]", word, section_.dotted("links"),
                       word));
    }
    if (known == kinds_.end()) fail(unknown_name("kind of link", word, kinds_));
    return static_cast<int>(known - kinds_.begin()) + 1;
  }

  int count(const std::string& word) const {
    const std::optional<int> links = number_after(word, "x");
    if (!links) fail(kForm);
    if (*links < 1 || *links > kMostLinks) fail(fmt::format("a count is x1 to x{}, not {}", kMostLinks, word));
    return *links;
  }

  /// A hub with one wire has no traffic through it: its name is a slip.
  [[noreturn]] void fail_lone_hub(int vertex) const {
    const std::string name = vertex_name(node_, vertex);
    std::vector<std::string> others;
    for (int other = 0; other < node_.gpus + static_cast<int>(node_.hubs.size()); ++other) {
      if (other != vertex) others.push_back(vertex_name(node_, other));
    }
    const std::string nearest = nearest_name(name, others);
    section_.fail(kKey, fmt::format("hub '{}' has one wire only, so nothing passes it{}", name,
                                    nearest.empty() ? "" : fmt::format("; did you mean '{}'?", nearest)));
  }

  const Section& section_;
  NodeSpec& node_;
  std::vector<std::string> kinds_;
  Origin at_;
};

}  // namespace

void read_wires(Section& section, std::span<const ChosenKey> kinds, NodeSpec& node) {
  const std::vector<PlacedText> texts = section.sourced_texts(kKey, wire_rule());
  WireReader reader(section, kinds, node);
  for (const PlacedText& text : texts)
    reader.read(text);
  if (section.is_rehearsal()) return;
  for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
    if (reader.uses(kind)) continue;
    throw ConfigError(kinds[kind].origin, section.dotted("links." + kinds[kind].name),
                      "no wire is of this kind");
  }
  reader.check();
}

namespace {

/// Vertices that the texts of \p key name, each on a path from every GPU. \p what: "GPU or hub"
std::vector<int> read_places(Section& section, std::string_view key, const NodeSpec& node, int first,
                             std::string_view what) {
  const std::vector<PlacedText> places = section.sourced_texts(key, {"[A-Za-z][A-Za-z0-9_]*", "gpu0"});
  if (section.is_rehearsal()) return {};
  std::vector<std::string> vertices;
  for (int vertex = first; vertex < node.gpus + static_cast<int>(node.hubs.size()); ++vertex)
    vertices.push_back(vertex_name(node, vertex));
  const Wiring wiring(node);
  std::vector<int> found;
  for (const PlacedText& place : places) {
    const auto known = std::ranges::find(vertices, place.name);
    const auto fail = [&](const std::string& why) {
      throw ConfigError(place.origin, section.dotted(key), why);
    };
    if (known == vertices.end()) fail(unknown_name(what, place.name, vertices));
    const auto vertex = first + static_cast<int>(known - vertices.begin());
    for (int gpu = 0; gpu < node.gpus; ++gpu) {
      if (gpu != vertex && wiring.route(gpu, vertex).empty())
        fail(fmt::format("no path joins gpu{} and '{}'", gpu, place.name));
    }
    found.push_back(vertex);
  }
  return found;
}

}  // namespace

void read_nic_places(Section& section, NodeSpec& node) {
  node.nic_at = read_places(section, "nic_at", node, 0, "GPU or hub");
}

void read_sockets(Section& section, NodeSpec& node) {
  node.host.sockets = read_places(section, "sockets", node, node.gpus, "hub");
}

}}  // namespace c3::configs
