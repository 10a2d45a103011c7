#include "gpu/kernels/shape_words.hpp"

#include <fmt/format.h>

#include <charconv>

#include "base/nearest_name.hpp"

namespace c3 { inline namespace gpu {
namespace {

constexpr std::int64_t kLargestExtent = std::int64_t{1} << 40U;
constexpr double kTooMuch = 9.223372036854775808e18;  // 2^63: 64-bit counts end there

}  // namespace

void refuse(ShapeKey key, const std::string& reason) { throw ShapeError(key, false, reason); }

void refuse_name(const ShapeWords& words, ShapeKey key, const std::vector<std::string>& known) {
  refuse(key, unknown_name("word", words[key], known));
}

void need(const ShapeWords& words, std::string_view op, std::initializer_list<ShapeKey> keys) {
  for (const ShapeKey key : keys) {
    if (!words.has(key)) throw ShapeError(key, true, fmt::format("is missing; {} requires it", op));
  }
}

namespace {

/// An integer as a word.
std::int64_t integer_in(const ShapeWords& words, ShapeKey key) {
  std::string_view digits = words[key];
  if (digits.ends_with(".0")) digits.remove_suffix(2);  // of tables that had empty cells once
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  const bool all_read = end == digits.data() + digits.size();
  if (error == std::errc::result_out_of_range && all_read)
    refuse(key, fmt::format("'{}' is beyond 2^40", words[key]));
  if (error != std::errc() || !all_read) refuse(key, fmt::format("'{}' is not an integer", words[key]));
  return value;
}

/// From \p least to the largest extent.
std::int64_t bounded(const ShapeWords& words, ShapeKey key, std::int64_t least) {
  const std::int64_t value = words.number(key) ? *words.number(key) : integer_in(words, key);
  if (value < least) refuse(key, fmt::format("must be at least {}, not {}", least, value));
  if (value > kLargestExtent) refuse(key, fmt::format("must be at most 2^40, not {}", value));
  return value;
}

}  // namespace

std::int64_t extent(const ShapeWords& words, ShapeKey key) { return bounded(words, key, 1); }

std::int64_t count_or(const ShapeWords& words, ShapeKey key, std::int64_t otherwise) {
  return words.has(key) ? bounded(words, key, 0) : otherwise;
}

std::int64_t extent_or(const ShapeWords& words, ShapeKey key, std::int64_t otherwise) {
  return words.has(key) ? extent(words, key) : otherwise;
}

bool flag_or(const ShapeWords& words, ShapeKey key, bool otherwise) {
  const std::string_view word = words[key];
  if (!words.has(key)) return otherwise;
  if (words.number(key)) return *words.number(key) != 0;
  if (word == "1" || word == "true") return true;
  if (word == "0" || word == "false") return false;
  refuse_name(words, key, {"0", "1", "false", "true"});
}

void refuse_absurd(ShapeKey key, double bytes, double flops) {
  if (bytes >= kTooMuch) refuse(key, fmt::format("the operator would move {:.2g} bytes", bytes));
  if (flops >= kTooMuch) refuse(key, fmt::format("the operator would compute {:.2g} flops", flops));
}

}}  // namespace c3::gpu
