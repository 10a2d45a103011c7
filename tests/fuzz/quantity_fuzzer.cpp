/// Any text as a quantity of any dimension: a finite number, or refused with std::invalid_argument.

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string_view>

#include "configs/toml/quantity_text.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using c3::Dimension;
  static constexpr std::array kDimensions = {Dimension::bytes, Dimension::duration, Dimension::bandwidth,
                                             Dimension::flop_rate, Dimension::frequency};
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const Dimension dimension : kDimensions) {
    try {
      if (!std::isfinite(c3::parse_quantity(text, dimension))) std::abort();
    } catch (const std::invalid_argument&) {
      continue;
    }
  }
  return 0;
}
