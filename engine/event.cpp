#include "engine/event.hpp"

#include <algorithm>
#include <utility>

namespace c3 { inline namespace engine {

void Event::set() {
  if (set_) return;
  set_ = true;
  // A group leaves the lists of its other events, never this one's: it is iterated here.
  for (const Waiter& waiter : waiters_) {
    if (waiter.group != nullptr) {
      waiter.group->wake();
    } else {
      simulation_.make_ready(waiter.task);
    }
  }
  waiters_.clear();
}

void Event::Awaiter::await_suspend(Task::Handle task) {
  task.promise().event = &event_;
  event_.waiters_.push_back({task, nullptr});
}

void AnyOf::await_suspend(Task::Handle task) {
  task_ = task;
  waits_for_ = "any of";
  for (Event* event : events_) {
    waits_for_ += (event == events_.front() ? " " : ", ") + event->name();
    event->waiters_.push_back({task, this});
  }
  task.promise().wait_for(waits_for_);
}

std::size_t AnyOf::first_set() const noexcept {
  const auto found = std::ranges::find_if(events_, &Event::is_set);
  return static_cast<std::size_t>(found - events_.begin());
}

void AnyOf::wake() {
  if (std::exchange(woken_, true)) return;  // an event that is listed twice
  task_.promise().simulation->make_ready(task_);
  for (Event* event : events_) {
    if (event->set_) continue;
    std::erase_if(event->waiters_, [this](const Event::Waiter& waiter) { return waiter.group == this; });
  }
}

Task all_of(std::vector<Event*> events) {
  for (Event* event : events)
    co_await *event;
}

}}  // namespace c3::engine
