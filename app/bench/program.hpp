#pragma once
/// What happens next when an operation of a load ends; the same for every way of running it.

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "app/bench/load.hpp"

namespace c3::bench {

/// Starts one operation of a lane; tells Program::on_done when it ends.
class Launcher {
 public:
  virtual ~Launcher() = default;
  virtual void start(std::size_t lane, double size) = 0;
};

class Program {
 public:
  /// Runs until \p events operations have been started, then lets those in flight end.
  Program(const Load& load, Launcher& launcher, std::size_t events);

  /// Starts the first operation of every lane.
  void begin();
  void on_done(std::size_t lane, double date);

  std::vector<double> take_dates() { return std::move(dates_); }  ///< completion dates, in order

 private:
  /// Operations of one rank, counted.
  struct Rank {
    std::uint32_t started = 0;
    std::uint32_t sent = 0;
    std::uint32_t received = 0;
  };

  std::size_t next_in_ring(std::size_t rank) const;
  void start_if_ready(std::size_t rank);

  const Load& load_;
  Launcher& launcher_;
  std::size_t events_;
  std::size_t started_ = 0;
  std::vector<Rank> ranks_;
  std::vector<double> dates_;
};

}  // namespace c3::bench
