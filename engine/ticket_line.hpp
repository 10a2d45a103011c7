#pragma once
/// Turns in the order in which tickets were drawn, whenever their holders are ready for them.

#include <cstdint>
#include <utility>
#include <vector>

#include "engine/simulation.hpp"

namespace c3 { inline namespace engine {

/// `const auto ticket = line.draw(); ... co_await line.turn(ticket); ... line.next();`
class TicketLine {
 public:
  explicit TicketLine(Simulation& simulation) : simulation_(&simulation) {}

  std::uint64_t draw() { return drawn_++; }

  class Awaiter {
   public:
    Awaiter(TicketLine& line, std::uint64_t ticket) : line_(line), ticket_(ticket) {}
    bool await_ready() const noexcept { return line_.serving_ == ticket_; }
    void await_suspend(Task::Handle task) {
      task.promise().wait_for("its turn in a line");
      line_.waiting_.emplace_back(ticket_, task);
    }
    void await_resume() const noexcept {}

   private:
    TicketLine& line_;
    std::uint64_t ticket_;
  };
  Awaiter turn(std::uint64_t ticket) { return {*this, ticket}; }

  /// Ends the turn of the ticket that is being served.
  void next() {
    ++serving_;
    for (auto& waiting : waiting_) {
      if (waiting.first != serving_) continue;
      simulation_->make_ready(waiting.second);
      std::swap(waiting, waiting_.back());
      waiting_.pop_back();
      return;
    }
  }

 private:
  Simulation* simulation_;
  std::uint64_t drawn_ = 0;
  std::uint64_t serving_ = 0;
  std::vector<std::pair<std::uint64_t, Task::Handle>> waiting_;
};

}}  // namespace c3::engine
