#include "configs/toml/config_diff.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <unordered_map>
#include <utility>

#include "configs/toml/quantity_text.hpp"
#include "configs/toml/toml_text.hpp"

namespace c3 { inline namespace configs {
namespace {

/// Products of a number and its unit's factor may differ in their last bit: "500 ns" and "0.5 us".
constexpr double kRounding = 1e-14;

/// A value as written; a sourced one has several numbers.
struct Leaf {
  std::string text;
  std::vector<std::string> parts;
};

struct Leaves {
  std::vector<std::string> keys;  ///< keys in the order of the file
  std::unordered_map<std::string, Leaf> values;

  void add(const std::string& key, const Leaf& leaf) {
    if (values.try_emplace(key, leaf).second) keys.push_back(key);
  }
};

std::string text_of(const Node& node) {
  if (const std::string* text = node.text()) return *text;
  Table table;
  table.put("x", {}, node);
  std::string line = write_toml(table);  // "x = 5\n"
  line.pop_back();
  return line.substr(line.find('=') + 2);
}

Leaf sourced_leaf(const Table& table) {
  const auto part = [&](const char* key) {
    const Node* const node = table.find(key);
    return node == nullptr ? std::string() : text_of(*node);
  };
  if (table.find("value") != nullptr) return {.text = part("value"), .parts = {part("value")}};
  const std::string low = part("low"), nominal = part("nominal"), high = part("high");
  return {.text = fmt::format("{} ({} to {})", nominal, low, high), .parts = {nominal, low, high}};
}

void collect(Leaves& leaves, const std::string& key, const Node& node, bool with_sources) {
  const auto below = [&](const std::string& name) { return key.empty() ? name : key + "." + name; };
  if (is_sourced_value(node)) {
    leaves.add(key, sourced_leaf(*node.table()));
    for (const char* const mark : {"kind", "source"}) {
      const Node* const found = with_sources ? node.table()->find(mark) : nullptr;
      if (found != nullptr) leaves.add(below(mark), {text_of(*found), {text_of(*found)}});
    }
  } else if (const Table* const table = node.table(); table != nullptr && !table->empty()) {
    for (const Member& member : table->members())
      collect(leaves, below(member.key), member.value, with_sources);
  } else if (const Array* const array = node.array(); array != nullptr && !array->empty()) {
    for (std::size_t i = 0; i < array->size(); ++i)
      collect(leaves, fmt::format("{}[{}]", key, i), (*array)[i], with_sources);
  } else {
    leaves.add(key, {text_of(node), {text_of(node)}});
  }
}

/// The value of a bare number or a quantity, in SI units.
struct Number {
  std::optional<Dimension> dimension;
  double value = 0;
};

std::optional<Number> number_of(const std::string& text) {
  char* end = nullptr;
  const double bare = std::strtod(text.c_str(), &end);
  if (end == text.c_str()) return std::nullopt;
  if (*end == '\0') return Number{std::nullopt, bare};
  const std::optional<QuantityText> quantity = find_quantity(text);
  if (!quantity) return std::nullopt;
  return Number{quantity->dimension, quantity->value};
}

/// The numbers of two texts, if both have the same dimension.
std::optional<std::pair<double, double>> numbers_of(const std::string& a, const std::string& b) {
  const std::optional<Number> first = number_of(a), second = number_of(b);
  if (!first || !second || first->dimension != second->dimension) return std::nullopt;
  return std::pair(first->value, second->value);
}

bool is_equal(const std::string& a, const std::string& b, double tolerance) {
  if (a == b) return true;
  const auto numbers = numbers_of(a, b);
  if (!numbers) return false;
  const auto [x, y] = *numbers;
  return std::abs(x - y) <= std::max(tolerance, kRounding) * std::max(std::abs(x), std::abs(y));
}

bool is_equal(const Leaf& a, const Leaf& b, double tolerance) {
  return std::ranges::equal(a.parts, b.parts, [&](const std::string& one, const std::string& other) {
    return is_equal(one, other, tolerance);
  });
}

std::optional<double> relative_change(const Leaf& a, const Leaf& b) {
  const auto numbers = numbers_of(a.parts.front(), b.parts.front());
  if (!numbers || numbers->first == 0.0) return std::nullopt;
  return numbers->second / numbers->first - 1.0;
}

}  // namespace

std::vector<ConfigChange> config_diff(const Table& a, const Table& b, const ConfigDiffOptions& options) {
  Leaves first, second;
  collect(first, "", {a, {}}, options.with_sources);
  collect(second, "", {b, {}}, options.with_sources);
  std::vector<ConfigChange> changes;
  for (const std::string& key : first.keys) {
    const Leaf& leaf = first.values.at(key);
    const auto other = second.values.find(key);
    if (other == second.values.end()) {
      changes.push_back({key, leaf.text, std::nullopt, std::nullopt});
    } else if (!is_equal(leaf, other->second, options.tolerance)) {
      changes.push_back({key, leaf.text, other->second.text, relative_change(leaf, other->second)});
    }
  }
  for (const std::string& key : second.keys) {
    if (!first.values.contains(key))
      changes.push_back({key, std::nullopt, second.values.at(key).text, std::nullopt});
  }
  return changes;
}

}}  // namespace c3::configs
