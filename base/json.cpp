#include "base/json.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <unordered_map>

namespace c3 { inline namespace base {
namespace {

using Library = nlohmann::ordered_json;

/// Numbers and strings are written by the library, so that their digits and escapes are those of every reader.
std::string scalar_text(const Library& value) {
  return value.dump(-1, ' ', false, Library::error_handler_t::replace);
}

constexpr std::size_t kDeepest = 200;  // nested values: writing and copying them recurses

template <class T, class Value>
const T& expect(const Value& value, const char* what) {
  if (const T* held = std::get_if<T>(&value)) return *held;
  throw JsonError(std::string("a value is not ") + what);
}

void start_line(std::string& out, int indent, int depth) {
  if (indent < 0) return;
  out += '\n';
  out.append(static_cast<std::size_t>(indent) * static_cast<std::size_t>(depth), ' ');
}

}  // namespace

/// Builds the value of a text as the library reads it. When an object has a key twice, the last value counts.
class JsonBuilder final : public nlohmann::json_sax<Library> {
 public:
  explicit JsonBuilder(std::string_view text) : text_(text) {}

  Json take() { return std::move(root_); }

  bool null() override { return put(nullptr); }
  bool boolean(bool value) override { return put(value); }
  bool number_integer(number_integer_t value) override { return put(value); }
  bool number_unsigned(number_unsigned_t value) override { return put(value); }
  bool number_float(number_float_t value, const string_t&) override { return put(value); }
  bool string(string_t& value) override { return put(value); }
  bool binary(binary_t&) override { return put(nullptr); }
  bool start_object(std::size_t) override { return open(Json::object()); }
  bool start_array(std::size_t) override { return open(Json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(string_t& name) override {
    Open& object = open_.back();
    const auto [found, is_new] = object.places.try_emplace(name, nullptr);
    if (is_new) found->second = &object.members().emplace_back(Json::Member{name, nullptr}).value;
    next_ = found->second;
    return true;
  }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception&) override {
    const std::string_view before = text_.substr(0, position == 0 ? 0 : std::min(position, text_.size()) - 1);
    const std::size_t line = 1 + static_cast<std::size_t>(std::ranges::count(before, '\n'));
    const std::size_t begin = before.rfind('\n');
    throw JsonSyntaxError(line, before.size() - (begin == std::string_view::npos ? 0 : begin + 1) + 1);
  }

 private:
  struct Open {
    Json* value;
    std::unordered_map<std::string, Json*> places = {};  ///< finds members of an object by key
    Json::Members& members() const { return std::get<Json::Members>(value->value_); }
  };

  Json& place() {
    if (open_.empty()) return root_;
    if (next_ != nullptr) return *std::exchange(next_, nullptr);
    return std::get<Json::Elements>(open_.back().value->value_).emplace_back();
  }
  bool put(Json value) {
    place() = std::move(value);
    return true;
  }
  bool open(Json value) {
    if (open_.size() > kDeepest) throw JsonError("its values are nested too deeply");
    Json& placed = place();
    placed = std::move(value);
    open_.push_back({.value = &placed});
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }

  std::string_view text_;
  Json root_;
  std::vector<Open> open_;
  Json* next_ = nullptr;  ///< the value of the key that was read
};

Json Json::array(std::initializer_list<Json> elements) {
  Json out;
  out.value_ = Elements(elements);
  return out;
}

Json Json::object(std::initializer_list<Member> members) {
  Json out;
  out.value_ = Members(members);
  return out;
}

Json Json::parse(std::string_view text) {
  JsonBuilder builder(text);
  Library::sax_parse(text, &builder);
  return builder.take();
}

bool Json::is_integer() const {
  return std::holds_alternative<std::int64_t>(value_) || std::holds_alternative<std::uint64_t>(value_);
}

const std::string& Json::text() const { return expect<std::string>(value_, "a string"); }

double Json::number() const {
  if (const auto* integer = std::get_if<std::int64_t>(&value_)) return static_cast<double>(*integer);
  if (const auto* integer = std::get_if<std::uint64_t>(&value_)) return static_cast<double>(*integer);
  return expect<double>(value_, "a number");
}

std::int64_t Json::integer() const { return expect<std::int64_t>(value_, "an integer"); }

const Json::Elements& Json::elements() const { return expect<Elements>(value_, "an array"); }

const Json::Members& Json::members() const { return expect<Members>(value_, "an object"); }

std::vector<std::string> Json::texts() const {
  std::vector<std::string> out;
  for (const Json& element : elements())
    out.push_back(element.text());
  return out;
}

std::size_t Json::size() const {
  if (is_array()) return elements().size();
  if (is_object()) return members().size();
  return is_null() ? 0 : 1;
}

const Json* Json::find(std::string_view key) const {
  const auto* members = std::get_if<Members>(&value_);
  if (members == nullptr) return nullptr;
  const auto found = std::ranges::find(*members, key, &Member::key);
  return found == members->end() ? nullptr : &found->value;
}

const Json& Json::operator[](std::string_view key) const {
  if (const Json* value = find(key)) return *value;
  throw JsonError("the key '" + std::string(key) + "' is missing");
}

Json& Json::operator[](std::string_view key) {
  if (is_null()) value_ = Members();
  if (!is_object()) throw std::logic_error("Json: a key of what is not an object");
  auto& members = std::get<Members>(value_);
  const auto found = std::ranges::find(members, key, &Member::key);
  return found != members.end() ? found->value : members.emplace_back(Member{std::string(key), nullptr}).value;
}

void Json::push_back(Json element) {
  if (is_null()) value_ = Elements();
  if (!is_array()) throw std::logic_error("Json: an element of what is not an array");
  std::get<Elements>(value_).push_back(std::move(element));
}

void Json::update(const Json& object) {
  for (const Member& member : object.members())
    (*this)[member.key] = member.value;
}

std::string Json::dump(int indent) const {
  std::string out;
  append_to(out, indent, 0);
  return out;
}

void Json::append_to(std::string& out, int indent, int depth) const {
  const auto list = [&](char open, char close, const auto& all, const auto& append) {
    out += open;
    bool is_first = true;
    for (const auto& one : all) {
      if (!is_first) out += ',';
      is_first = false;
      start_line(out, indent, depth + 1);
      append(one);
    }
    if (!all.empty()) start_line(out, indent, depth);
    out += close;
  };
  if (is_array()) {
    list('[', ']', elements(), [&](const Json& element) { element.append_to(out, indent, depth + 1); });
  } else if (is_object()) {
    list('{', '}', members(), [&](const Member& member) {
      out += scalar_text(member.key) + (indent < 0 ? ":" : ": ");
      member.value.append_to(out, indent, depth + 1);
    });
  } else if (is_text()) {
    out += scalar_text(text());
  } else if (is_floating()) {
    out += scalar_text(std::get<double>(value_));
  } else if (const auto* integer = std::get_if<std::int64_t>(&value_)) {
    out += std::to_string(*integer);
  } else if (const auto* large = std::get_if<std::uint64_t>(&value_)) {
    out += std::to_string(*large);
  } else if (const auto* flag = std::get_if<bool>(&value_)) {
    out += *flag ? "true" : "false";
  } else {
    out += "null";
  }
}

bool operator==(const Json& a, const Json& b) {
  if (a.is_number() && b.is_number() && a.value_.index() != b.value_.index()) return a.number() == b.number();
  return a.value_ == b.value_;
}

std::string json_quoted(std::string_view text) { return scalar_text(text); }

}}  // namespace c3::base
