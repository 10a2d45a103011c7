#pragma once
/// The machines and traffic that `c3sim bench` simulates: what SimGrid activities can express too, so that both
/// do the same work.

#include <cstddef>
#include <string>
#include <vector>

#include "engine/flow.hpp"

namespace c3::bench {

/// A place where one operation at a time runs: a stream of kernels, or one edge of a ring. Sizes are bytes.
struct Lane {
  std::vector<Demand> demands;  ///< amount: taken from the resource per byte (1 at memories and links)
  double bound = kUnbounded;    ///< [B/s]
  double mean_size = 0.0;       ///< [B]; operations vary by +-10 % around it
};

/// Lanes in rings of `ring_size`: lane i sends from rank i to the next of its ring. A rank starts its next
/// operation when its last send and its last receive are done. A ring of one is a stream.
struct Load {
  std::string name;
  std::string what;                  ///< one line for humans
  std::vector<double> capacities{};  ///< indexed by ResourceId [B/s, or CUs]
  std::vector<Lane> lanes{};
  std::size_t ring_size = 1;
  std::size_t events = 0;         ///< completions of one timed run
  std::size_t native_events = 0;  ///< the same for SimGrid's activities; a rate needs no more
};

/// All cases, in the order in which they are reported.
std::vector<Load> all_loads();

}  // namespace c3::bench
