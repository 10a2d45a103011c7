#pragma once
/// How numbers of a sweep are written for people.

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace c3 { inline namespace results {

/// One unit for all numbers that are shown together.
struct ValueScale {
  double size = 1;   ///< size of the unit, in that of the numbers
  std::string unit;  ///< empty of a plain number

  std::string text(double value) const;              ///< "3.265"
  std::string with_unit(double value) const;         ///< "3.265 ms"
  std::string name_of(std::string_view what) const;  ///< "time [ms]"
};

/// \p units as a table of sweeps has them: us and s become the unit in which the largest time is readable,
/// bytes and rates have decimal prefixes. \p is_share: in %.
ValueScale scale_for(std::string_view units, std::span<const double> values, bool is_share);

/// The value with the decimal prefix that leaves one to three digits before the point: "117.4 MB", "4.73 TB/s".
std::string with_prefix(double value, std::string_view unit);

/// Bytes by powers of 1024: "896 MiB".
std::string bytes_text(double bytes);

/// Labels for the values of one swept key, each with its unit: sizes by powers of 1024 or 1000, whichever is
/// shorter.
std::vector<std::string> level_labels(std::string_view units, std::span<const double> values);

/// Whether \p values, which rise, are spaced by factors rather than by steps.
bool is_spaced_by_factors(std::span<const double> values);

}}  // namespace c3::results
