#include "configs/json_schema.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/json.hpp"
#include "configs/document.hpp"
#include "configs/experiment_reader.hpp"

namespace c3 {
namespace {

std::string from_end_to_end(const std::string& regex) { return "^(" + regex + ")$"; }

Json whole_text(const std::string& regex) { return {{"type", "string"}, {"pattern", from_end_to_end(regex)}}; }

/// The names that a file may choose for keys of a table such as \p chosen.
std::string chosen_keys(const TableRule& rule, const KeyRule& chosen) {
  std::vector<std::string_view> fixed;
  for (const KeyRule& key : rule.keys) {
    if (key.presence != Presence::chosen) fixed.push_back(key.key);
  }
  const std::string not_fixed = fixed.empty() ? "" : fmt::format("(?!({})$)", fmt::join(fixed, "|"));
  return from_end_to_end(not_fixed + chosen.prefix + slug_rule().regex);
}

Json requirement(const std::string& key) {
  const std::size_t dot = key.find('.');
  if (dot == std::string::npos) return {{"required", Json::array({key})}};
  return {{"properties", {{key.substr(0, dot), requirement(key.substr(dot + 1))}}}};
}

/// What must be there and what goes with what. Apart from the properties, because a file that extends another
/// may leave everything to it. Lists are replaced whole, so their elements keep their own requirements.
Json requirements(const TableRule& rule) {
  Json out = Json::object();
  if (rule.has_one_key) out = {{"minProperties", 1}, {"maxProperties", 1}};
  for (const KeyRule& key : rule.keys) {
    if (key.presence == Presence::required && !rule.has_one_key) out["required"].push_back(key.key);
    if (!key.with.empty()) out["dependencies"][key.key] = key.with;
    const auto* table = std::get_if<TableRule>(&key.rule->form);
    Json of_table = table == nullptr ? Json() : requirements(*table);
    if (of_table.empty()) continue;
    if (key.presence == Presence::chosen) {
      out["patternProperties"][chosen_keys(rule, key)] = std::move(of_table);
    } else {
      out["properties"][key.key] = std::move(of_table);
    }
  }
  for (const std::vector<std::string>& keys : rule.at_least_one) {
    Json any = Json::array();
    for (const std::string& key : keys)
      any.push_back(requirement(key));
    out["allOf"].push_back(Json{{"anyOf", std::move(any)}});
  }
  return out;
}

class SchemaWriter {
 public:
  Json document(const std::string& title, const TableRule& rule) {
    Json out = {{"$schema", "http://json-schema.org/draft-04/schema#"}, {"title", title}};
    out.update(table(rule));
    out["properties"]["extends"] = value(extends_rule());
    out["anyOf"] = Json::array({Json{{"required", Json::array({"extends"})}}, requirements(rule)});
    out["definitions"] = definitions_;
    return out;
  }

  Json operator()(const AnythingRule&) { return Json::object(); }
  Json operator()(const TextRule&) { return {{"type", "string"}, {"minLength", 1}}; }
  Json operator()(const PatternRule& rule) { return whole_text(rule.regex); }
  Json operator()(const FlagRule&) { return {{"type", "boolean"}}; }
  Json operator()(const IntegerRule& rule) {
    return {{"type", "integer"}, {"minimum", rule.low}, {"maximum", rule.high}};
  }
  Json operator()(const FractionRule& rule) {
    return {{"type", "number"}, {"minimum", rule.low}, {"maximum", rule.high}};
  }
  Json operator()(const QuantityRule& rule) {
    const std::string_view bound = rule.sign == Sign::positive ? "above 0" : "0 or more";
    const std::string name = fmt::format("{} {}", name_of(rule.dimension), bound);
    if (!definitions_.contains(name)) {
      // std::from_chars reads no leading '+'; a zero has no digit 1 to 9 before its exponent.
      const std::string_view not_zero = rule.sign == Sign::positive ? "(?=[0-9.]*[1-9])" : "";
      definitions_[name] = whole_text(fmt::format(R"({}([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)? *({}))",
                                                  not_zero, fmt::join(unit_names(rule.dimension), "|")));
    }
    return {{"$ref", "#/definitions/" + name}};
  }
  Json operator()(const ChoiceRule& rule) { return {{"enum", rule.names}}; }
  Json operator()(const ListRule& rule) {
    return {{"type", "array"}, {"minItems", 1}, {"items", nested(*rule.element)}};
  }
  Json operator()(const AnyOfRule& rule) {
    Json alternatives = Json::array();
    for (const Rule& alternative : rule.alternatives)
      alternatives.push_back(nested(alternative));
    return {{"anyOf", std::move(alternatives)}};
  }
  Json operator()(const TableRule& rule) { return table(rule); }

 private:
  Json value(const Rule& rule) {
    Json plain = std::visit(*this, rule.form);
    if (!rule.provenance) return plain;
    Json ways = Json::array();
    if (*rule.provenance == Provenance::optional) ways.push_back(plain);
    ways.push_back(sourced({"value"}, plain, *rule.provenance, !is_number(rule)));
    if (is_number(rule)) ways.push_back(sourced({"low", "nominal", "high"}, plain, *rule.provenance, true));
    return {{"anyOf", std::move(ways)}};
  }

  static bool is_number(const Rule& rule) {
    return std::holds_alternative<IntegerRule>(rule.form) || std::holds_alternative<FractionRule>(rule.form) ||
           std::holds_alternative<QuantityRule>(rule.form);
  }

  /// In a list a table stands whole, whatever the file extends.
  Json nested(const Rule& rule) {
    Json out = value(rule);
    if (const auto* table = std::get_if<TableRule>(&rule.form))
      out["allOf"] = Json::array({requirements(*table)});
    return out;
  }

  /// An assumed number is a range, never one value.
  static Json sourced(std::vector<std::string> keys, const Json& plain, Provenance provenance,
                      bool may_be_assumed) {
    Json properties = Json::object();
    for (const std::string& key : keys)
      properties[key] = plain;
    std::vector<std::string_view> kinds(kSourceKinds.begin(), kSourceKinds.end());
    if (!may_be_assumed) std::erase(kinds, kAssumed);
    properties["kind"] = {{"enum", kinds}};
    properties["source"] = {{"type", "string"}, {"minLength", 1}};
    if (provenance == Provenance::required) keys.insert(keys.end(), {"kind", "source"});
    return {
        {"type", "object"}, {"properties", properties}, {"required", keys}, {"additionalProperties", false}};
  }

  Json table(const TableRule& rule) {
    Json out = {{"type", "object"}, {"properties", Json::object()}, {"additionalProperties", false}};
    for (const KeyRule& key : rule.keys) {
      if (key.presence == Presence::chosen) {
        out["patternProperties"][chosen_keys(rule, key)] = value(*key.rule);
      } else {
        out["properties"][key.key] = value(*key.rule);
      }
    }
    return out;
  }

  Json definitions_ = Json::object();
};

}  // namespace

std::string json_schema(std::optional<PresetKind> kind) {
  SchemaWriter writer;
  const Json schema = kind ? writer.document(fmt::format("c3sim {} preset", noun_of(*kind)), preset_rule(*kind))
                           : writer.document("c3sim experiment", experiment_rule());
  return schema.dump(2) + "\n";
}

}  // namespace c3
