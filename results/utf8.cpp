#include "results/utf8.hpp"

#include <cstddef>

namespace c3 { inline namespace results {
namespace {

/// \returns the length of the code point at the start of \p text, 0 when there is none.
std::size_t code_point_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  const auto follows = [&](std::size_t i) { return (byte(i) & 0xC0U) == 0x80U; };
  const unsigned first = byte(0), second = byte(1);
  if (first < 0x80U) return 1;
  if (first >= 0xC2U && first <= 0xDFU) return follows(1) ? 2 : 0;
  if (first >= 0xE0U && first <= 0xEFU) {
    const bool is_overlong = first == 0xE0U && second < 0xA0U;
    const bool is_surrogate = first == 0xEDU && second > 0x9FU;
    return follows(1) && follows(2) && !is_overlong && !is_surrogate ? 3 : 0;
  }
  if (first >= 0xF0U && first <= 0xF4U) {
    const bool is_overlong = first == 0xF0U && second < 0x90U;
    const bool is_beyond = first == 0xF4U && second > 0x8FU;
    return follows(1) && follows(2) && follows(3) && !is_overlong && !is_beyond ? 4 : 0;
  }
  return 0;
}

}  // namespace

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = code_point_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string to_utf8(std::string_view text) {
  std::string valid;
  valid.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = code_point_length(text);
    valid += length == 0 ? std::string_view("\xEF\xBF\xBD") : text.substr(0, length);
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return valid;
}

}}  // namespace c3::results
