#include "app/run/run_progress.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include <fmt/format.h>

#include "results/time_unit.hpp"

namespace c3 { inline namespace app {
namespace {

using namespace std::chrono_literals;

constexpr auto kTerminalInterval = 100ms;
constexpr auto kFirstLine = 5s;  // only if stderr is no terminal
constexpr auto kLongestPause = 60s;
constexpr auto kAnnounceAfter = 2s;  // the mean of a run is known then, if runs are short
constexpr std::chrono::duration<double> kLong = 30s;

/// \returns what \p factor is called, and how to make it smaller.
std::string factor_text(StudyFactor factor, const StudyCost& cost) {
  const StudyShape& shape = cost.shape();
  switch (factor) {
    case StudyFactor::seeds:
      return fmt::format("{} seeds (--set measure.seeds=N)", shape.seeds);
    case StudyFactor::draws:
      return fmt::format("{} draws (--set measure.draws=N)", shape.draws);
    case StudyFactor::strategies:
      return fmt::format("{} strategies", shape.strategies);
    case StudyFactor::partitions:
      return fmt::format("{} CU partitions that are tried (\"best A..B\" of a strategy's `cus`)",
                         shape.partitions);
    case StudyFactor::loss_split:
      return fmt::format("{} simulations of the loss split (--set measure.loss_split=false)",
                         cost.planned(StudyPart::split));
    case StudyFactor::simulation:
      break;
  }
  return "a single simulation (fewer operations, or a coarser measure.kernel_grain and "
         "measure.collective_grain)";
}

}  // namespace

std::string estimate_text(const StudyCost& cost) {
  return fmt::format("this takes about {} for {} simulations; the largest factor is {}; --timeout limits it",
                     clock_text(cost.total().count()), cost.planned(),
                     factor_text(cost.largest_factor(), cost));
}

RunProgress::RunProgress(bool quiet)
    : quiet_(quiet),
      is_terminal_(::isatty(STDERR_FILENO) == 1),
      next_(begun_ + (is_terminal_ ? Clock::duration(kTerminalInterval) : Clock::duration(kFirstLine))),
      interval_(is_terminal_ ? Clock::duration(kTerminalInterval) : Clock::duration(kFirstLine)) {
  if (!quiet_) heartbeat_.emplace([this](std::optional<Seconds> date) { show(date); });
}

RunProgress::~RunProgress() {
  if (!quiet_ && is_terminal_) std::fputs("\r\x1b[K", stderr);
}

void RunProgress::operator()(const StudyCost& cost) {
  if (quiet_) return;
  cost_ = cost;
  run_begun_ = Clock::now();
  announce_long_study();
}

void RunProgress::announce_long_study() {
  if (is_announced_ || cost_->done() == 0 || Clock::now() - begun_ < kAnnounceAfter) return;
  is_announced_ = true;
  if (cost_->total() < kLong) return;
  fmt::print(stderr, "{}{}\n", is_terminal_ ? "\r\x1b[K" : "", estimate_text(*cost_));
}

void RunProgress::show(std::optional<Seconds> date) {
  const Clock::time_point now = Clock::now();
  if (now < next_) return;
  if (!is_terminal_) interval_ = std::min<Clock::duration>(2 * interval_, kLongestPause);
  next_ = now + interval_;
  fmt::print(stderr, "{}{}{}", is_terminal_ ? "\r" : "", line(date), is_terminal_ ? "\x1b[K" : "\n");
  std::fflush(stderr);
}

std::string RunProgress::line(std::optional<Seconds> date) const {
  if (!cost_) return "reading the experiment";
  const std::chrono::duration<double> in_run = Clock::now() - run_begun_;
  std::string text =
      fmt::format("simulation {} of {}", std::min(cost_->done() + 1, cost_->planned()), cost_->planned());
  const Seconds bound = cost_->bound();
  const bool has_bound = date && bound > *date && *date > Seconds{};
  if (date) {
    const TimeUnit unit = unit_for(std::max(*date, bound));
    text += fmt::format(" at {}{} {}", unit.format(*date),
                        has_bound ? fmt::format(" of at least {}", unit.format(bound)) : "", unit.name);
  }
  // The mean of simulations that have ended says what is left; before one has, the bound says it of this one.
  if (cost_->done() > 0)
    return text + fmt::format(", {} left", clock_text(std::max(0.0, (cost_->left() - in_run).count())));
  if (has_bound) text += fmt::format(", at least {} left", clock_text(in_run.count() * (bound / *date - 1)));
  return text;
}

}}  // namespace c3::app
