#include "results/shown_text.hpp"

#include <algorithm>

#include "results/utf8.hpp"

namespace c3 { inline namespace results {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";
constexpr std::string_view kCut = "...";

/// U+0000 to U+001F and U+007F, or of two bytes, U+0080 to U+009F, at the start of \p text, which is UTF-8.
std::size_t control_length(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  if (first < 0x20U || first == 0x7FU) return 1;
  const bool is_upper = first == 0xC2U && static_cast<unsigned char>(text[1]) < 0xA0U;
  return is_upper ? 2 : 0;
}

std::string without_controls(std::string_view text, bool keeps_tabulators) {
  const std::string valid = to_utf8(text);
  std::string clean;
  for (std::size_t i = 0; i < valid.size();) {
    const std::size_t length =
        keeps_tabulators && valid[i] == '\t' ? 0 : control_length(std::string_view(valid).substr(i));
    if (length == 0) {
      clean += valid[i++];
    } else {
      clean += kReplacement;
      i += length;
    }
  }
  return clean;
}

/// \p text is UTF-8, and is so when it is cut.
std::string cut(std::string text, std::size_t most) {
  if (text.size() <= most) return text;
  std::size_t end = most - kCut.size();
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U)
    --end;
  return text.replace(end, std::string::npos, kCut);
}

}  // namespace

std::string shown_word(std::string_view text, std::size_t most) {
  return cut(without_controls(text, false), most);
}

std::string shown_lines(std::string_view text) {
  constexpr std::size_t kLongest = 2000;
  std::string shown;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    shown += cut(without_controls(text.substr(begin, end - begin), true), kLongest);
    if (end < text.size()) shown += '\n';
    begin = end + 1;
  }
  return shown;
}

}}  // namespace c3::results
