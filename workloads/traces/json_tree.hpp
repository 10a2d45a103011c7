#pragma once
/// \file
/// A JSON value as a flat list, read leniently. The only user of simdjson.

#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace c3 { inline namespace traces {

/// The text is no JSON; in the words of the JSON library.
class JsonSyntaxError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

enum class JsonKind : std::uint8_t { null, flag, number, text, array, object };

struct JsonItem {
  std::string_view key;   ///< in an object; empty elsewhere
  std::string_view text;  ///< strings without quotation marks and escapes, numbers as they are spelled; of
                          ///< arrays and objects that were not opened, their JSON
  std::uint32_t end = 0;  ///< index behind its last descendant, which all follow it
  JsonKind kind = JsonKind::null;
};

/// A place in a list of items. Valid until the tree that made it parses again.
class JsonView {
 public:
  class Iterator {
   public:
    Iterator(const JsonItem* items, std::uint32_t at) : items_(items), at_(at) {}
    JsonView operator*() const { return {items_, at_}; }
    Iterator& operator++() {
      at_ = items_[at_].end;
      return *this;
    }
    friend bool operator==(const Iterator& a, const Iterator& b) { return a.at_ == b.at_; }

   private:
    const JsonItem* items_;
    std::uint32_t at_;
  };

  JsonView() = default;  ///< null
  JsonView(const JsonItem* items, std::uint32_t at) : items_(items), at_(at) {}

  JsonKind kind() const { return items_ == nullptr ? JsonKind::null : items_[at_].kind; }
  bool is(JsonKind kind) const { return this->kind() == kind; }
  std::string_view key() const { return items_ == nullptr ? std::string_view() : items_[at_].key; }
  std::string_view text() const { return items_ == nullptr ? std::string_view() : items_[at_].text; }
  Iterator begin() const { return {items_, items_ == nullptr ? 0 : at_ + 1}; }
  Iterator end() const { return {items_, items_ == nullptr ? 0 : items_[at_].end}; }
  bool empty() const { return begin() == end(); }
  std::size_t size() const;
  /// The value of a number, or of a text that is one; nothing for anything else.
  std::optional<std::int64_t> integer() const;
  /// A member of an object; null if there is none.
  JsonView operator[](std::string_view key) const;

 private:
  const JsonItem* items_ = nullptr;
  std::uint32_t at_ = 0;
};

class JsonTree {
 public:
  /// \param depth of the arrays and objects that are opened: 1 opens only the whole value
  explicit JsonTree(int depth);
  ~JsonTree();
  JsonTree(const JsonTree&) = delete;
  JsonTree& operator=(const JsonTree&) = delete;

  /// Raw control characters count as spaces and bytes that are not UTF-8 as question marks: names of kernels
  /// hold such. Numbers may be inf, NaN and the like, as execution traces have them. The caller has bounded the
  /// nesting. \throws JsonSyntaxError
  JsonView parse(std::string_view json);

 private:
  struct Library;  ///< what needs simdjson's header
  std::unique_ptr<Library> library_;
  std::string buffer_;
};

}}  // namespace c3::traces
