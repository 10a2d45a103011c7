#include "engine/interrupt.hpp"

#include <sys/time.h>

#include <csignal>
#include <ctime>
#include <stdexcept>
#include <utility>

#include "engine/errors.hpp"

namespace c3 { inline namespace engine {
namespace {

volatile std::sig_atomic_t stop = static_cast<int>(StopReason::none);
volatile std::sig_atomic_t attention = 0;  ///< a checkpoint has something to do
double deadline = 0;  ///< of the monotonic clock [s]; 0: none. Set before the timer starts.
std::function<void(std::optional<Seconds>)> beat_of_heart;

double monotonic_seconds() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);  // async-signal-safe, which std::chrono does not promise
  constexpr double kNano = 1e-9;
  return static_cast<double>(now.tv_sec) + kNano * static_cast<double>(now.tv_nsec);
}

void request(int signal) {
  if (stop == static_cast<int>(StopReason::signal)) {
    std::signal(signal, SIG_DFL);
    std::raise(signal);
  }
  stop = static_cast<int>(StopReason::signal);
  attention = 1;
}

void ring(int) {
  if (deadline > 0 && stop == static_cast<int>(StopReason::none) && monotonic_seconds() >= deadline)
    stop = static_cast<int>(StopReason::time_limit);
  attention = 1;
}

/// Ten times a second while there is a deadline or a heartbeat. System calls go on after the signal.
void set_timer() {
  constexpr suseconds_t kInterval = 100'000;  // us
  const bool is_needed = deadline > 0 || beat_of_heart;
  if (is_needed) {
    struct sigaction action {};
    action.sa_handler = ring;
    action.sa_flags = SA_RESTART;
    sigaction(SIGALRM, &action, nullptr);
  }
  itimerval timer{};
  timer.it_interval.tv_usec = timer.it_value.tv_usec = is_needed ? kInterval : 0;
  setitimer(ITIMER_REAL, &timer, nullptr);
}

}  // namespace

void install_interrupt_handler() {
  std::signal(SIGINT, request);
  std::signal(SIGTERM, request);
}

void stop_after(std::chrono::duration<double> limit) {
  deadline = monotonic_seconds() + limit.count();
  set_timer();
}

StopReason stop_reason() noexcept { return static_cast<StopReason>(static_cast<int>(stop)); }

void checkpoint(std::optional<Seconds> date) {
  if (attention == 0) return;
  attention = 0;  // first, so that a signal that comes from here on is not lost
  if (interrupt_requested()) {
    attention = 1;
    throw InterruptedError("interrupted");
  }
  if (beat_of_heart) beat_of_heart(date);
}

Heartbeat::Heartbeat(std::function<void(std::optional<Seconds>)> beat) {
  if (beat_of_heart) throw std::logic_error("Heartbeat: there is one already");
  beat_of_heart = std::move(beat);
  set_timer();
}

Heartbeat::~Heartbeat() {
  beat_of_heart = nullptr;
  set_timer();
}

}}  // namespace c3::engine
