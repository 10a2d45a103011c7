#pragma once
/// Comparison by relative error alone: doctest's Approx adds an absolute tolerance, which for a millisecond is
/// most of it.

#include <doctest/doctest.h>

inline doctest::Approx near(double expected, double relative_error = 1e-9) {
  return doctest::Approx(expected).epsilon(relative_error).scale(0.0);
}
