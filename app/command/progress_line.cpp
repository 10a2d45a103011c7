#include "app/command/progress_line.hpp"

#include <unistd.h>

#include <cstdio>
#include <string>

#include <fmt/format.h>

namespace c3 { inline namespace app {

namespace {

std::string left_text(std::chrono::duration<double> passed, std::size_t done, std::size_t total) {
  constexpr double kShort = 3.0;  // s
  const double left =
      done == 0 ? 0.0 : passed.count() * static_cast<double>(total - done) / static_cast<double>(done);
  return left < kShort ? "" : fmt::format(", about {:.0f} s left", left);
}

}  // namespace

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
  fmt::print(stderr, "\r{}/{} {}{}\x1b[K", done, total, what_, left_text(now - begun_, done, total));
}

}}  // namespace c3::app
