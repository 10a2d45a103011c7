#pragma once
/// One-shot events, and waiting for all or any of several.

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "engine/simulation.hpp"

namespace c3 { inline namespace engine {

/// Set once, then set for ever. Also a flow's or timer's target: it is set when that ends.
/// Waiters resume in the order in which they came. Must outlive its waiters.
class Event final : public Completion {
 public:
  /// \p name appears in deadlock reports: "stream 'a' waits for <name>".
  explicit Event(Simulation& simulation, std::string name = {})
      : simulation_(simulation), name_(std::move(name)) {}
  ~Event() = default;

  bool is_set() const { return set_; }
  std::string name() const { return describe_ ? describe_() : name_; }
  /// From now on; those who wait already too.
  void rename(std::string name) { name_ = std::move(name); }
  /// Its name is what \p describe says when a report asks, however often that changes before.
  void describe_by(std::function<std::string()> describe) { describe_ = std::move(describe); }
  void set();
  void on_complete(std::uint64_t) override { set(); }

  class Awaiter {
   public:
    explicit Awaiter(Event& event) : event_(event) {}
    bool await_ready() const noexcept { return event_.set_; }
    void await_suspend(Task::Handle task);
    void await_resume() const noexcept {}

   private:
    Event& event_;
  };
  Awaiter operator co_await() { return Awaiter(*this); }

 private:
  friend class AnyOf;
  struct Waiter {
    Task::Handle task;
    class AnyOf* group;  ///< null for a plain wait
  };
  Simulation& simulation_;
  std::string name_;
  std::function<std::string()> describe_;
  std::vector<Waiter> waiters_;
  bool set_ = false;
};

/// Awaitable: the position in \p events of the first that is set. Await it once.
class AnyOf {
 public:
  explicit AnyOf(std::vector<Event*> events) : events_(std::move(events)) {}
  AnyOf(const AnyOf&) = delete;
  AnyOf& operator=(const AnyOf&) = delete;

  bool await_ready() const noexcept { return first_set() < events_.size(); }
  void await_suspend(Task::Handle task);
  std::size_t await_resume() const noexcept { return first_set(); }

 private:
  friend class Event;
  std::size_t first_set() const noexcept;
  void wake();

  std::vector<Event*> events_;
  Task::Handle task_;
  std::string waits_for_;  ///< for deadlock reports
  bool woken_ = false;
};

/// Waits until every one of \p events is set. Name the vector: g++ 12 miscompiles a braced one in a co_await.
Task all_of(std::vector<Event*> events);

template <class... Events>
Task all_of(Event& first, Events&... rest) {
  return all_of(std::vector<Event*>{&first, &rest...});
}

}}  // namespace c3::engine
