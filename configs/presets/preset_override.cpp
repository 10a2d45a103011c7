#include "configs/presets/preset_override.hpp"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "configs/fields/fabric_fields.hpp"
#include "configs/fields/gpu_fields.hpp"
#include "configs/fields/library_fields.hpp"
#include "configs/fields/link_fields.hpp"
#include "configs/toml/quantity_text.hpp"

namespace c3 { inline namespace configs {
namespace {

/// The number itself: of a range its nominal value.
const Node* plain(const Table& table, std::string_view key) {
  const Node* found = table.find(key);
  if (found == nullptr || !is_sourced_value(*found)) return found;
  const Node* value = found->table()->find("value");
  return value != nullptr ? value : found->table()->find("nominal");
}

std::optional<double> number(const Node* node) {
  if (node == nullptr) return std::nullopt;
  if (const auto* integer = std::get_if<std::int64_t>(&node->value)) return static_cast<double>(*integer);
  if (node->text() == nullptr) return std::nullopt;
  const auto quantity = find_quantity(*node->text());
  return quantity ? std::optional(quantity->value) : std::nullopt;
}

void multiply(Node& quantity, double factor) {
  if (quantity.text() == nullptr) return;
  const auto found = find_quantity(*quantity.text());
  if (found) quantity.value = fmt::format("{} {}", found->value * factor, base_unit(found->dimension));
}

void multiply_sourced(Node& rate, double factor, const std::string& why) {
  Table* table = rate.table();
  if (table == nullptr) {
    multiply(rate, factor);
    return;
  }
  for (const std::string_view part : {"value", "low", "nominal", "high"}) {
    if (Node* found = table->find(part)) multiply(*found, factor);
  }
  Node* source = table->find("source");
  if (source != nullptr && source->text() != nullptr) source->value = *source->text() + why;
}

/// A key that keeps its share of another.
struct Share {
  std::string key;   ///< the preset's key
  std::string peak;  ///< dotted
};

template <class Fields>
void add_shares(std::vector<Share>& shares, const Fields& fields, const std::string& table,
                const std::string& prefix = {}) {
  for (const auto& field : fields) {
    if (field.peak.empty()) continue;
    const bool is_dotted = field.peak.find('.') != std::string_view::npos;
    shares.push_back({prefix + std::string(field.key),
                      is_dotted ? std::string(field.peak) : fmt::format("{}.{}{}", table, prefix, field.peak)});
  }
}

constexpr std::string_view kOtherLinks = "node.links.";

std::vector<Share> shares_of(const std::string& table) {
  std::vector<Share> shares;
  if (table == "gpu") add_shares(shares, kHbmRateFields, table);
  if (table == "node") {
    add_shares(shares, kLinkFields, table, "link_");
    add_shares(shares, kLinkFields, table, "pcie_");
  }
  if (table == "fabric") {
    add_shares(shares, kLinkFields, table, "nic_");
    add_shares(shares, kLinkFields, table, "link_");
  }
  if (table == "library") {
    add_shares(shares, kLibraryFields, table);
    add_shares(shares, kNvlsFields, table);
  }
  if (table.starts_with(kOtherLinks)) add_shares(shares, kLinkFields, table);
  return shares;
}

/// How the keys of each rate of matrix products begin.
std::vector<std::string> matrix_rates() {
  std::vector<std::string> rates{kFp32Matrix};
  for (const DType dtype : enum_values<DType>())
    rates.push_back(fmt::format("{}_", name_of(dtype)));
  return rates;
}

class Override {
 public:
  Override(Table& preset, const Table& overrides) : preset_(preset), overrides_(overrides) {}

  /// The factor that the overrides apply to \p key; 1 when they leave it or one of the two cannot be read.
  double change_of(std::string_view key) const {
    const auto before = number(plain(preset_, key));
    const auto after = number(plain(overrides_, key));
    const bool is_known = before && after && *before > 0.0 && *after > 0.0;
    return is_known ? *after / *before : 1.0;
  }

  void follow(const std::string& key, double factor, std::string_view what) {
    Node* rate = preset_.find(key);
    const bool moves = rate != nullptr && factor != 1.0 && overrides_.find(key) == nullptr;
    if (moves) multiply_sourced(*rate, factor, fmt::format("; x {:.6g}, with the overridden {}", factor, what));
  }

  /// Peaks follow compute units and clock, and what large products sustain follows the peak.
  void follow_compute() {
    const double clock = change_of("boost_clock");
    const double speed = change_of("xcds") * change_of("cus_per_xcd") * clock;
    for (const std::string& rate : matrix_rates()) {
      const std::string peak = rate + "peak";
      const bool has_own = overrides_.find(peak) != nullptr;
      follow(rate + "sustained", has_own ? change_of(peak) : speed, has_own ? std::string_view(peak) : kSpeed);
      follow(peak, speed, kSpeed);
      for (const std::string_view clock_key : {"clock", "peak_clock"})
        follow(fmt::format("{}{}", rate, clock_key), clock, "boost clock");
    }
  }

  /// What large products sustain follows the peak, and what streams reach that of memory.
  void follow_own_peaks() {
    for (const std::string& rate : matrix_rates()) {
      const std::string peak = rate + "peak";
      follow(rate + "sustained", change_of(peak), peak);
    }
    for (const auto& field : kHbmRateFields)
      if (!field.peak.empty()) follow(std::string(field.key), change_of(field.peak), field.peak);
  }

 private:
  static constexpr std::string_view kSpeed = "compute units and boost clock";

  Table& preset_;
  const Table& overrides_;
};

/// Each kind of link in a wired node is a table of its own.
void override_other_links(Table& node, const Table& overrides, PeakChanges& changes) {
  Node* links = node.find("links");
  const Node* more = overrides.find("links");
  if (links == nullptr || more == nullptr || links->table() == nullptr || more->table() == nullptr) return;
  for (const Member& member : more->table()->members()) {
    Node* known = links->table()->find(member.key);
    const bool are_tables = known != nullptr && known->table() != nullptr && member.value.table() != nullptr;
    if (are_tables)
      override_preset(std::string(kOtherLinks) + member.key, *known->table(), *member.value.table(), changes);
  }
}

}  // namespace

void override_preset(std::string_view table, Table& preset, const Table& overrides, PeakChanges& changes) {
  Override over(preset, overrides);
  for (const Member& member : overrides.members()) {
    const double change = over.change_of(member.key);
    if (change != 1.0) changes[fmt::format("{}.{}", table, member.key)] = change;
  }
  if (table == "gpu") over.follow_compute();
  if (table == "node") override_other_links(preset, overrides, changes);
  for (const auto& [key, peak] : shares_of(std::string(table))) {
    const auto change = changes.find(peak);
    if (change != changes.end()) over.follow(key, change->second, peak);
  }
  merge(preset, overrides);
}

void follow_stated_peaks(Table& base, const Table& file) { Override(base, file).follow_own_peaks(); }

}}  // namespace c3::configs
