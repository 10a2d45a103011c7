#include "configs/jobs/shared_schema.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <string_view>
#include <utility>

namespace c3 { inline namespace configs {
namespace {

/// Under which a key's meaning and default stand, for editors to show.
constexpr std::array<std::string_view, 2> kExplanations = {"description", "default"};

bool explains(const std::string& key) { return std::ranges::find(kExplanations, key) != kExplanations.end(); }

}  // namespace

Json reference_to(const std::string& name) { return {{"$ref", "#/$defs/" + name}}; }

Json unexplained(const Json& schema) {
  Json out = Json::object();
  for (const auto& [key, value] : schema.members()) {
    if (!explains(key)) out[key] = value;
  }
  return out;
}

Json unexplained_throughout(const Json& schema) {
  if (schema.is_array()) {
    Json out = Json::array();
    for (const Json& element : schema.elements())
      out.push_back(unexplained_throughout(element));
    return out;
  }
  if (!schema.is_object()) return schema;
  Json out = Json::object();
  for (const auto& [key, value] : schema.members()) {
    if (key == "properties" || key == "patternProperties") {
      Json parts = Json::object();
      for (const auto& [property, part] : value.members())
        parts[property] = unexplained_throughout(part);
      out[key] = std::move(parts);
    } else if (key != "description") {
      out[key] = unexplained_throughout(value);
    }
  }
  return out;
}

namespace {

/// See with_shared_parts.
class SharedParts {
 public:
  /// What is shared is added to \p definitions, under the name that \p names has for its text, or else that of
  /// the first key that has it. All must outlive this.
  SharedParts(const Json& schema, Json& definitions, const std::map<std::string, std::string>& names)
      : schema_(schema), definitions_(definitions), own_names_(names) {
    count(schema);
  }

  Json write() { return inside(schema_); }

 private:
  static constexpr std::size_t kWorthSharing = 60;  // characters; a reference takes about 40

  /// References to so many equal keys are shorter than their meanings.
  static constexpr int kWorthNaming = 3;

  /// Calls \p visit(name, part) for the schemas of which \p schema is made. \p name: of the key that they
  /// describe.
  template <class Visit>
  static Json rebuilt(const Json& schema, const std::string& name, Visit visit) {
    Json out = Json::object();
    for (const auto& [key, value] : schema.members()) {
      if (key == "properties" || key == "patternProperties") {
        Json parts = Json::object();
        for (const auto& [property, part] : value.members())
          parts[property] = visit(key == "properties" ? property : name, part);
        out[key] = std::move(parts);
      } else if (key == "anyOf" || key == "allOf") {
        Json parts = Json::array();
        for (const Json& part : value.elements())
          parts.push_back(visit(name, part));
        out[key] = std::move(parts);
      } else {
        out[key] = key == "items" ? visit(name, value) : value;
      }
    }
    return out;
  }

  void count(const Json& schema) {
    rebuilt(schema, "", [&](const std::string&, const Json& part) {
      const Json bare = unexplained(part);
      if (bare.size() < part.size()) ++uses_[part.dump()];
      if (++uses_[bare.dump()] == 1) count(bare);
      return Json();
    });
  }

  Json inside(const Json& schema, const std::string& name = "table") {
    return rebuilt(schema, name,
                   [&](const std::string& name_inside, const Json& part) { return shared(name_inside, part); });
  }

  /// A key that means the same in several tables is shared with its meaning.
  Json shared(const std::string& name, const Json& part) {
    const Json bare = unexplained(part);
    if (bare.size() == part.size()) return shared_bare(name, bare);
    const auto explained = [&] {
      Json out = shared_bare(name, bare);
      for (const auto& [key, value] : part.members()) {
        if (explains(key)) out[key] = value;
      }
      return out;
    };
    const std::string text = part.dump();
    return text.size() >= kWorthSharing && uses_[text] >= kWorthNaming ? defined(name, text, explained)
                                                                       : explained();
  }

  Json shared_bare(const std::string& name, const Json& part) {
    const std::string text = part.dump();
    const bool is_shared = text.size() >= kWorthSharing && uses_[text] > 1 && !part.contains("$ref");
    const auto written = [&] { return inside(part, name); };
    return is_shared ? defined(name, text, written) : written();
  }

  /// A reference to the definition of \p text, which is \p written if there is none yet.
  Json defined(const std::string& name, const std::string& text, const std::function<Json()>& written) {
    const auto known = names_.find(text);
    if (known != names_.end()) return reference_to(known->second);
    const auto named = own_names_.find(text);
    const std::string& wanted = named == own_names_.end() ? name : named->second;
    std::string own = wanted;
    for (int number = 2; definitions_.contains(own); ++number)
      own = fmt::format("{} {}", wanted, number);
    names_[text] = own;
    definitions_[own] = nullptr;  // taken
    Json definition = written();
    definitions_[own] = std::move(definition);
    return reference_to(own);
  }

  const Json& schema_;
  Json& definitions_;
  const std::map<std::string, std::string>& own_names_;
  std::map<std::string, int> uses_;
  std::map<std::string, std::string> names_;
};

}  // namespace

Json with_shared_parts(const Json& schema, Json& definitions, const std::map<std::string, std::string>& names) {
  return SharedParts(schema, definitions, names).write();
}

}}  // namespace c3::configs
