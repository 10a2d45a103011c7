#include "configs/toml/draft.hpp"

namespace c3 { inline namespace configs {

bool Draft::ask(std::string_view key, const std::string& dotted) {
  if (rule_.find(key) == nullptr) rule_.keys.push_back({std::string(key), Presence::optional});
  return rehearsal_.has_all || rehearsal_.present.contains(dotted);
}

Rule& Draft::declare(std::string_view key, const std::string& dotted, const Rule& rule) {
  KeyRule* known = rule_.find(key);
  if (known == nullptr) known = &rule_.keys.emplace_back(KeyRule{std::string(key)});
  if (!known->rule) {
    known->rule = rule;
    const auto example = rehearsal_.examples.find(dotted);
    example_.table()->put(key, {}, example == rehearsal_.examples.end() ? example_of(rule) : example->second);
  }
  return *known->rule;
}

void Draft::explain(const KeyText& text) {
  KeyRule* known = rule_.find(text.key);
  if (known == nullptr) return;
  known->meaning = text.meaning;
  known->otherwise = text.otherwise;
  known->used_if = text.used_if;
}

std::string Draft::ask_chosen(const std::string& prefix) {
  std::string name = prefix + slug_rule().example;
  if (rule_.find(name) == nullptr)
    rule_.keys.push_back({.key = name, .presence = Presence::chosen, .prefix = prefix});
  return name;
}

}}  // namespace c3::configs
