#pragma once
/// Errors that a scenario can cause. Programming errors are std::logic_error, the environment's are
/// std::system_error.

#include <stdexcept>

namespace c3 { inline namespace engine {

/// The scenario cannot run as asked: a resource that is not there, a partition that leaves nothing. Exit
/// code 4.
class InfeasibleError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Tasks wait and nothing is in flight that could wake them. The text names each task and what it waits for.
class DeadlockError : public InfeasibleError {
 public:
  using InfeasibleError::InfeasibleError;
};

/// The user asked to stop (SIGINT). Exit code 130.
class InterruptedError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}}  // namespace c3::engine
