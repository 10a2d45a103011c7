#include "workloads/traces/json_tree.hpp"

#include <algorithm>
#include <charconv>

#include <simdjson.h>

namespace c3 { inline namespace traces {
namespace {

namespace ondemand = simdjson::ondemand;

std::string_view trimmed(std::string_view token) {
  while (!token.empty() && (token.back() == ' ' || token.back() == ','))
    token.remove_suffix(1);
  return token;
}

/// \throws simdjson::simdjson_error
std::string_view string_in(ondemand::value value) {
  std::string_view text;
  if (value.get_string().get(text) == simdjson::SUCCESS) return text;
  // An escape that stands for no character, such as half of a surrogate pair: as it is spelled.
  text = trimmed(value.raw_json_token());
  return text.substr(1, text.size() - 2);
}

JsonKind scalar_kind(ondemand::json_type type) {
  switch (type) {
    case ondemand::json_type::string:
      return JsonKind::text;
    case ondemand::json_type::number:
      return JsonKind::number;
    case ondemand::json_type::boolean:
      return JsonKind::flag;
    default:
      return JsonKind::null;
  }
}

}  // namespace

std::size_t JsonView::size() const {
  std::size_t count = 0;
  for (auto child = begin(); child != end(); ++child)
    ++count;
  return count;
}

std::optional<std::int64_t> JsonView::integer() const {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text().data(), text().data() + text().size(), number);
  if (text().empty() || error != std::errc{} || end != text().data() + text().size()) return std::nullopt;
  return number;
}

JsonView JsonView::operator[](std::string_view key) const {
  if (!is(JsonKind::object)) return {};
  for (const JsonView member : *this) {
    if (member.key() == key) return member;
  }
  return {};
}

struct JsonTree::Library {
  ondemand::parser parser;
  std::vector<JsonItem> items;
  int depth = 0;

  void add(std::string_view key, ondemand::value value, int left) {
    const std::size_t at = items.size();
    items.push_back({.key = key, .text = {}, .end = 0, .kind = JsonKind::null});
    ondemand::json_type type{};
    if (value.type().get(type) != simdjson::SUCCESS) type = ondemand::json_type::number;  // inf, NaN
    if (type == ondemand::json_type::array) {
      items[at].kind = JsonKind::array;
      ondemand::array array = value.get_array();
      if (left > 0) {
        add_elements(array, left);
      } else {
        items[at].text = array.raw_json();
      }
    } else if (type == ondemand::json_type::object) {
      items[at].kind = JsonKind::object;
      ondemand::object object = value.get_object();
      if (left > 0) {
        add_members(object, left);
      } else {
        items[at].text = object.raw_json();
      }
    } else {
      items[at].kind = scalar_kind(type);
      items[at].text = type == ondemand::json_type::string ? string_in(value) : trimmed(value.raw_json_token());
    }
    items[at].end = static_cast<std::uint32_t>(items.size());
  }

  void add_elements(ondemand::array& array, int left) {
    for (auto element : array)
      add({}, element.value(), left - 1);
  }

  void add_members(ondemand::object& object, int left) {
    for (auto field : object) {
      const std::string_view key = field.unescaped_key();
      add(key, field.value(), left - 1);
    }
  }

  JsonView read(simdjson::padded_string_view json) {
    items.clear();
    items.push_back({});
    ondemand::document document = parser.iterate(json);
    const ondemand::json_type type = document.type();
    if (type == ondemand::json_type::object) {
      items[0].kind = JsonKind::object;
      ondemand::object object = document.get_object();
      add_members(object, depth);
    } else if (type == ondemand::json_type::array) {
      items[0].kind = JsonKind::array;
      ondemand::array array = document.get_array();
      add_elements(array, depth);
    } else {
      items[0].kind = scalar_kind(type);
    }
    items[0].end = static_cast<std::uint32_t>(items.size());
    return {items.data(), 0};
  }
};

JsonTree::JsonTree(int depth) : library_(std::make_unique<Library>()) { library_->depth = depth; }
JsonTree::~JsonTree() = default;

JsonView JsonTree::parse(std::string_view json) {
  buffer_.resize(json.size() + simdjson::SIMDJSON_PADDING);
  bool is_ascii = true;
  std::ranges::transform(json, buffer_.begin(), [&](char letter) {
    const auto byte = static_cast<unsigned char>(letter);
    is_ascii = is_ascii && byte < 0x80;
    return byte < ' ' ? ' ' : letter;
  });
  if (!is_ascii && !simdjson::validate_utf8(buffer_.data(), json.size())) {
    std::ranges::replace_if(
        buffer_, [](char letter) { return static_cast<unsigned char>(letter) >= 0x80; }, '?');
  }
  try {
    return library_->read(simdjson::padded_string_view(buffer_.data(), json.size(), buffer_.size()));
  } catch (const simdjson::simdjson_error& error) {
    throw JsonSyntaxError(error.what());
  }
}

}}  // namespace c3::traces
