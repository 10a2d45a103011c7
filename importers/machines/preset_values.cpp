#include "importers/machines/preset_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "configs/presets/preset_store.hpp"
#include "configs/toml/quantity_text.hpp"

namespace c3 { inline namespace importers {
namespace {

constexpr double kGiga = 1e9;

Node text_node(const Origin& origin, std::string_view text) { return {std::string(text), origin}; }

/// The shipped preset that has the rates of one generation of PCIe, 16 lanes. Older ones are shares of 3.0.
struct ShippedPcie {
  int generation;
  std::string_view node;
  std::string_view prefix;
};
constexpr auto kShippedPcie = std::to_array<ShippedPcie>({
    {3, "v100-sxm2-8", "pcie_"},
    {4, "a100-pcie-4", "link_"},
    {5, "rtx-pro-6000-8", "link_"},
    {6, "b300-sxm-8", "pcie_"},
});

}  // namespace

Origin origin_in(const std::string& file) { return {std::make_shared<const std::string>(file), 0, 0}; }

Origin begin_of(const std::string& file) { return {std::make_shared<const std::string>(file), 1, 1}; }

Node sourced(const Origin& origin, decltype(Node::value) value, std::string_view kind,
             std::string_view source) {
  Table table;
  table.put("value", origin, {std::move(value), origin});
  table.put("kind", origin, text_node(origin, kind));
  table.put("source", origin, text_node(origin, source));
  return {std::move(table), origin};
}

Node scaled(const Node& bandwidth, double factor, std::string_view why) {
  Node result = bandwidth;
  if (factor == 1.0 || result.table() == nullptr) return result;
  for (const std::string_view key : {"value", "low", "nominal", "high"}) {
    Node* const number = result.table()->find(key);
    if (number == nullptr) continue;
    const double rate = parse_quantity(*number->text(), Dimension::bandwidth);
    number->value = fmt::format("{:.6g} GB/s", rate * factor / kGiga);
  }
  Node* const kind = result.table()->find("kind");
  if (*kind->text() != "assumed") kind->value = std::string("derived");
  Node* const source = result.table()->find("source");
  source->value = fmt::format("{}; {}", *source->text(), why);
  return result;
}

const Node& nominal_of(const Node& sourced) {
  const Table& table = *sourced.table();
  const Node* const value = table.find("value");
  return value != nullptr ? *value : *table.find("nominal");
}

LinkValues shipped_link(const std::string& preset, std::string_view prefix) {
  const Node node = load_preset(PresetKind::node, preset, origin_in(preset), "node");
  LinkValues link;
  for (std::size_t key = 0; key < kLinkKeys.size(); ++key)
    link[key] = *node.table()->find(fmt::format("{}{}", prefix, kLinkKeys[key]));
  return link;
}

LinkValues shipped_kind(const std::string& preset, std::string_view kind) {
  const Node node = load_preset(PresetKind::node, preset, origin_in(preset), "node");
  const Table& values = *node.table()->find("links")->table()->find(kind)->table();
  LinkValues link;
  for (std::size_t key = 0; key < kLinkKeys.size(); ++key)
    link[key] = *values.find(kLinkKeys[key]);
  return link;
}

LinkValues scaled(const LinkValues& link, double factor, std::string_view why) {
  LinkValues result = link;
  for (std::size_t key = 0; key + 1 < kLinkKeys.size(); ++key)
    result[key] = scaled(link[key], factor, why);
  return result;
}

LinkValues pcie_values(const PcieLink& link) {
  constexpr int kOldest = 3;
  constexpr int kLanes = 16;
  const int generation = std::max(link.generation, kOldest);
  const auto* const shipped = std::ranges::find(kShippedPcie, generation, &ShippedPcie::generation);
  const double factor = raw_rate(link) / raw_rate({generation, kLanes});
  const int lanes = link.lanes > 0 ? link.lanes : kLanes;
  return scaled(shipped_link(std::string(shipped->node), shipped->prefix), factor,
                fmt::format("{:.4g} times that for PCIe {}.0 with {} lanes", factor, link.generation, lanes));
}

double raw_of(const LinkValues& link) {
  return parse_quantity(*nominal_of(link.front()).text(), Dimension::bandwidth);
}

}}  // namespace c3::importers
