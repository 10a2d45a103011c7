#pragma once
/// \file
/// JSON values, to write and to read. The library behind them is included in json.cpp only: it takes seconds to
/// parse.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <list>
#include <ranges>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace c3 { inline namespace base {

/// A text is no JSON, or a value has another type, or lacks a key, than its reader expects.
class JsonError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A text is no JSON from a place on. Lines and columns count from 1, columns in bytes.
class JsonSyntaxError : public JsonError {
 public:
  JsonSyntaxError(std::size_t at_line, std::size_t at_column)
      : JsonError("it is not JSON"), line(at_line), column(at_column) {}
  std::size_t line, column;
};

/// A JSON value. Objects keep the order in which their keys were added.
class Json {
 public:
  struct Member;
  using Elements = std::vector<Json>;
  using Members = std::list<Member>;  // unlike a vector's, its functions need no complete Member under clang

  Json() = default;
  Json(std::nullptr_t) {}
  Json(std::same_as<bool> auto flag) : value_(flag) {}
  template <std::integral T>
    requires(!std::same_as<T, bool>)
  Json(T number) : value_(static_cast<std::int64_t>(number)) {
    if (std::in_range<std::int64_t>(number)) return;
    value_ = static_cast<std::uint64_t>(number);
  }
  Json(double number) : value_(number) {}
  template <class T>
    requires std::convertible_to<const T&, std::string_view>
  Json(const T& text) : value_(std::string(std::string_view(text))) {}
  /// An array of what the range holds.
  template <std::ranges::input_range R>
    requires(!std::convertible_to<const R&, std::string_view> && !std::same_as<R, Json>)
  Json(const R& range) : value_(Elements()) {
    for (const auto& element : range)
      push_back(element);
  }
  /// An object: Json{{"name", "dma"}, {"bytes", 4}}.
  Json(std::initializer_list<Member> members);

  static Json array(std::initializer_list<Json> elements = {});
  static Json object(std::initializer_list<Member> members = {});
  /// Takes time proportional to the text. When an object has a key twice, the last value counts.
  /// \throws JsonSyntaxError; JsonError for values that are nested too deeply
  static Json parse(std::string_view text);

  bool is_null() const { return std::holds_alternative<std::monostate>(value_); }
  bool is_text() const { return std::holds_alternative<std::string>(value_); }
  bool is_array() const { return std::holds_alternative<Elements>(value_); }
  bool is_object() const { return std::holds_alternative<Members>(value_); }
  bool is_integer() const;
  bool is_floating() const { return std::holds_alternative<double>(value_); }
  bool is_number() const { return is_integer() || is_floating(); }

  // Readers. Each throws a JsonError when the value has another type.
  const std::string& text() const;
  double number() const;
  std::int64_t integer() const;
  const Elements& elements() const;
  const Members& members() const;
  std::vector<std::string> texts() const;

  /// Elements of an array or keys of an object; 0 for null and 1 for anything else.
  std::size_t size() const;
  bool empty() const { return size() == 0; }
  bool contains(std::string_view key) const { return find(key) != nullptr; }
  /// \throws JsonError when there is none
  const Json& operator[](std::string_view key) const;

  /// The value of a key of an object, which is added when there is none. Null becomes an object.
  Json& operator[](std::string_view key);
  /// Appends to an array. Null becomes an array.
  void push_back(Json element);
  /// Adds the members of another object; a key that is there already gets the other's value.
  void update(const Json& object);

  /// \param indent of each level, in spaces; everything is on one line when it is negative. What is not UTF-8
  /// is written as U+FFFD.
  std::string dump(int indent = -1) const;

  /// Numbers are equal when their values are, whatever their type.
  friend bool operator==(const Json& a, const Json& b);

 private:
  friend class JsonBuilder;

  const Json* find(std::string_view key) const;
  void append_to(std::string& out, int indent, int depth) const;

  std::variant<std::monostate, bool, std::int64_t, std::uint64_t, double, std::string, Elements, Members>
      value_;
};

struct Json::Member {
  std::string key;
  Json value;
  friend bool operator==(const Member&, const Member&) = default;
};

inline Json::Json(std::initializer_list<Member> members) : value_(Members(members)) {}

/// A text as a JSON string, in quotation marks.
std::string json_quoted(std::string_view text);

}}  // namespace c3::base
