#pragma once
/// Simulations that run at once, each in a process of its own.

#include <functional>
#include <string>
#include <vector>

namespace c3 { inline namespace app {

/// What a task is called in messages, and what it does. \returns a text for the process that asked
struct ParallelTask {
  std::string name;
  std::function<std::string()> work;
  bool can_be_spared = false;  ///< if its process is killed, as when memory runs out, its text is empty
};

/// Runs \p tasks on up to \p workers processes, and returns what each returned, in their order. \param done
/// called with the number of finished tasks. \throws InfeasibleError where a task did, InterruptedError after
/// SIGINT or SIGTERM, std::runtime_error naming the task whose process failed otherwise, unless
/// it can be spared
std::vector<std::string> run_in_parallel(const std::vector<ParallelTask>& tasks, int workers,
                                         const std::function<void(std::size_t)>& done);

}}  // namespace c3::app
