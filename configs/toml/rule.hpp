#pragma once
/// What may be written for a key, as the reader of that key declares it (section.hpp). The JSON Schema comes
/// out of the same declarations (json_schema.hpp), so there is no second list of keys.

#include <array>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "configs/toml/quantity_text.hpp"
#include "configs/toml/tree.hpp"

namespace c3 { inline namespace configs {

/// Whether every number must say where it comes from. Presets must; an experiment speaks for itself.
enum class Provenance { optional, required };

/// What the `kind` of a number with its provenance may be. An assumed number is a range.
inline constexpr std::string_view kAssumed = "assumed";
inline constexpr std::array<std::string_view, 4> kSourceKinds = {"published", "measured", "derived", kAssumed};

enum class Sign { positive, not_negative };

struct Rule;
struct KeyRule;

struct AnythingRule {};  ///< read by the caller, who says what is wrong
struct TextRule {};      ///< not empty
/// A text that the ECMA 262 expression `regex` matches from end to end, such as `example`.
struct PatternRule {
  std::string regex;
  std::string example;
};
struct FlagRule {};
struct IntegerRule {
  std::int64_t low = 0;  ///< both ends allowed
  std::int64_t high = 0;
};
struct FractionRule {
  double high = 1.0;  ///< both ends allowed
  double low = 0.0;
};
struct QuantityRule {
  Dimension dimension = Dimension::bytes;
  Sign sign = Sign::positive;
};
struct ChoiceRule {
  std::vector<std::string> names;
};
struct ListRule {
  std::shared_ptr<Rule> element;  ///< at least one
};
struct AnyOfRule {
  std::vector<Rule> alternatives;
};
struct TableRule {
  std::list<KeyRule> keys;   ///< a list: rules keep their place while others are added
  bool has_one_key = false;  ///< exactly one of `keys`
  /// Each of these lists needs at least one key; a key of a table, such as "model.tokens", counts only where
  /// there is that table.
  std::vector<std::vector<std::string>> at_least_one;

  KeyRule* find(std::string_view key);  ///< nullptr when absent
};

struct Rule {
  std::variant<AnythingRule, TextRule, PatternRule, FlagRule, IntegerRule, FractionRule, QuantityRule,
               ChoiceRule, ListRule, AnyOfRule, TableRule>
      form;
  std::optional<Provenance> provenance = std::nullopt;  ///< absent: the value is written without a source
};

enum class Presence { required, optional, chosen };

/// A value that no file wrote: what holds without a key. Texts are static.
using PlainValue = std::variant<std::monostate, bool, std::int64_t, double, std::string_view>;

/// What must hold of a run for a key to matter to it (configs/fields/when.hpp), the most general first. The
/// rest is 0.
enum class When : std::uint8_t;
using Conditions = std::array<When, 3>;

/// What a key means.
struct KeyText {
  std::string_view key;
  std::string_view meaning;   ///< one line: what it is, with its unit where the value has none
  PlainValue otherwise = {};  ///< without the key, where that is one value
  Conditions used_if = {};
};

struct KeyRule {
  std::string key;  ///< with Presence::chosen an example: the file names such keys as it likes, each a slug
  Presence presence = Presence::required;
  std::optional<Rule> rule = std::nullopt;  ///< absent: nothing has read the value yet
  std::vector<std::string> with = {};       ///< keys that must be there when this one is
  std::string prefix = {};                  ///< with Presence::chosen: of the names
  std::string meaning = {};                 ///< one line
  PlainValue otherwise = {};                ///< without the key; monostate: none, or it depends on other keys
  Conditions used_if = {};
};

/// A name fit for files and groups: letters, digits, `_`, `-` and `.`, beginning with none of the last two.
PatternRule slug_rule();

Node node_of(const PlainValue& value);  ///< \pre not monostate

/// A value that \p rule allows, the largest of a range. Its origin says "example".
Node example_of(const Rule& rule);

}}  // namespace c3::configs
