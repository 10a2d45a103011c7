#pragma once
/// What a copy engine has read and not yet sent.

#include <algorithm>
#include <deque>

#include "engine/simulation.hpp"

namespace c3 { inline namespace gpu {

/// Room for a number of bytes, given in the order of asking. `co_await window.take(bytes); ...
/// window.give(bytes);`
class StagingWindow {
 public:
  StagingWindow(Simulation& simulation, Bytes size) : simulation_(&simulation), size_(size), free_(size) {}

  Bytes size() const { return size_; }

  class Awaiter {
   public:
    Awaiter(StagingWindow& window, Bytes bytes) : window_(window), bytes_(std::min(bytes, window.size_)) {}
    bool await_ready() const noexcept {
      if (!window_.waiting_.empty() || window_.free_ < bytes_) return false;
      window_.free_ -= bytes_;
      return true;
    }
    void await_suspend(Task::Handle task) {
      task.promise().waits_for = "room in a copy engine's staging window";
      window_.waiting_.push_back({task, bytes_});
    }
    void await_resume() const noexcept {}

   private:
    StagingWindow& window_;
    Bytes bytes_;
  };
  /// More than the whole window takes all of it.
  Awaiter take(Bytes bytes) { return {*this, bytes}; }
  void give(Bytes bytes) {
    free_ = std::min(size_, free_ + std::min(bytes, size_));
    while (!waiting_.empty() && waiting_.front().bytes <= free_) {
      free_ -= waiting_.front().bytes;
      simulation_->make_ready(waiting_.front().task);
      waiting_.pop_front();
    }
  }

 private:
  struct Waiting {
    Task::Handle task;
    Bytes bytes;
  };
  Simulation* simulation_;
  Bytes size_;
  Bytes free_;
  std::deque<Waiting> waiting_;
};

}}  // namespace c3::gpu
