#include "workloads/traces/picoseconds.hpp"

#include <charconv>

namespace c3 { inline namespace traces {
namespace {

constexpr int kMostDigits = 30;       // 10^30 fits 127 bits
constexpr int kPicosecondDigits = 6;  // 1 us = 10^6 ps

/// Digits without their point, and the power of ten they are to be multiplied with.
struct Decimal {
  WidePicoseconds digits = 0;
  int exponent = 0;
};

bool is_digit(char letter) { return letter >= '0' && letter <= '9'; }

/// Takes digits, and a point with digits, off the front of \p text. Nothing if there is no digit.
std::optional<Decimal> take_digits(std::string_view& text) {
  Decimal read;
  bool any = false;
  bool after_point = false;
  for (; !text.empty(); text.remove_prefix(1)) {
    if (text.front() == '.' && !after_point) {
      after_point = true;
      continue;
    }
    if (!is_digit(text.front())) break;
    any = true;
    constexpr WidePicoseconds kFull = std::numeric_limits<std::int64_t>::max();
    if (read.digits > kFull * 1'000'000'000) {  // further digits are far below a picosecond, or far too large
      if (!after_point) ++read.exponent;
      continue;
    }
    read.digits = read.digits * 10 + (text.front() - '0');
    if (after_point) --read.exponent;
  }
  if (!any) return std::nullopt;
  return read;
}

/// The exponent that is all of \p text: "", "e3", "E-06".
std::optional<int> exponent_of(std::string_view text) {
  if (text.empty()) return 0;
  if (text.front() != 'e' && text.front() != 'E') return std::nullopt;
  text.remove_prefix(1);
  if (!text.empty() && text.front() == '+') text.remove_prefix(1);
  int exponent = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), exponent);
  if (error != std::errc{} || end != text.data() + text.size() || exponent > 99 || exponent < -99)
    return std::nullopt;
  return exponent;
}

/// digits x 10^exponent, to the nearest integer.
std::optional<WidePicoseconds> scaled(WidePicoseconds digits, int exponent) {
  for (; exponent < -1 && digits != 0; ++exponent)
    digits /= 10;
  if (exponent < 0) digits = (digits + 5) / 10;
  WidePicoseconds limit = 1;
  for (int i = 0; i < kMostDigits; ++i)
    limit *= 10;
  for (; exponent > 0 && digits != 0; --exponent) {
    if (digits > limit / 10) return std::nullopt;
    digits *= 10;
  }
  if (digits > limit) return std::nullopt;
  return digits;
}

}  // namespace

std::optional<WidePicoseconds> parse_microseconds(std::string_view text) {
  const bool is_negative = !text.empty() && text.front() == '-';
  if (is_negative) text.remove_prefix(1);
  const std::optional<Decimal> read = take_digits(text);
  if (!read) return std::nullopt;
  const std::optional<int> exponent = exponent_of(text);
  if (!exponent) return std::nullopt;
  const auto value = scaled(read->digits, read->exponent + *exponent + kPicosecondDigits);
  if (!value) return std::nullopt;
  return is_negative ? -*value : *value;
}

std::optional<Picoseconds> narrowed(WidePicoseconds wide) {
  constexpr WidePicoseconds kMost = std::numeric_limits<std::int64_t>::max();
  if (wide > kMost || wide < -kMost) return std::nullopt;
  return Picoseconds{static_cast<std::int64_t>(wide)};
}

}}  // namespace c3::traces
