#pragma once
/// How a collective is run: what a user may force of it, and what is then chosen.

#include <optional>

#include "collectives/algorithms/algorithm.hpp"
#include "collectives/spec.hpp"

namespace c3 {

/// How a collective is run on channels.
struct ChannelMethod {
  Algorithm algorithm = Algorithm::direct;
  Protocol protocol = Protocol::simple;
  ChannelLimits channels = {};
};

/// What a user may force.
struct MethodWish {
  std::optional<Algorithm> algorithm = std::nullopt;
  std::optional<Protocol> protocol = std::nullopt;
  ChannelLimits channels = {};
};

}  // namespace c3
