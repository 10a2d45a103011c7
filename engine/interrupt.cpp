#include "engine/interrupt.hpp"

#include <csignal>

#include "engine/simgrid_loop.hpp"

namespace c3 {
namespace {

volatile std::sig_atomic_t requested = 0;

void request(int signal) {
  if (requested != 0) {
    std::signal(signal, SIG_DFL);
    std::raise(signal);
  }
  requested = 1;
}

}  // namespace

void install_interrupt_handler() {
  prepare_simgrid();
  std::signal(SIGINT, request);
  std::signal(SIGTERM, request);
}

bool interrupt_requested() noexcept { return requested != 0; }

}  // namespace c3
