#include "importers/machines/text_lines.hpp"

#include <algorithm>
#include <charconv>

namespace c3 { inline namespace importers {
namespace {

constexpr char kEscape = '\x1b';

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f'; }

/// Letters of a sequence that begins with ESC at the front of \p text: up to the letter that ends it.
std::size_t escape_length(std::string_view text) {
  std::size_t length = 1;
  while (length < text.size()) {
    const char c = text[length++];
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) break;
  }
  return length;
}

}  // namespace

TextLines::TextLines(std::string_view text, const std::string& file)
    : rest_(text), file_(std::make_shared<const std::string>(file)) {}

bool TextLines::next() {
  if (rest_.empty()) return false;
  const std::size_t end = std::min(rest_.find('\n'), rest_.size());
  line_ = rest_.substr(0, end);
  rest_.remove_prefix(std::min(end + 1, rest_.size()));
  ++number_;
  split();
  return true;
}

void TextLines::split() {
  words_.clear();
  std::size_t at = 0;
  while (at < line_.size()) {
    if (is_blank(line_[at])) {
      ++at;
    } else if (line_[at] == kEscape) {
      at += escape_length(line_.substr(at));
    } else {
      const std::size_t begin = at;
      while (at < line_.size() && !is_blank(line_[at]) && line_[at] != kEscape)
        ++at;
      words_.push_back(line_.substr(begin, at - begin));
    }
  }
}

Origin TextLines::place(std::string_view part) const {
  const auto before = line_.substr(0, static_cast<std::size_t>(part.data() - line_.data()));
  const auto begins_letter = [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; };
  return {file_, number_, static_cast<std::uint32_t>(std::ranges::count_if(before, begins_letter) + 1)};
}

int whole_number(std::string_view text, int most) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_all = error == std::errc() && end == text.data() + text.size();
  return is_all && number >= 0 && number <= most ? number : -1;
}

int numbered(std::string_view text, std::string_view prefix) {
  constexpr int kMost = 1'000'000;
  if (!text.starts_with(prefix)) return -1;
  return whole_number(text.substr(prefix.size()), kMost);
}

}}  // namespace c3::importers
