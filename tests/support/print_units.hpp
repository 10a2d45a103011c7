#pragma once
/// Lets doctest print quantities when a comparison fails, e.g. "0.002 B^0 s^1 flop^0".

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "engine/units.hpp"

template <int B, int S, int F>
struct doctest::StringMaker<c3::Quantity<B, S, F>> {
  static String convert(const c3::Quantity<B, S, F>& quantity) {
    // 17 digits: two doubles that differ print differently.
    return fmt::format("{:.17g} B^{} s^{} flop^{}", quantity.value, B, S, F).c_str();
  }
};
