#include "configs/toml/missing_keys.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <vector>

#include "configs/toml/quantity_text.hpp"

namespace c3 { inline namespace configs {
namespace {

/// "a bandwidth [B/s, ..]": what may be written for a key.
struct FormText {
  std::string operator()(const AnythingRule&) const { return ""; }
  std::string operator()(const TextRule&) const { return "text"; }
  std::string operator()(const PatternRule& rule) const { return fmt::format("text as \"{}\"", rule.example); }
  std::string operator()(const FlagRule&) const { return "true or false"; }
  std::string operator()(const IntegerRule& rule) const {
    return fmt::format("integer, {} to {}", rule.low, rule.high);
  }
  std::string operator()(const FractionRule& rule) const {
    return fmt::format("number, {} to {}", rule.low, rule.high);
  }
  std::string operator()(const QuantityRule& rule) const {
    return fmt::format("{} [{}]", name_of(rule.dimension), base_unit(rule.dimension));
  }
  std::string operator()(const ChoiceRule& rule) const {
    return fmt::format("{}", fmt::join(rule.names, " | "));
  }
  std::string operator()(const ListRule& rule) const {
    return "list of " + std::visit(*this, rule.element->form);
  }
  std::string operator()(const AnyOfRule& rule) const {
    return std::visit(*this, rule.alternatives.front().form);
  }
  std::string operator()(const TableRule&) const { return "table"; }
};

struct Lacks {
  std::vector<std::string> keys;     ///< a line each
  std::vector<std::string> sources;  ///< dotted keys
};

bool is_required(const KeyRule& key, const TableRule& rule, const Table& table) {
  if (key.presence == Presence::required) return !rule.has_one_key;
  return std::ranges::any_of(rule.keys, [&](const KeyRule& other) {
    const bool needs_it = std::ranges::find(other.with, key.key) != other.with.end();
    return needs_it && key.presence == Presence::optional && table.find(other.key) != nullptr;
  });
}

bool has_text(const Table& table, std::string_view key) {
  const Node* found = table.find(key);
  return found != nullptr && found->text() != nullptr && !found->text()->empty();
}

bool has_provenance(const Node& value) {
  return is_sourced_value(value) && has_text(*value.table(), "kind") && has_text(*value.table(), "source");
}

void collect(const TableRule& rule, const Table& table, const std::string& path, Lacks& lacks) {
  for (const KeyRule& key : rule.keys) {
    if (!key.rule) continue;
    const std::string dotted = path + key.key;
    const Node* value = table.find(key.key);
    if (value == nullptr) {
      if (!is_required(key, rule, table)) continue;
      lacks.keys.push_back(fmt::format("  {:<20} {}{}{}", dotted, std::visit(FormText{}, key.rule->form),
                                       key.meaning.empty() ? "" : ": ", key.meaning));
      continue;
    }
    if (const auto* inner = std::get_if<TableRule>(&key.rule->form);
        inner != nullptr && value->table() != nullptr)
      collect(*inner, *value->table(), dotted + ".", lacks);
    if (key.rule->provenance == Provenance::required && !has_provenance(*value))
      lacks.sources.push_back(dotted);
  }
}

}  // namespace

void refuse_incomplete(const TableRule& rule, const Node& table, const std::string& noun) {
  Lacks lacks;
  collect(rule, *table.table(), "", lacks);
  const bool is_one_source = lacks.keys.empty() && lacks.sources.size() <= 1;  // told where it stands
  if (is_one_source) return;
  std::vector<std::string> parts;
  std::string list;
  if (!lacks.keys.empty()) {
    parts.push_back(
        fmt::format("{} {} missing", lacks.keys.size(), lacks.keys.size() > 1 ? "keys are" : "key is"));
    list += fmt::format("\n{}", fmt::join(lacks.keys, "\n"));
  }
  if (!lacks.sources.empty()) {
    parts.push_back(
        fmt::format("{} {} kind or source, as in {{ value = .., kind = \"measured\", source = \"..\" }}: {}",
                    lacks.sources.size(), lacks.sources.size() > 1 ? "values lack" : "value lacks",
                    fmt::join(lacks.sources, ", ")));
  }
  throw ConfigError(table.origin, noun, fmt::format("{}", fmt::join(parts, "; ")), list);
}

}}  // namespace c3::configs
