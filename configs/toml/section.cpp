#include "configs/toml/section.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "configs/toml/missing_keys.hpp"

namespace c3 { inline namespace configs {
namespace {

/// The names without repetitions, in the order of their first mention.
std::vector<std::string> each_once(const std::vector<std::string>& names) {
  std::vector<std::string> once;
  for (const std::string& name : names)
    if (std::ranges::find(once, name) == once.end()) once.push_back(name);
  return once;
}

constexpr std::string_view kSlugForm =
    "must be letters, digits, '_', '-' and '.', beginning with a letter, digit or '_'";

}  // namespace

bool is_slug(std::string_view text) {
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
           c == '.';
  };
  return !text.empty() && text.front() != '-' && text.front() != '.' && std::ranges::all_of(text, fits);
}

Section::Section(const Node& node, std::string name, const Sampling& sampling, Provenance provenance)
    : node_(&node), name_(std::move(name)), sampling_(sampling), provenance_(provenance) {
  if (node.table() == nullptr) throw ConfigError(node.origin, name_, wrong_type("a table", node));
}

Section::Section(std::shared_ptr<Draft> draft, std::string name, const Sampling& sampling,
                 Provenance provenance)
    : draft_(std::move(draft)),
      node_(&draft_->example()),
      name_(std::move(name)),
      sampling_(sampling),
      provenance_(provenance) {}

std::string Section::dotted(std::string_view key) const {
  return name_.empty() ? std::string(key) : fmt::format("{}.{}", name_, key);
}

ConfigError Section::error(std::string_view key, std::string_view message) const {
  const Node* at = find(key);
  return {at == nullptr ? node_->origin : at->origin, dotted(key), message};
}

void Section::fail(std::string_view key, std::string_view message) const {
  if (!conflicts_ || conflicts_->empty()) throw error(key, message);
  conflicts_->push_back(error(key, message));
  throw ConfigError(*conflicts_);
}

void Section::refuse(std::string_view key, std::string_view message) const {
  if (is_rehearsal()) return;
  if (!conflicts_) throw error(key, message);
  conflicts_->push_back(error(key, message));
}

void Section::gather_conflicts() {
  conflicts_ = std::make_shared<std::vector<ConfigError>>();
  gathers_ = true;
}

void Section::settle() const {
  if (conflicts_ && !conflicts_->empty()) throw ConfigError(*conflicts_);
}

void Section::explain(const KeyText& text) {
  if (draft_) draft_->explain(text);
}

void Section::explain(std::span<const KeyText> texts) {
  for (const KeyText& text : texts)
    explain(text);
}

void Section::ask(std::string_view key) {
  // Names of the file's own come after a reader's keys. There may be 100,000, and each is asked for once: a
  // second mention does no harm.
  constexpr std::size_t kReaderKeys = 64;
  const auto first = std::span(asked_).first(std::min(kReaderKeys, asked_.size()));
  if (std::ranges::find(first, key) == first.end()) asked_.emplace_back(key);
}

bool Section::has(std::string_view key) {
  ask(key);
  return draft_ ? draft_->ask(key, dotted(key)) : find(key) != nullptr;
}

const Node& Section::node(std::string_view key, const Rule& rule) {
  ask(key);
  if (draft_) draft_->declare(key, dotted(key), rule);
  if (find(key) == nullptr) throw IncompleteError(node_->origin, dotted(key), "is missing");
  return *find(key);
}

Section Section::nested(const Node& node, std::string_view key, const Sampling& sampling) const {
  Section section(node, dotted(key), sampling, provenance_);
  section.conflicts_ = conflicts_;
  return section;
}

Section Section::table(std::string_view key, const Sampling& sampling) {
  if (!draft_) return nested(node(key, {TableRule{}}), key, sampling);
  ask(key);
  Rule& rule = draft_->declare(key, dotted(key), {TableRule{}});
  return {std::make_shared<Draft>(draft_->rehearsal(), std::get<TableRule>(rule.form)), dotted(key), sampling,
          provenance_};
}

std::vector<Section> Section::tables(std::string_view key, std::size_t most) {
  std::vector<Section> sections;
  const Rule rule = {ListRule{std::make_shared<Rule>(Rule{TableRule{}})}};
  if (draft_) {
    ask(key);
    const auto& list = std::get<ListRule>(draft_->declare(key, dotted(key), rule).form);
    auto draft = std::make_shared<Draft>(draft_->rehearsal(), std::get<TableRule>(list.element->form));
    sections.emplace_back(std::move(draft), dotted(key), sampling_, provenance_);
    return sections;
  }
  const Array* list = node(key, rule).array();
  if (list == nullptr || list->empty()) fail(key, fmt::format("needs at least one [[{}]]", dotted(key)));
  if (list->size() > most) fail(key, fmt::format("at most {} [[{}]]", most, dotted(key)));
  for (const Node& element : *list)
    sections.push_back(nested(element, key, sampling_));
  return sections;
}

std::vector<ChosenKey> Section::chosen_keys() {
  if (draft_) return {{draft_->ask_chosen(), node_->origin}};
  std::vector<ChosenKey> keys;
  for (const Member& member : node_->table()->members()) {
    if (std::ranges::find(asked_, member.key) != asked_.end()) continue;
    if (!is_slug(member.key)) throw ConfigError(member.origin, dotted(member.key), kSlugForm);
    keys.push_back({member.key, member.origin});
  }
  return keys;
}

std::vector<ChosenKey> Section::keys_beginning(std::string_view prefix) {
  if (draft_) {
    ChosenKey example{draft_->ask_chosen(std::string(prefix)), node_->origin};
    ask(example.name);
    return {example};
  }
  std::vector<ChosenKey> keys;
  for (const Member& member : node_->table()->members()) {
    const bool is_asked = std::ranges::find(asked_, member.key) != asked_.end();
    if (!is_asked && member.key.starts_with(prefix) && is_slug(member.key))
      keys.push_back({member.key, member.origin});
  }
  return keys;
}

std::string Section::only_key(std::string_view what, std::span<const std::string_view> known) {
  std::string only;
  for (const std::string_view key : known) {
    if (has(key) && only.empty()) only = key;
  }
  if (draft_) {
    draft_->allow_one_key();
    return only.empty() ? std::string(known.front()) : only;
  }
  const auto& members = node_->table()->members();
  if (members.size() != 1) {
    throw ConfigError(node_->origin, name_,
                      fmt::format("must be a table with one key of {}", fmt::join(known, ", ")));
  }
  if (only.empty()) {
    const std::vector<std::string> names(known.begin(), known.end());
    throw ConfigError(members.front().origin, name_, unknown_name(what, members.front().key, names));
  }
  return only;
}

std::string Section::text(std::string_view key, const Rule& rule) {
  const Node& found = node(key, rule);
  if (found.text() == nullptr) fail(key, wrong_type("a string", found));
  if (found.text()->empty()) fail(key, "must not be empty");
  return *found.text();
}

std::string Section::slug(std::string_view key) {
  std::string name = text(key, {slug_rule()});
  if (!is_slug(name)) fail(key, kSlugForm);
  return name;
}

std::string Section::preset_name() {
  std::string name = slug("name");
  explain("name", "the file's name without .toml");
  return name;
}

std::string Section::sourced_slug(std::string_view key) {
  const Node& written = sourced_node(key, {slug_rule(), provenance_});
  if (written.text() == nullptr) fail(key, wrong_type("a string", written));
  if (!is_slug(*written.text())) throw ConfigError(written.origin, dotted(key), kSlugForm);
  return *written.text();
}

bool Section::flag(std::string_view key) {
  const Node& found = node(key, {FlagRule{}});
  const bool* flag = std::get_if<bool>(&found.value);
  if (flag == nullptr) fail(key, wrong_type("true or false", found));
  return *flag;
}

/// The value itself of something that is never a range.
const Node& Section::sourced_node(std::string_view key, const Rule& rule) {
  const Node& found = node(key, rule);
  check_provenance(key, found);
  if (!is_sourced_value(found)) return found;
  const Node* written = found.table()->find("value");
  if (written == nullptr || found.table()->find("nominal") != nullptr)
    fail(key, "cannot be a range: needs 'value'");
  return *written;
}

bool Section::sourced_flag(std::string_view key) {
  const Node& written = sourced_node(key, {FlagRule{}, provenance_});
  const bool* flag = std::get_if<bool>(&written.value);
  if (flag == nullptr) fail(key, wrong_type("true or false", written));
  return *flag;
}

std::vector<PlacedText> Section::sourced_texts(std::string_view key, const PatternRule& element) {
  const Node& written = sourced_node(key, {ListRule{std::make_shared<Rule>(Rule{element})}, provenance_});
  const Array* list = written.array();
  if (list == nullptr) throw ConfigError(written.origin, dotted(key), wrong_type("a list of texts", written));
  if (list->empty()) throw ConfigError(written.origin, dotted(key), "must not be empty");
  std::vector<PlacedText> texts;
  for (const Node& text : *list) {
    if (text.text() == nullptr) throw ConfigError(text.origin, dotted(key), wrong_type("a string", text));
    texts.push_back({*text.text(), text.origin});
  }
  return texts;
}

std::size_t Section::chosen(std::string_view key, std::span<const std::string> known) {
  const Node& written = sourced_node(key, {ChoiceRule{{known.begin(), known.end()}}, provenance_});
  if (written.text() == nullptr) fail(key, fmt::format("must be one of {}", fmt::join(known, ", ")));
  const auto match = std::ranges::find(known, *written.text());
  if (match == known.end())
    throw ConfigError(written.origin, dotted(key), unknown_name("name", *written.text(), known));
  return static_cast<std::size_t>(match - known.begin());
}

void Section::finish() const {
  std::vector<ConfigError> wrong;
  std::vector<std::string> known;
  for (const Member& member : node_->table()->members()) {
    if (std::ranges::find(asked_, member.key) != asked_.end()) continue;
    if (known.empty()) known = each_once(asked_);
    const std::string nearest = nearest_name(member.key, known);
    wrong.emplace_back(member.origin, dotted(member.key),
                       nearest.empty() ? fmt::format("unknown key; known: {}", fmt::join(known, ", "))
                                       : fmt::format("unknown key; did you mean '{}'?", nearest));
  }
  if (conflicts_ && (gathers_ || !wrong.empty()))
    wrong.insert(wrong.end(), conflicts_->begin(), conflicts_->end());
  if (!wrong.empty()) throw ConfigError(wrong);
}

}}  // namespace c3::configs
