#pragma once
// Which method a library chooses, size by size.

#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/library/tuner.hpp"

namespace c3::test {

struct Choice {
  int up_to;  ///< log2 of the largest size
  std::string_view method;
};

/// The chosen algorithm and protocol, such as "ring ll".
inline std::string chosen_method(const ClusterSpec& cluster, const CollectiveCall& call) {
  const CollectiveMethod method = choose_method(call, cluster);
  return std::string(name_of(method.algorithm)) + " " + std::string(name_of(method.protocol));
}

/// At every power of two from 1 KiB to the last choice's size.
inline void check_choices(const ClusterSpec& cluster, CollectiveKind kind, const std::vector<Choice>& choices) {
  auto choice = choices.begin();
  for (int power = 10; power <= choices.back().up_to; ++power) {
    if (power > choice->up_to) ++choice;
    CAPTURE(name_of(kind));
    CAPTURE(power);
    CHECK(chosen_method(cluster, {.kind = kind, .bytes = Bytes{std::exp2(power)}}) == choice->method);
  }
}

}  // namespace c3::test
