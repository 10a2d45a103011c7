#include "importers/recipes/recipe_keys.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "base/nearest_name.hpp"
#include "base/small_letters.hpp"
#include "configs/toml/toml_text.hpp"

namespace c3 { inline namespace importers {
namespace {

constexpr std::size_t kMostErrors = 20;
constexpr double kMostOfAnything = 1e12;

/// A list of one value is that value: an argument takes a list of words.
const Node* only_value(const Node& node) {
  const Array* list = node.array();
  if (list == nullptr) return &node;
  return list->size() == 1 ? &list->front() : nullptr;
}

std::optional<double> number_of(const Node& node) {
  if (const auto* whole = std::get_if<std::int64_t>(&node.value)) return static_cast<double>(*whole);
  if (const auto* real = std::get_if<double>(&node.value)) return *real;
  const std::string* text = node.text();
  if (text == nullptr || text->empty()) return std::nullopt;
  double value = 0.0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (error != std::errc() || end != text->data() + text->size()) return std::nullopt;
  return value;
}

std::optional<bool> flag_of(const Node& node) {
  if (const auto* flag = std::get_if<bool>(&node.value)) return *flag;
  const std::string* text = node.text();
  if (text == nullptr) return std::nullopt;
  const std::string small = in_small_letters(*text);
  if (small == "true") return true;
  if (small == "false") return false;
  return std::nullopt;
}

std::string text_of_scalar(const Node& node) { return node.text() ? *node.text() : write_value(node); }

}  // namespace

std::int64_t bounded_product(std::initializer_list<std::int64_t> factors) {
  constexpr std::int64_t kMost = std::int64_t{1} << 40U;
  std::int64_t product = 1;
  for (const std::int64_t factor : factors)
    product = factor > 0 && product > kMost / factor ? kMost : product * factor;
  return product;
}

RecipeKeys::RecipeKeys(const ForeignFile& file, std::string_view what, std::vector<RecipeKey> keys)
    : file_(std::make_shared<const std::string>(file.name)),
      keys_(std::move(keys)),
      is_used_(keys_.size(), false),
      reading_{.file = file.name, .what = std::string(what)} {
  // The last one holds, as in every parser of arguments.
  for (std::size_t i = 0; i < keys_.size(); ++i) {
    const auto [place, is_new] = places_.try_emplace(keys_[i].name, i);
    if (is_new) continue;
    leave(keys_[place->second], "given again further down");
    place->second = i;
  }
}

const RecipeKey* RecipeKeys::find(std::string_view name) const {
  const auto place = places_.find(name);
  return place == places_.end() ? nullptr : &keys_[place->second];
}

const Node* RecipeKeys::value_of(std::string_view name) const {
  const RecipeKey* key = find(name);
  return key == nullptr || !key->value || !key->doubt.empty() ? nullptr : &*key->value;
}

bool RecipeKeys::has(std::string_view name) const { return value_of(name) != nullptr; }

bool RecipeKeys::is_in_doubt(std::string_view name) const {
  const RecipeKey* key = find(name);
  return key != nullptr && !key->doubt.empty();
}

void RecipeKeys::refuse_type(std::string_view name, std::string_view wanted) {
  const RecipeKey* key = find(name);
  refuse(name, fmt::format("must be {}, not {}", wanted, write_value(*key->value)));
}

std::optional<std::int64_t> RecipeKeys::whole(std::string_view name, std::int64_t least) {
  const Node* value = value_of(name);
  if (value == nullptr) return std::nullopt;
  const Node* only = only_value(*value);
  const auto number = only ? number_of(*only) : std::nullopt;
  const bool fits = number && std::floor(*number) == *number && *number >= static_cast<double>(least) &&
                    *number <= kMostOfAnything;
  if (fits) return static_cast<std::int64_t>(*number);
  refuse_type(name, fmt::format("a whole number of {} or more", least));
  return std::nullopt;
}

std::optional<double> RecipeKeys::number(std::string_view name) {
  const Node* value = value_of(name);
  if (value == nullptr) return std::nullopt;
  const Node* only = only_value(*value);
  const auto number = only ? number_of(*only) : std::nullopt;
  if (number && std::isfinite(*number)) return number;
  refuse_type(name, "a number");
  return std::nullopt;
}

std::optional<bool> RecipeKeys::flag(std::string_view name) {
  const Node* value = value_of(name);
  if (value == nullptr) return std::nullopt;
  const Node* only = only_value(*value);
  if (auto flag = only ? flag_of(*only) : std::nullopt) return flag;
  refuse_type(name, "true or false");
  return std::nullopt;
}

std::optional<std::string> RecipeKeys::word(std::string_view name) {
  const Node* value = value_of(name);
  if (value == nullptr) return std::nullopt;
  if (const Node* only = only_value(*value)) return text_of_scalar(*only);
  refuse_type(name, "one word");
  return std::nullopt;
}

std::vector<std::string> RecipeKeys::words(std::string_view name) {
  std::vector<std::string> words;
  const Node* value = value_of(name);
  if (value == nullptr) return words;
  if (value->array() == nullptr) return {text_of_scalar(*value)};
  for (const Node& element : *value->array())
    words.push_back(text_of_scalar(element));
  return words;
}

std::optional<std::string> RecipeKeys::choice(std::string_view name, std::span<const std::string_view> known) {
  const auto written = word(name);
  if (!written) return std::nullopt;
  const std::string small = in_small_letters(*written);
  const auto* const found =
      std::ranges::find_if(known.data(), known.data() + known.size(),
                           [&](std::string_view one) { return in_small_letters(one) == small; });
  if (found != known.data() + known.size()) return std::string(*found);
  refuse(name, unknown_name("value", *written, std::vector<std::string>(known.begin(), known.end())));
  return std::nullopt;
}

void RecipeKeys::take(std::string_view name, std::string_view key, Node value) {
  const RecipeKey* from = find(name);
  if (from == nullptr) return;
  is_used_[static_cast<std::size_t>(from - keys_.data())] = true;
  if (gives(key)) {
    reading_.ignored.push_back({from->from, fmt::format("{} is given already", key)});
    return;
  }
  reading_.taken.push_back({from->from, std::string(key), write_value(value)});
}

void RecipeKeys::join(std::string_view name, std::string_view key) {
  if (has(name)) ignore(name, fmt::format("a part of what {} says", key));
}

void RecipeKeys::assume(std::string_view key, Node value, std::string why) {
  if (!gives(key)) reading_.assumed.push_back({std::string(key), write_value(value), std::move(why)});
}

void RecipeKeys::take_or_assume(std::initializer_list<std::string_view> names, std::string_view key, Node value,
                                std::string why) {
  const auto* const first = std::ranges::find_if(names, [&](std::string_view name) { return has(name); });
  if (first == names.end()) {
    if (std::ranges::none_of(names, [&](std::string_view name) { return is_in_doubt(name); }))
      assume(key, std::move(value), std::move(why));
    return;
  }
  take(*first, key, std::move(value));
  std::for_each(first + 1, names.end(), [&](std::string_view name) { join(name, key); });
}

void RecipeKeys::ignore(std::string_view name, std::string why) {
  const RecipeKey* key = find(name);
  if (key != nullptr && key->doubt.empty() && !is_used_[static_cast<std::size_t>(key - keys_.data())])
    leave(*key, std::move(why));
}

void RecipeKeys::not_modelled(std::string_view name, std::string_view what) {
  ignore(name, fmt::format("not modelled: {}", what));
}

void RecipeKeys::refuse(std::string_view name, std::string_view message) {
  const RecipeKey* key = find(name);
  const ConfigError error = key == nullptr ? ConfigError(Origin{file_, 1, 1}, name, message)
                                           : ConfigError(key->origin, key->from, message);
  // Several rules ask for one value.
  const bool is_said = std::ranges::any_of(
      errors_, [&](const ConfigError& said) { return std::string_view(said.what()) == error.what(); });
  if (!is_said && errors_.size() < kMostErrors) errors_.push_back(error);
}

void RecipeKeys::forget_assumed(std::string_view prefix) {
  std::erase_if(reading_.assumed, [&](const AssumedKey& assumed) { return assumed.key.starts_with(prefix); });
}

bool RecipeKeys::gives(std::string_view key) const { return !given(key).empty(); }

std::string RecipeKeys::given(std::string_view key) const {
  const auto taken = std::ranges::find(reading_.taken, key, &TakenKey::key);
  if (taken != reading_.taken.end()) return taken->value;
  const auto assumed = std::ranges::find(reading_.assumed, key, &AssumedKey::key);
  return assumed == reading_.assumed.end() ? "" : assumed->value;
}

std::vector<const RecipeKey*> RecipeKeys::left() const {
  std::vector<const RecipeKey*> left;
  for (std::size_t i = 0; i < keys_.size(); ++i)
    if (!is_used_[i]) left.push_back(&keys_[i]);
  return left;
}

void RecipeKeys::leave(const RecipeKey& key, std::string why) {
  is_used_[static_cast<std::size_t>(&key - keys_.data())] = true;
  reading_.ignored.push_back({key.from, std::move(why)});
}

FileReading RecipeKeys::finish() {
  if (!errors_.empty()) throw ConfigError(errors_);
  return std::move(reading_);
}

}}  // namespace c3::importers
