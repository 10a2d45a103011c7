#pragma once
/// Stopping a run on SIGINT. SimGrid's engine installs a handler of its own: install this one after it exists.

namespace c3 {

/// From now on SIGINT and SIGTERM make running simulations throw InterruptedError at their next event.
/// A second SIGINT ends the process at once.
void install_interrupt_handler();

bool interrupt_requested() noexcept;

}  // namespace c3
