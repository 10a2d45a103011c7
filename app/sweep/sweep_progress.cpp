#include "app/sweep/sweep_progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <string>

#include "results/time_unit.hpp"

namespace c3 { inline namespace app {
namespace {

constexpr std::size_t kTenths = 10;

}  // namespace

SweepProgress::SweepProgress(bool quiet, std::size_t points, std::size_t before)
    : quiet_(quiet),
      is_terminal_(::isatty(STDERR_FILENO) == 1),
      points_(points),
      before_(before),
      next_tenth_(points == 0 ? 0 : before * kTenths / points + 1) {}

SweepProgress::~SweepProgress() {
  if (!quiet_ && is_terminal_) std::fputs("\r\x1b[K", stderr);
}

void SweepProgress::operator()(const PointCounts& counts) {
  if (quiet_) return;
  constexpr std::chrono::milliseconds kInterval{100};
  const Clock::time_point now = Clock::now();
  const std::size_t done = before_ + counts.simulated;
  if (is_terminal_ && now >= next_) {
    next_ = now + kInterval;
    print(counts, "\r", "\x1b[K");
  } else if (!is_terminal_ && done * kTenths >= next_tenth_ * points_ && counts.simulated > 0) {
    next_tenth_ = done * kTenths / points_ + 1;
    print(counts, "", "\n");
  }
}

void SweepProgress::print(const PointCounts& counts, const char* before, const char* behind) const {
  const std::size_t done = before_ + counts.simulated;
  const std::chrono::duration<double> elapsed = Clock::now() - begun_;
  std::string pace;
  if (counts.simulated > 0) {
    const double rate = static_cast<double>(counts.simulated) / elapsed.count();
    pace =
        fmt::format(", {:.3g} points/s, {} left", rate, clock_text(static_cast<double>(points_ - done) / rate));
  }
  fmt::print(stderr, "{}{}/{} points, {} failed{}{}", before, done, points_, counts.failed, pace, behind);
  std::fflush(stderr);
}

}}  // namespace c3::app
