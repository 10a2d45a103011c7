#pragma once
/// Quantities with units. The dimension is the type, the value is in SI base units (B, s, flop), so that
/// `Bytes / BytesPerSecond` is `Seconds` and adding bytes to seconds does not compile.

#include <compare>

namespace c3 { inline namespace engine {

/// A number of bytes^B seconds^S flop^F.
template <int B, int S, int F>
struct Quantity {
  double value = 0.0;

  friend constexpr auto operator<=>(const Quantity&, const Quantity&) = default;
  friend constexpr Quantity operator+(Quantity a, Quantity b) { return {a.value + b.value}; }
  friend constexpr Quantity operator-(Quantity a, Quantity b) { return {a.value - b.value}; }
  friend constexpr Quantity operator*(Quantity a, double factor) { return {a.value * factor}; }
  friend constexpr Quantity operator*(double factor, Quantity a) { return {a.value * factor}; }
  friend constexpr Quantity operator/(Quantity a, double divisor) { return {a.value / divisor}; }
  friend constexpr double operator/(Quantity a, Quantity b) { return a.value / b.value; }
  constexpr Quantity& operator+=(Quantity b) {
    value += b.value;
    return *this;
  }
  constexpr Quantity& operator-=(Quantity b) {
    value -= b.value;
    return *this;
  }
};

template <int B, int S, int F, int B2, int S2, int F2>
constexpr auto operator*(Quantity<B, S, F> a, Quantity<B2, S2, F2> b) {
  return Quantity<B + B2, S + S2, F + F2>{a.value * b.value};
}

template <int B, int S, int F, int B2, int S2, int F2>
  requires(B != B2 || S != S2 || F != F2)
constexpr auto operator/(Quantity<B, S, F> a, Quantity<B2, S2, F2> b) {
  return Quantity<B - B2, S - S2, F - F2>{a.value / b.value};
}

using Bytes = Quantity<1, 0, 0>;
using Seconds = Quantity<0, 1, 0>;
using Flops = Quantity<0, 0, 1>;  ///< an amount of floating-point operations, not a rate
using BytesPerSecond = Quantity<1, -1, 0>;
using FlopsPerSecond = Quantity<0, -1, 1>;
using Hertz = Quantity<0, -1, 0>;

/// Power. No rate or amount of the model is made of it, so it has no dimension among the others.
struct Watts {
  double value = 0.0;

  friend constexpr auto operator<=>(const Watts&, const Watts&) = default;
  friend constexpr Watts operator+(Watts a, Watts b) { return {a.value + b.value}; }
  friend constexpr Watts operator-(Watts a, Watts b) { return {a.value - b.value}; }
  friend constexpr Watts operator*(double factor, Watts a) { return {a.value * factor}; }
  friend constexpr double operator/(Watts a, Watts b) { return a.value / b.value; }
};

/// Energy, as power times time.
struct Joules {
  double value = 0.0;

  friend constexpr auto operator<=>(const Joules&, const Joules&) = default;
  friend constexpr Joules operator+(Joules a, Joules b) { return {a.value + b.value}; }
  friend constexpr Joules operator-(Joules a, Joules b) { return {a.value - b.value}; }
  friend constexpr Joules operator*(double factor, Joules a) { return {a.value * factor}; }
  friend constexpr double operator/(Joules a, Joules b) { return a.value / b.value; }
  constexpr Joules& operator+=(Joules b) {
    value += b.value;
    return *this;
  }
};
constexpr Joules operator*(Watts power, Seconds time) { return {power.value * time.value}; }

constexpr double kKibi = 1024.0;
constexpr double kMebi = 1024.0 * kKibi;
constexpr double kGibi = 1024.0 * kMebi;

inline namespace literals {
constexpr Seconds operator""_s(long double v) { return {static_cast<double>(v)}; }
constexpr Seconds operator""_ms(long double v) { return {static_cast<double>(v) * 1e-3}; }
constexpr Seconds operator""_us(long double v) { return {static_cast<double>(v) * 1e-6}; }
constexpr Seconds operator""_ns(long double v) { return {static_cast<double>(v) * 1e-9}; }
constexpr Bytes operator""_B(long double v) { return {static_cast<double>(v)}; }
constexpr Bytes operator""_kB(long double v) { return {static_cast<double>(v) * 1e3}; }
constexpr Bytes operator""_MB(long double v) { return {static_cast<double>(v) * 1e6}; }
constexpr Bytes operator""_GB(long double v) { return {static_cast<double>(v) * 1e9}; }
constexpr Bytes operator""_KiB(long double v) { return {static_cast<double>(v) * kKibi}; }
constexpr Bytes operator""_MiB(long double v) { return {static_cast<double>(v) * kMebi}; }
constexpr Bytes operator""_GiB(long double v) { return {static_cast<double>(v) * kGibi}; }
constexpr BytesPerSecond operator""_GBps(long double v) { return {static_cast<double>(v) * 1e9}; }
constexpr BytesPerSecond operator""_TBps(long double v) { return {static_cast<double>(v) * 1e12}; }
constexpr FlopsPerSecond operator""_TFLOPs(long double v) { return {static_cast<double>(v) * 1e12}; }
constexpr Hertz operator""_MHz(long double v) { return {static_cast<double>(v) * 1e6}; }
}  // namespace literals

}}  // namespace c3::engine
