#pragma once
/// Exclusive use of something in order of asking: a copy engine's queue, a host thread.

#include <cstddef>
#include <vector>

#include "engine/simulation.hpp"

namespace c3 { inline namespace engine {

/// `co_await lock.acquire(); ... lock.release();`
class FifoLock {
 public:
  explicit FifoLock(Simulation& simulation) : simulation_(&simulation) {}

  class Awaiter {
   public:
    explicit Awaiter(FifoLock& lock) : lock_(lock) {}
    bool await_ready() const noexcept {
      if (lock_.held_) return false;
      lock_.held_ = true;
      return true;
    }
    void await_suspend(Task::Handle task) {
      task.promise().wait_for("a queue's turn");
      lock_.waiters_.push_back(task);
    }
    void await_resume() const noexcept {}

   private:
    FifoLock& lock_;
  };
  Awaiter acquire() { return Awaiter(*this); }

  /// Hands the lock to who asked first.
  void release() {
    if (waiters_.empty()) {
      held_ = false;
      return;
    }
    simulation_->make_ready(waiters_[served_++]);
    if (2 * served_ < waiters_.size()) return;
    waiters_.erase(waiters_.begin(), waiters_.begin() + static_cast<std::ptrdiff_t>(served_));
    served_ = 0;
  }

 private:
  Simulation* simulation_;
  bool held_ = false;
  std::vector<Task::Handle> waiters_;  ///< in order of asking; a deque would hold half a kB for none
  std::size_t served_ = 0;             ///< of them, fewer than half
};

}}  // namespace c3::engine
