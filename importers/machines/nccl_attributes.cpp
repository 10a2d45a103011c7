#include "importers/machines/nccl_attributes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <pugixml.hpp>

#include "base/small_letters.hpp"

namespace c3 { inline namespace importers {
namespace {

constexpr std::size_t kMostMistakes = 20;

/// An attribute and what c3sim does with it. Names and meaning: NVIDIA/nccl v2.30.7-1, src/graph/xml.cc and
/// topo.cc; ROCm/rccl, src/graph/xml.cc (gcn, arch, xgmi).
struct KnownAttribute {
  std::string_view element;
  std::string_view name;
  std::string_view ignored;  ///< why; empty: it is read
};

constexpr std::string_view kSameForAll = "it changes nothing that is simulated";

constexpr auto kAttributes = std::to_array<KnownAttribute>({
    {"system", "version", ""},
    {"cpu", "numaid", ""},
    {"cpu", "vendor", ""},
    {"cpu", "familyid", ""},
    {"cpu", "modelid", ""},
    {"cpu", "arch", kSameForAll},
    {"cpu", "affinity", "not modelled: on which cores processes run"},
    {"cpu", "host_hash", "not modelled: which tray of a rack this is"},
    {"pci", "busid", ""},
    {"pci", "class", ""},
    {"pci", "vendor", ""},
    {"pci", "device", ""},
    {"pci", "link_speed", ""},
    {"pci", "link_width", ""},
    {"pci", "subsystem_vendor", kSameForAll},
    {"pci", "subsystem_device", kSameForAll},
    {"gpu", "dev", ""},
    {"gpu", "rank", ""},
    {"gpu", "sm", ""},
    {"gpu", "gcn", ""},
    {"gpu", "arch", kSameForAll},
    {"gpu", "gdr", "GPUs and NICs are taken to reach each other's memory"},
    {"nvlink", "target", ""},
    {"nvlink", "count", ""},
    {"nvlink", "tclass", ""},
    {"xgmi", "target", ""},
    {"xgmi", "count", ""},
    {"xgmi", "tclass", ""},
    {"net", "name", ""},
    {"net", "dev", ""},
    {"net", "speed", ""},
    {"net", "port", kSameForAll},
    {"net", "guid", kSameForAll},
    {"net", "maxconn", kSameForAll},
    {"net", "gdr", "GPUs and NICs are taken to reach each other's memory"},
    {"net", "latency", "not modelled: what a network plug-in tells NCCL's tuner; the fabric has latencies"},
    {"net", "coll", "not modelled: a plug-in's collectives; fabrics say switch_reduces"},
});

std::string_view text_of(const pugi::xml_node& node, std::string_view key) {
  return node.attribute(std::string(key).c_str()).value();
}

}  // namespace

void NcclAttributes::note_ignored(const pugi::xml_node& node) {
  const std::string_view element = node.name();
  for (const pugi::xml_attribute attribute : node.attributes()) {
    const std::string_view name = attribute.name();
    const auto* const known = std::ranges::find_if(
        kAttributes, [&](const KnownAttribute& one) { return one.name == name && one.element == element; });
    if (known == kAttributes.end()) {
      ignore(fmt::format("{}.{}", element, name), "c3sim does not know it");
      continue;
    }
    const bool is_first = noted_.insert(known).second;
    if (!known->ignored.empty() && is_first)
      ignore(fmt::format("{}.{}", element, name), std::string(known->ignored));
  }
}

void NcclAttributes::refuse(const pugi::xml_node& node, std::string_view allowed) {
  fail(node, node.name(), fmt::format("there is no such element here; allowed: {}", allowed));
}

std::optional<std::int64_t> NcclAttributes::number(const pugi::xml_node& node, std::string_view key,
                                                   std::int64_t most) {
  const std::string_view text = text_of(node, key);
  if (text.empty()) return std::nullopt;
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value > most) {
    fail(node, key, fmt::format("'{}' is not a whole number of at most {}", text, most));
    return std::nullopt;
  }
  return value < 0 ? std::nullopt : std::optional(value);
}

PcieLink NcclAttributes::pcie(const pugi::xml_node& node) {
  constexpr std::int64_t kNotSaid = 255;  // sysfs says this where a link is down
  const std::int64_t lanes = number(node, "link_width", kNotSaid).value_or(0);
  constexpr std::array<std::int64_t, 8> kWidths = {0, 1, 2, 4, 8, 16, 32, kNotSaid};
  if (std::ranges::find(kWidths, lanes) == kWidths.end())
    fail(node, "link_width", fmt::format("{} is not a width of PCIe: 1, 2, 4, 8, 16 or 32 lanes", lanes));
  return {.generation = generation(node), .lanes = lanes == kNotSaid ? 0 : static_cast<int>(lanes)};
}

int NcclAttributes::generation(const pugi::xml_node& node) {
  constexpr std::array<double, 6> kRates = {2.5, 5, 8, 16, 32, 64};  // GT/s of a lane, from 1.0 on
  const std::string_view text = text_of(node, "link_speed");
  double rate = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), rate);
  if (error != std::errc()) return 0;  // "Unknown speed", or nothing
  const auto* const found = std::ranges::find(kRates, rate);
  const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  if (found == kRates.end() || !unit.starts_with(" GT/s")) {
    fail(node, "link_speed", fmt::format("'{}' is not a rate of PCIe: 2.5, 5, 8, 16, 32 or 64 GT/s", text));
    return 0;
  }
  return static_cast<int>(found - kRates.begin()) + 1;
}

std::string NcclAttributes::id(const pugi::xml_node& node, std::string_view key) {
  std::string text = in_small_letters(text_of(node, key));
  return text.starts_with("0x") ? text.substr(2) : text;
}

void NcclAttributes::fail(const pugi::xml_node& node, std::string_view key, std::string_view message) {
  if (mistakes_.size() < kMostMistakes) mistakes_.emplace_back(xml_.place(node, key), key, message);
}

void NcclAttributes::ignore(const std::string& from, const std::string& why) {
  if (seen_.insert(from).second) reading_.ignored.push_back({.from = from, .why = why});
}

void NcclAttributes::finish() const {
  if (!mistakes_.empty()) throw ConfigError(mistakes_);
}

}}  // namespace c3::importers
