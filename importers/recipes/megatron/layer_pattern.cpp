#include "importers/recipes/megatron/layer_pattern.hpp"

#include <cstddef>

namespace c3 { inline namespace importers {
namespace {

constexpr std::size_t kMostEntries = 4096;
constexpr int kDeepestPattern = 64;

using Entries = std::optional<std::vector<int>>;

class PatternReader {
 public:
  explicit PatternReader(std::string_view text) : text_(text) {}

  Entries whole() {
    Entries entries = sum(0);
    return peek() == '\0' ? entries : std::nullopt;
  }

 private:
  char peek() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == ','))
      ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }

  bool take(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }

  Entries sum(int depth) {
    Entries entries = product(depth);
    while (entries && take('+')) {
      const Entries more = product(depth);
      if (!more || entries->size() + more->size() > kMostEntries) return std::nullopt;
      entries->insert(entries->end(), more->begin(), more->end());
    }
    return entries;
  }

  Entries product(int depth) {
    Entries entries = list(depth);
    while (entries && take('*')) {
      const auto times = number();
      if (!times || entries->size() * *times > kMostEntries) return std::nullopt;
      std::vector<int> repeated;
      for (std::size_t i = 0; i < *times; ++i)
        repeated.insert(repeated.end(), entries->begin(), entries->end());
      entries = std::move(repeated);
    }
    return entries;
  }

  Entries list(int depth) {
    if (depth > kDeepestPattern) return std::nullopt;
    if (take('(')) {
      Entries entries = sum(depth + 1);
      return take(')') ? entries : std::nullopt;
    }
    if (!take('[')) return std::nullopt;
    std::vector<int> entries;
    while (!take(']')) {
      const char digit = peek();
      if ((digit != '0' && digit != '1') || entries.size() == kMostEntries) return std::nullopt;
      entries.push_back(digit - '0');
      ++at_;
    }
    return entries;
  }

  std::optional<std::size_t> number() {
    std::size_t value = 0;
    bool has_digits = false;
    while (peek() >= '0' && peek() <= '9' && value <= kMostEntries) {
      value = value * 10 + static_cast<std::size_t>(text_[at_++] - '0');
      has_digits = true;
    }
    return has_digits && value <= kMostEntries ? std::optional(value) : std::nullopt;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

std::optional<std::vector<int>> layer_pattern(std::string_view text) { return PatternReader(text).whole(); }

}}  // namespace c3::importers
