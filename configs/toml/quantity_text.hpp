#pragma once
/// Numbers with units as people write them: "5.3 TB/s", "64 GiB", "2 us", "708 TFLOP/s", "2.1 GHz".

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace c3 { inline namespace configs {

enum class Dimension { bytes, duration, bandwidth, flop_rate, frequency, power };

/// \returns \p text in SI base units (B, s, B/s, FLOP/s, Hz, W). Decimal and binary prefixes are distinct (GB
/// is 1e9, GiB is 2^30), B is a byte and b a bit; case matters. The blank before the unit may be left out.
/// Negative numbers are read; whether they make sense is the caller's business.
/// \throws std::invalid_argument saying what is wrong and which units are allowed.
double parse_quantity(std::string_view text, Dimension dimension);

/// A number with its unit, of whichever dimension has that unit.
struct QuantityText {
  double value = 0;  ///< converted to the base unit
  Dimension dimension = Dimension::bytes;
  std::string unit;  ///< spelled as written
};

/// Absent when \p text is no number with a unit.
std::optional<QuantityText> find_quantity(std::string_view text);

/// "B", "s", "B/s", "FLOP/s", "Hz" or "W".
std::string_view base_unit(Dimension dimension);

/// "size", "duration", "bandwidth", "compute rate", "frequency" or "power".
std::string_view name_of(Dimension dimension);

/// Every unit that parse_quantity knows for \p dimension: "B", "kB", "KiB", ...
std::vector<std::string> unit_names(Dimension dimension);

/// "5324.8 GB/s", of a number of B/s.
std::string bandwidth_text(double bandwidth);

}}  // namespace c3::configs
