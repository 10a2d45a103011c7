#include "results/report/heat_colour.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace c3 { inline namespace results {
namespace {

constexpr std::array kViridis{Colour{68, 1, 84},    Colour{71, 44, 122},  Colour{59, 81, 139},
                              Colour{44, 113, 142}, Colour{33, 144, 141}, Colour{39, 173, 129},
                              Colour{92, 200, 99},  Colour{170, 220, 50}, Colour{253, 231, 37}};

}  // namespace

Colour heat_colour(double share) {
  const double place = std::clamp(share, 0.0, 1.0) * (kViridis.size() - 1);
  const auto i = std::min(static_cast<std::size_t>(place), kViridis.size() - 2);
  const double part = place - static_cast<double>(i);
  const auto mixed = [&](int Colour::*channel) {
    return static_cast<int>(
        std::lround((1 - part) * kViridis.at(i).*channel + part * kViridis.at(i + 1).*channel));
  };
  return {mixed(&Colour::red), mixed(&Colour::green), mixed(&Colour::blue)};
}

std::string hex(Colour colour) {
  return fmt::format("#{:02x}{:02x}{:02x}", colour.red, colour.green, colour.blue);
}

std::string heat_gradient() {
  std::string stops;
  for (const Colour& colour : kViridis)
    stops += "," + hex(colour);
  return "linear-gradient(90deg" + stops + ")";
}

}}  // namespace c3::results
