#include "app/command/progress_line.hpp"

#include <unistd.h>

#include <cstdio>

#include <fmt/format.h>

namespace c3 { inline namespace app {

ProgressLine::ProgressLine(bool quiet, const char* what)
    : shown_(!quiet && ::isatty(STDERR_FILENO) == 1), what_(what) {}

ProgressLine::~ProgressLine() {
  constexpr const char* kEraseLine = "\r\x1b[K";
  if (shown_) std::fputs(kEraseLine, stderr);
}

void ProgressLine::operator()(std::size_t done, std::size_t total) {
  constexpr std::chrono::milliseconds kInterval{100};
  const auto now = std::chrono::steady_clock::now();
  if (!shown_ || now < next_) return;
  next_ = now + kInterval;
  fmt::print(stderr, "\r{}/{} {}", done, total, what_);
}

}}  // namespace c3::app
