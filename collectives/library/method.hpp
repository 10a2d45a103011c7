#pragma once
/// How a collective is run, from what a strategy asks for to what a result says: algorithm, protocol, channels.

#include <optional>

#include "collectives/algorithms/algorithm.hpp"
#include "collectives/spec.hpp"

namespace c3 { inline namespace collectives {

/// What a user asks for; the rest is left to the library, see choose_method.
struct MethodWish {
  std::optional<Algorithm> algorithm = std::nullopt;
  std::optional<Protocol> protocol = std::nullopt;
  ChannelLimits channels = {};

  bool operator==(const MethodWish&) const = default;
};

/// What is run.
struct CollectiveMethod {
  Algorithm algorithm = Algorithm::direct;
  Protocol protocol = Protocol::simple;  ///< protocol of channels; other backends have none
  ChannelLimits channels = {};  ///< limits for backend cu, and for work groups that add for backend fused

  bool operator==(const CollectiveMethod&) const = default;
};

}}  // namespace c3::collectives
