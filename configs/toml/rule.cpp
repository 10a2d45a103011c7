#include "configs/toml/rule.hpp"

#include <algorithm>
#include <memory>

namespace c3 { inline namespace configs {
namespace {

Origin example_origin() {
  static const Origin kOrigin = {std::make_shared<const std::string>("example"), 1, 1};
  return kOrigin;
}

Node example_of(const TableRule& rule) {
  Table table;
  for (const KeyRule& key : rule.keys) {
    const bool wanted = rule.has_one_key ? table.empty() : key.presence == Presence::required;
    if (wanted) table.put(key.key, example_origin(), example_of(*key.rule));
  }
  return {std::move(table), example_origin()};
}

struct ExampleMaker {
  Node operator()(const AnythingRule&) const { return {std::string("x"), example_origin()}; }
  Node operator()(const TextRule&) const { return {std::string("x"), example_origin()}; }
  Node operator()(const PatternRule& rule) const { return {rule.example, example_origin()}; }
  Node operator()(const FlagRule&) const { return {true, example_origin()}; }
  Node operator()(const IntegerRule& rule) const { return {rule.high, example_origin()}; }
  Node operator()(const FractionRule& rule) const { return {rule.high, example_origin()}; }
  Node operator()(const QuantityRule& rule) const {
    return {"1 " + unit_names(rule.dimension).front(), example_origin()};
  }
  Node operator()(const ChoiceRule& rule) const { return {rule.names.front(), example_origin()}; }
  Node operator()(const ListRule& rule) const {
    return {Array{c3::example_of(*rule.element)}, example_origin()};
  }
  Node operator()(const AnyOfRule& rule) const { return c3::example_of(rule.alternatives.front()); }
  Node operator()(const TableRule& rule) const { return example_of(rule); }
};

}  // namespace

KeyRule* TableRule::find(std::string_view key) {
  const auto found = std::ranges::find(keys, key, &KeyRule::key);
  return found == keys.end() ? nullptr : &*found;
}

PatternRule slug_rule() { return {"[A-Za-z0-9_][A-Za-z0-9_.-]*", "x"}; }

Node node_of(const PlainValue& value) {
  if (const auto* text = std::get_if<std::string_view>(&value)) return {std::string(*text), {}};
  if (const auto* flag = std::get_if<bool>(&value)) return {*flag, {}};
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return {*integer, {}};
  return {std::get<double>(value), {}};
}

Node example_of(const Rule& rule) { return std::visit(ExampleMaker{}, rule.form); }

}}  // namespace c3::configs
