#pragma once

#include <chrono>
#include <cstddef>

#include "app/sweep/point_source.hpp"

namespace c3 { inline namespace app {

/// How far a sweep is, on stderr: a line that is rewritten on a terminal, elsewhere a line for each tenth.
class SweepProgress {
 public:
  /// \param before points that were done when it began
  SweepProgress(bool quiet, std::size_t points, std::size_t before);
  SweepProgress(const SweepProgress&) = delete;
  SweepProgress& operator=(const SweepProgress&) = delete;
  ~SweepProgress();  ///< wipes the line

  void operator()(const PointCounts& counts);

 private:
  using Clock = std::chrono::steady_clock;

  void print(const PointCounts& counts, const char* before, const char* behind) const;

  bool quiet_, is_terminal_;
  std::size_t points_, before_;
  std::size_t next_tenth_;
  Clock::time_point begun_ = Clock::now();
  Clock::time_point next_ = begun_;
};

}}  // namespace c3::app
