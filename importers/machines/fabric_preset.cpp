#include "importers/machines/fabric_preset.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "configs/presets/preset_store.hpp"
#include "configs/toml/toml_text.hpp"
#include "importers/machines/node_preset.hpp"
#include "importers/machines/preset_values.hpp"

namespace c3 { inline namespace importers {
namespace {

/// Shipped fabrics of InfiniBand by the rate of a NIC, Gb/s.
struct Generation {
  double gigabits;
  std::string_view preset;
};
constexpr auto kGenerations =
    std::to_array<Generation>({{100, "ib-edr"}, {200, "ib-hdr"}, {400, "ib-ndr"}, {800, "ib-xdr"}});
constexpr std::string_view kUsual = "ib-ndr";

/// The newest that is not faster; the oldest where all are.
const Generation& generation_of(double gigabits) {
  const auto* found = kGenerations.begin();
  for (const Generation& one : kGenerations) {
    if (one.gigabits <= gigabits) found = &one;
  }
  return *found;
}

class FabricDraft {
 public:
  FabricDraft(FileReading& reading, const SwitchTree& tree)
      : reading_(reading), tree_(tree), at_(origin_in(reading.file)) {}

  std::string write(const std::string& name) {
    const bool is_said = tree_.gigabits > 0.0;
    const Generation& generation = generation_of(tree_.gigabits);
    base_ = is_said ? generation.preset : kUsual;
    table_ = *load_preset(PresetKind::fabric, base_, at_, "fabric").table();
    table_.put("name", at_, {name, at_});
    if (is_said) put_rates(tree_.gigabits / generation.gigabits);
    for (const std::string_view key : {"leaf_nics", "spines", "leaf_oversubscription", "pod_leaves",
                                       "spine_cores", "pod_oversubscription", "routing", "nics"})
      table_.erase(key);
    put_switches();
    check_preset(PresetKind::fabric, {table_, at_});
    return fmt::format("# Switches as {} has them, {}; NICs and latencies as {}.\n\n{}", reading_.file,
                       reading_.what, base_, write_toml(table_));
  }

  const std::string& base() const { return base_; }

 private:
  void put_rates(double factor) {
    const std::string why = fmt::format("{} Gb/s ({})", tree_.gigabits, reading_.file);
    for (const std::string_view key : {"nic_raw", "nic_one_way", "nic_both_ways"})
      table_.put(key, at_, scaled(*table_.find(key), factor, why));
  }

  void put(std::string_view key, decltype(Node::value) value) {
    table_.put(key, at_, sourced(at_, std::move(value), "derived", reading_.file));
  }

  /// What the file says of uplinks, or what such a tree usually has.
  void put_uplinks(std::string_view key, decltype(Node::value) value) {
    if (tree_.knows_uplinks) {
      put(key, std::move(value));
      return;
    }
    table_.put(key, at_,
               sourced(at_, std::move(value), "derived", "a tree that never blocks: the file does not say"));
  }

  std::int64_t within(std::string_view key, int number, int most) {
    const int bound = std::clamp(number, 1, most);
    if (bound != number)
      reading_.unmodelled.push_back({.what = fmt::format("{} of {}: c3sim allows {}", key, number, bound)});
    return bound;
  }

  double ratio(double oversubscription) const {
    constexpr double kLeast = 0.01;
    constexpr double kMost = 64.0;
    constexpr double kDigits = 1000.0;
    return std::round(std::clamp(oversubscription, kLeast, kMost) * kDigits) / kDigits;
  }

  void put_switches() {
    constexpr int kMostPorts = 4096;
    constexpr int kMostSwitches = 256;
    if (tree_.levels == 1) {
      put("topology", std::string("single_switch"));
      return;
    }
    put("topology", std::string(tree_.has_rails ? "leaf_spine" : "fat_tree"));
    put("leaf_nics", within("leaf_nics", tree_.leaf_nics, kMostPorts));
    put_uplinks("spines", within("spines", tree_.spines, kMostSwitches));
    put_uplinks("leaf_oversubscription", ratio(tree_.leaf_oversubscription));
    table_.put("routing", at_,
               sourced(at_, std::string("adaptive"), "published", "NVIDIA Quantum-2: adaptive routing"));
    if (tree_.levels == 2) return;
    put("pod_leaves", within("pod_leaves", tree_.pod_leaves, kMostPorts));
    put_uplinks("spine_cores", within("spine_cores", tree_.spine_cores, kMostSwitches));
    put_uplinks("pod_oversubscription", ratio(tree_.pod_oversubscription));
  }

  FileReading& reading_;
  const SwitchTree& tree_;
  Origin at_;
  std::string base_;
  Table table_;
};

}  // namespace

void add_fabric(FileReading& reading, SwitchTree tree, const std::string& root) {
  constexpr int kMostLevels = 3;
  if (tree.levels > kMostLevels) {
    reading.unmodelled.push_back(
        {.what = fmt::format("{} levels of switches: those above the second are taken for one", tree.levels)});
    tree.levels = kMostLevels;
  }
  const std::string name = preset_name_of(reading.file);
  FabricDraft draft(reading, tree);
  std::string text = draft.write(name);
  reading.taken.push_back({.from = root, .key = "fabric.use", .value = fmt::format("\"{}\"", name)});
  reading.presets.push_back({.path = fmt::format("fabrics/{}.toml", name), .text = std::move(text)});
  if (tree.gigabits <= 0.0) {
    reading.ignored.push_back(
        {.from = "NICs",
         .why = fmt::format("the file does not say how fast they are: as in {}", draft.base())});
  }
  if (!tree.knows_uplinks && tree.levels > 1) {
    reading.ignored.push_back(
        {.from = "uplinks",
         .why = "the file does not say how many there are: as many as never block are taken"});
  }
}

}}  // namespace c3::importers
