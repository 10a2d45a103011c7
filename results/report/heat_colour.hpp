#pragma once
/// Colours of heat maps.

#include <string>

namespace c3 { inline namespace results {

struct Colour {
  int red, green, blue;
};

/// Viridis, which is told apart in grey and by colour-blind readers, dark (\p share 0) to bright (1).
Colour heat_colour(double share);
std::string hex(Colour colour);
/// A bar from dark to bright, as CSS: "linear-gradient(..)".
std::string heat_gradient();

}}  // namespace c3::results
