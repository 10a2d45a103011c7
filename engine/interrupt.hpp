#pragma once
/// Stopping a simulation by a signal or a time limit, and looking in on it while it runs.
///
/// Loops that may run for longer than a second call checkpoint() once a turn. It costs one load unless a stop
/// was requested or a heartbeat is due. SimGrid's engine installs a signal handler of its own: install ours
/// after it exists. Not thread-safe: one simulating thread a process.

#include <chrono>
#include <functional>
#include <optional>

#include "engine/units.hpp"

namespace c3 { inline namespace engine {

enum class StopReason { none, signal, time_limit };

/// From now on SIGINT and SIGTERM make checkpoint() throw InterruptedError. A second signal ends the process at
/// once.
void install_interrupt_handler();

/// Requests a stop \p limit (> 0 s) from now, as a signal would.
void stop_after(std::chrono::duration<double> limit);

/// Why a stop was requested; none while the work goes on.
StopReason stop_reason() noexcept;
inline bool interrupt_requested() noexcept { return stop_reason() != StopReason::none; }

/// \param date of the simulation that is running; absent in work outside one, such as building it
/// \throws InterruptedError when a stop was requested
void checkpoint(std::optional<Seconds> date = std::nullopt);

/// While it exists, `beat` is called from checkpoints, ten times a second at most. It must not call
/// checkpoint(). One at a time.
class Heartbeat {
 public:
  /// \param beat gets the date of the simulation that is running; absent outside one
  explicit Heartbeat(std::function<void(std::optional<Seconds>)> beat);
  Heartbeat(const Heartbeat&) = delete;
  Heartbeat& operator=(const Heartbeat&) = delete;
  ~Heartbeat();
};

}}  // namespace c3::engine
