#pragma once

#include <chrono>
#include <cstddef>

namespace c3 { inline namespace app {

/// "done/total" on stderr and, where that is some seconds, how long the rest takes at the pace so far;
/// rewritten in place at most ten times a second. Silent when stderr is no terminal.
class ProgressLine {
 public:
  /// \param what is counted: a literal
  explicit ProgressLine(bool quiet, const char* what = "runs");
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  ~ProgressLine();  ///< wipes the line

  void operator()(std::size_t done, std::size_t total);

 private:
  bool shown_;  ///< stderr is a terminal and nobody asked for quiet
  const char* what_;
  std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now(), next_;
};

}}  // namespace c3::app
