#pragma once
/// How fast a flow can go at most, where part of its time follows a speed that it shares with others.

#include <array>
#include <cstdint>
#include <limits>

namespace c3 { inline namespace engine {

/// A group of flows that slow down together, e.g. all whose arithmetic the core clock of one GPU drives.
using DomainId = std::uint32_t;

/// Time of two activities that overlap imperfectly, (a^p + b^p)^(1/p), of \p a and \p b >= 0 and \p exponent
/// >= 1: with an infinite one the longer hides the other.
double overlapped_time(double a, double b, double exponent);

/// Least time of a flow's whole progress at speed f of a domain, in seconds:
///     steady = max(sum over phases of max(fixed + scaled / f, least + steps / f), least)
///     t(f)   = (steady^overlap + beside^overlap)^(1 / overlap).
/// Only `scaled` and `steps` follow the speed: latency, bytes and launches take as long at any clock. Wrong
/// when: the time of what is scaled does not go as 1 / f, as when arithmetic waits for memory that runs at a
/// clock of its own.
struct BoundLaw {
  struct Phase {
    double fixed = 0.0;   ///< [s]
    double scaled = 0.0;  ///< [s] at speed 1
    double least = 0.0;   ///< [s]
    double steps = 0.0;   ///< [s] at speed 1, of what waits for one another beside all that is scaled
  };
  std::array<Phase, 3> phases = {};  ///< one after another
  double least = 0.0;                ///< [s] of all phases together
  double beside = 0.0;               ///< [s] of what goes on at the same time
  double overlap = std::numeric_limits<double>::infinity();

  double time(double speed) const;
};

/// One limit of a flow: its rate is at most 1 / law.time(speed of the domain).
struct BoundTerm {
  DomainId domain = 0;
  BoundLaw law;
};

}}  // namespace c3::engine
