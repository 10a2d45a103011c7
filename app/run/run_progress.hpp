#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "engine/interrupt.hpp"
#include "workloads/analysis/study_cost.hpp"

namespace c3 { inline namespace app {

/// How far a study is, on stderr, with the time that is left: a line that is rewritten on a terminal; elsewhere
/// a line after 5 s and then at growing intervals up to a minute. A study that will take long is announced
/// once, with what makes it long. Shows nothing when quiet.
class RunProgress {
 public:
  explicit RunProgress(bool quiet);
  RunProgress(const RunProgress&) = delete;
  RunProgress& operator=(const RunProgress&) = delete;
  ~RunProgress();  ///< wipes the line

  /// Must be called before and after each simulation.
  void operator()(const StudyCost& cost);

 private:
  using Clock = std::chrono::steady_clock;

  /// \param date of the simulation that runs now; absent while it is prepared
  void show(std::optional<Seconds> date);
  std::string line(std::optional<Seconds> date) const;
  void announce_long_study();

  bool quiet_, is_terminal_;
  bool is_announced_ = false;
  std::optional<StudyCost> cost_;  ///< cost at the last call
  Clock::time_point begun_ = Clock::now();
  Clock::time_point run_begun_ = begun_;
  Clock::time_point next_;
  Clock::duration interval_;
  std::optional<Heartbeat> heartbeat_;
};

/// One sentence: how long the study of \p cost takes, in how many simulations, and what contributes most.
std::string estimate_text(const StudyCost& cost);

}}  // namespace c3::app
