#include "configs/jobs/json_schema.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <map>

#include "base/json.hpp"
#include "configs/jobs/experiment_reader.hpp"
#include "configs/jobs/shared_schema.hpp"
#include "configs/presets/document.hpp"

namespace c3 { inline namespace configs {
namespace {

std::string from_end_to_end(const std::string& regex) { return "^(" + regex + ")$"; }

Json whole_text(const std::string& regex) { return {{"type", "string"}, {"pattern", from_end_to_end(regex)}}; }

/// Whether \p fixed is one of the keys whose names a file may choose as \p chosen: share_default of
/// share_FAMILY.
bool is_one_of(const KeyRule& fixed, const KeyRule& chosen) {
  return fixed.presence != Presence::chosen && fixed.key.starts_with(chosen.prefix) &&
         fixed.meaning == chosen.meaning;
}

/// The names that a file may choose for keys of a table such as \p chosen.
std::string chosen_keys(const TableRule& rule, const KeyRule& chosen) {
  std::vector<std::string_view> fixed;
  for (const KeyRule& key : rule.keys) {
    if (key.presence != Presence::chosen && key.key.starts_with(chosen.prefix) && !is_one_of(key, chosen))
      fixed.push_back(key.key);
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

Json json_of(const PlainValue& value) {
  if (const auto* text = std::get_if<std::string_view>(&value)) return std::string(*text);
  if (const auto* flag = std::get_if<bool>(&value)) return *flag;
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return *integer;
  return std::get<double>(value);
}

constexpr std::uint64_t kLongLimit = 1'000'000;
constexpr double kLargestWhole = 1e15;  // a double holds it exactly, with room

class SchemaWriter {
 public:
  /// \param has_presets whether it is of experiments, which override presets in place
  Json document(const std::string& title, const TableRule& rule, bool has_presets) {
    Json out = table(rule);
    out["properties"]["extends"] =
        explained({.key = "extends",
                   .rule = extends_rule(),
                   .meaning = "files, relative to this one, on top of which it is put"});
    out["anyOf"] = Json::array({Json{{"required", Json::array({"extends"})}}, requirements(rule)});
    // An experiment rarely overrides coefficients, whose meanings are a twentieth of all: `config schema
    // library` and `gpu` have them.
    Json& properties = out["properties"];
    if (has_presets) {
      Json& library = properties["library"]["properties"];
      Json variables = library["env"];  // which no preset has
      for (Json* coefficients : {&library, &properties["gpu"]["properties"]["kernels"]})
        *coefficients = unexplained_throughout(*coefficients);
      library["env"] = std::move(variables);
    }
    Json whole = {{"$schema", "http://json-schema.org/draft-04/schema#"}, {"title", title}};
    whole.update(with_shared_parts(out, definitions_, names_));
    whole["$defs"] = definitions_;
    return whole;
  }

  Json operator()(const AnythingRule&) { return Json::object(); }
  Json operator()(const TextRule&) { return {{"type", "string"}, {"minLength", 1}}; }
  Json operator()(const PatternRule& rule) { return whole_text(rule.regex); }
  Json operator()(const FlagRule&) { return {{"type", "boolean"}}; }
  Json operator()(const IntegerRule& rule) {
    return {{"type", "integer"}, {"minimum", rule.low}, {"maximum", rule.high}};
  }
  Json operator()(const FractionRule& rule) {
    return {{"type", "number"}, {"minimum", limit(rule.low)}, {"maximum", limit(rule.high)}};
  }
  Json operator()(const QuantityRule& rule) {
    const std::string name = noun_of({rule});
    if (!definitions_.contains(name)) {
      // std::from_chars reads no leading '+'; a zero has no digit 1 to 9 before its exponent.
      const std::string_view not_zero = rule.sign == Sign::positive ? "(?=[0-9.]*[1-9])" : "";
      definitions_[name] = whole_text(fmt::format(R"({}([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)? *({}))",
                                                  not_zero, fmt::join(unit_names(rule.dimension), "|")));
    }
    return reference_to(name);
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
  /// Whole numbers without ".0".
  static Json limit(double value) {
    const auto whole = static_cast<std::int64_t>(std::clamp(value, -kLargestWhole, kLargestWhole));
    if (static_cast<double>(whole) == value) return whole;
    return value;
  }

  /// Plain, or in a table with its source.
  Json value(const Rule& rule) {
    Json plain = std::visit(*this, rule.form);
    if (!rule.provenance) return plain;
    const bool required = *rule.provenance == Provenance::required;
    if (std::holds_alternative<FlagRule>(rule.form) && !required) {
      definitions_[kFlag] = with_table(Json::object(), plain, rule);
      return reference_to(kFlag);
    }
    // What a text or a choice with its source may be is left to the reader: few write it so, and each list of
    // choices would stand twice.
    if (!is_number(rule))
      return required ? with_table({{"properties", {{"value", plain}}}}, plain, rule)
                      : with_table(Json::object(), plain, rule);
    const std::string name = noun_of(rule) + (required ? '!' : '?');  // short, since each reference has it
    Json either = number(rule, plain);
    if (!has_limits(rule)) {
      definitions_[name] = std::move(either);
      return reference_to(name);
    }
    names_[either.dump()] = name;
    return either;
  }

  /// \p plain, or the table that holds it with its source as \p of_table says.
  Json with_table(Json of_table, const Json& plain, const Rule& rule) {
    Json sourced = reference_to(table_of(*rule.provenance, is_number(rule)));
    if (!of_table.empty()) {
      sourced = {{"allOf", Json::array({std::move(sourced)})}};
      sourced.update(of_table);
    }
    if (*rule.provenance == Provenance::required) return sourced;
    return {{"anyOf", Json::array({plain, std::move(sourced)})}};
  }

  /// Value, or low, nominal and high: all keys of a number's table but kind and source, said shortly.
  static Json numbers_of_table(const Json& plain) { return {{"patternProperties", {{"^[^ks]", plain}}}}; }

  Json number(const Rule& rule, const Json& plain) {
    if (*rule.provenance == Provenance::required || !has_limits(rule))
      return with_table(numbers_of_table(plain), plain, rule);
    // Limits of numbers say nothing of tables, so that one definition of number or table serves all limits.
    const Json type = {{"type", plain["type"]}};
    const std::string any = "any " + type["type"].text();
    if (!definitions_.contains(any)) definitions_[any] = with_table(numbers_of_table(type), type, rule);
    const Json limits = {{"minimum", plain["minimum"]}, {"maximum", plain["maximum"]}};
    Json out = {{"allOf", Json::array({reference_to(any)})}};
    out.update(limits);
    out.update(numbers_of_table(limits));
    return out;
  }

  /// "int 1..2^40", "num 0..1", "bandwidth above 0"; a name with ! has its source, one with ? may have it.
  static std::string noun_of(const Rule& number) {
    if (const auto* integer = std::get_if<IntegerRule>(&number.form))
      return fmt::format("int {}..{}", short_limit(integer->low), short_limit(integer->high));
    if (const auto* fraction = std::get_if<FractionRule>(&number.form))
      return fmt::format("num {}..{}", fraction->low, fraction->high);
    const auto& quantity = std::get<QuantityRule>(number.form);
    return fmt::format("{} {}", name_of(quantity.dimension),
                       quantity.sign == Sign::positive ? "above 0" : "0 or more");
  }

  /// Large powers of two as such.
  static std::string short_limit(std::int64_t limit) {
    const auto size = static_cast<std::uint64_t>(std::abs(limit));
    if (size < kLongLimit || !std::has_single_bit(size)) return fmt::format("{}", limit);
    return fmt::format("{}2^{}", limit < 0 ? "-" : "", std::bit_width(size) - 1);
  }

  static bool has_limits(const Rule& rule) {
    return std::holds_alternative<IntegerRule>(rule.form) || std::holds_alternative<FractionRule>(rule.form);
  }

  static bool is_number(const Rule& rule) {
    return has_limits(rule) || std::holds_alternative<QuantityRule>(rule.form);
  }

  /// A table in a list stands whole, whatever the file extends.
  Json nested(const Rule& rule) {
    Json out = value(rule);
    if (const auto* table = std::get_if<TableRule>(&rule.form))
      out["allOf"] = Json::array({requirements(*table)});
    return out;
  }

  /// The definition of the table in which a value stands with its source, whatever the value. A number may be a
  /// range, and an assumed one must be.
  std::string table_of(Provenance provenance, bool is_number) {
    const bool required = provenance == Provenance::required;
    std::string name = fmt::format("{}{}", is_number ? "number" : "value", required ? " with its source" : "");
    if (definitions_.contains(name)) return name;
    const auto with = [&](std::vector<std::string> keys, bool may_be_assumed) {
      std::vector<std::string_view> kinds(kSourceKinds.begin(), kSourceKinds.end());
      if (!may_be_assumed) std::erase(kinds, kAssumed);
      Json properties = Json::object();
      for (const std::string& key : keys)
        properties[key] = Json::object();
      properties["kind"] = {{"enum", kinds}};
      properties["source"] = {{"type", "string"}, {"minLength", 1}};
      if (required) keys.insert(keys.end(), {"kind", "source"});
      return Json{
          {"type", "object"}, {"properties", properties}, {"required", keys}, {"additionalProperties", false}};
    };
    Json ways = Json::array({with({"value"}, !is_number)});
    if (is_number) ways.push_back(with({"low", "nominal", "high"}, true));
    definitions_[name] = {{"anyOf", std::move(ways)}};
    return name;
  }

  Json table(const TableRule& rule) {
    Json out = {{"type", "object"}, {"properties", Json::object()}, {"additionalProperties", false}};
    for (const KeyRule& key : rule.keys) {
      if (key.presence == Presence::chosen) {
        Json part = explained(key);
        const bool is_explained =
            std::ranges::any_of(rule.keys, [&](const KeyRule& other) { return is_one_of(other, key); });
        out["patternProperties"][chosen_keys(rule, key)] = is_explained ? unexplained(part) : part;
      } else {
        out["properties"][key.key] = explained(key);
      }
    }
    return out;
  }

  Json explained(const KeyRule& key) {
    Json out = value(*key.rule);
    if (!key.meaning.empty()) out["description"] = key.meaning;
    if (!std::holds_alternative<std::monostate>(key.otherwise)) out["default"] = json_of(key.otherwise);
    return out;
  }

  static constexpr const char* kFlag = "flag?";  // named as noun_of() has it

  Json definitions_ = Json::object();
  std::map<std::string, std::string> names_;  ///< names of numbers with limits, keyed by their text
};

}  // namespace

std::string json_schema(std::optional<PresetKind> kind) {
  SchemaWriter writer;
  const Json schema =
      kind ? writer.document(fmt::format("c3sim {} preset", noun_of(*kind)), preset_rule(*kind), false)
           : writer.document("c3sim experiment", experiment_rule(), true);
  return schema.dump() + "\n";  // line breaks and indentation would be a quarter of it
}

}}  // namespace c3::configs
