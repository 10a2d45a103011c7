#include "app/bench/program.hpp"

#include <algorithm>

namespace c3::bench {
namespace {

/// Uniform in [0.9, 1.1), a function of lane and step alone. Mixing function: Steele, Lea and Flood, "Fast
/// splittable pseudorandom number generators", OOPSLA 2014 (SplitMix64).
double jitter(std::size_t lane, std::uint32_t step) {
  std::uint64_t z = (static_cast<std::uint64_t>(lane) << 32U | step) + 0x9e3779b97f4a7c15U;
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
  z ^= z >> 31U;
  return 0.9 + 0.2 * static_cast<double>(z >> 11U) * 0x1p-53;
}

}  // namespace

Program::Program(const Load& load, Launcher& launcher, std::size_t events)
    : load_(load), launcher_(launcher), events_(events), ranks_(load.lanes.size()) {
  dates_.reserve(events);
}

void Program::begin() {
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank)
    start_if_ready(rank);
}

void Program::on_done(std::size_t lane, double date) {
  dates_.push_back(date);
  const std::size_t receiver = next_in_ring(lane);
  ++ranks_[lane].sent;
  ++ranks_[receiver].received;
  start_if_ready(lane);
  if (receiver != lane) start_if_ready(receiver);
}

std::size_t Program::next_in_ring(std::size_t rank) const {
  const std::size_t position = rank % load_.ring_size;
  return position + 1 < load_.ring_size ? rank + 1 : rank - position;
}

void Program::start_if_ready(std::size_t lane) {
  Rank& rank = ranks_[lane];
  if (rank.started > std::min(rank.sent, rank.received) || started_ == events_) return;
  ++started_;
  // Whole bytes: SimGrid's activities know no other sizes.
  const auto size =
      static_cast<double>(static_cast<std::uint64_t>(load_.lanes[lane].mean_size * jitter(lane, rank.started)));
  ++rank.started;
  launcher_.start(lane, size);
}

}  // namespace c3::bench
