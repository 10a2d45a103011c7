#pragma once
/// \file
/// Times of traces: exact integers of picoseconds, read from the decimal microseconds of a file without a
/// floating-point number in between. A double of microseconds since 1970 is only good to 0.25 us.

#include <compare>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

namespace c3 { inline namespace traces {

/// A date since the origin of a trace, or a duration. The range is 106 days; sums beyond it stay at its end.
struct Picoseconds {
  std::int64_t count = 0;

  friend constexpr auto operator<=>(const Picoseconds&, const Picoseconds&) = default;
  friend constexpr Picoseconds operator+(Picoseconds a, Picoseconds b) {
    std::int64_t sum = 0;
    return {__builtin_add_overflow(a.count, b.count, &sum) ? farthest(a.count > 0) : sum};
  }
  friend constexpr Picoseconds operator-(Picoseconds a, Picoseconds b) {
    std::int64_t difference = 0;
    return {__builtin_sub_overflow(a.count, b.count, &difference) ? farthest(a.count > 0) : difference};
  }
  constexpr Picoseconds& operator+=(Picoseconds other) { return *this = *this + other; }
  double microseconds() const { return static_cast<double>(count) * 1e-6; }
  double milliseconds() const { return static_cast<double>(count) * 1e-9; }

 private:
  static constexpr std::int64_t farthest(bool is_positive) {
    constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
    return is_positive ? kMost : -kMost;
  }
};

constexpr Picoseconds operator""_us(unsigned long long us) {
  return {static_cast<std::int64_t>(us) * 1'000'000};
}

/// A date since 1970: 1.7e21 ps do not fit 64 bits.
__extension__ using WidePicoseconds = __int128;

/// \returns the picoseconds that \p text, decimal microseconds such as "4458677009853.422" or "1.5e3", stands
/// for, the seventh and later decimals rounded; nothing if it is no such number, or is above 1e30 ps.
std::optional<WidePicoseconds> parse_microseconds(std::string_view text);

/// \returns \p wide, if it fits.
std::optional<Picoseconds> narrowed(WidePicoseconds wide);

}}  // namespace c3::traces
