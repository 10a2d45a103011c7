// What a run that cannot go on says: who waits for what. Apart from simulation.cpp, which events are built on.

#include <fmt/format.h>

#include <string>

#include "engine/errors.hpp"
#include "engine/event.hpp"
#include "engine/simulation.hpp"

namespace c3 { inline namespace engine {

void Simulation::check_finished() const {
  constexpr std::size_t kNamed = 16;
  std::string waiting;
  std::size_t count = 0;
  for (const Spawned& task : tasks_) {
    if (!task.handle || ++count > kNamed) continue;
    const Task::promise_type* innermost = &task.handle.promise();
    while (innermost->child != nullptr)
      innermost = innermost->child;
    const std::string what =
        innermost->event != nullptr ? innermost->event->name() : std::string(innermost->waits_for);
    waiting += fmt::format("{}{} waits for {}", waiting.empty() ? "" : "; ", task.name, what);
  }
  if (count > kNamed) waiting += fmt::format("; and {} more", count - kNamed);
  if (fluid_.flows_in_flight() > 0) {
    waiting +=
        fmt::format("{}flows without bandwidth: {}", waiting.empty() ? "" : "; ", fluid_.flows_in_flight());
  }
  if (!waiting.empty())
    throw DeadlockError("deadlock: nothing is in flight that could end these waits: " + waiting);
}

}}  // namespace c3::engine
