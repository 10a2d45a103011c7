#pragma once
/// Coroutines that live in simulated time.
///
/// A Task starts when it is spawned or awaited, never before. Every resumption goes through the simulation's
/// ready queue: no recursion, and order is first come, first served. Rules for g++ 12 (breaking them corrupts
/// memory): inside a co_await expression no braced or aggregate temporary, no initializer list, no `?:`;
/// parameters by value; no capturing lambdas as coroutines.

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <string_view>
#include <utility>

namespace c3 { inline namespace engine {

class Event;
class Simulation;

namespace detail {
/// Frames are recycled by size: a steady simulation allocates nothing.
void* allocate_frame(std::size_t size);
void release_frame(void* frame, std::size_t size) noexcept;
}  // namespace detail

class [[nodiscard]] Task {
 public:
  struct promise_type;
  using Handle = std::coroutine_handle<promise_type>;

  struct promise_type {
    Simulation* simulation = nullptr;
    std::coroutine_handle<promise_type> parent;  ///< awaits this task; null for a spawned one
    std::uint32_t slot = 0;                      ///< of a spawned task in its simulation
    const promise_type* child = nullptr;         ///< awaited task, for deadlock reports
    std::string_view waits_for;                  ///< what suspended it, for deadlock reports
    const Event* event = nullptr;  ///< the same where that is an event, which has a name of its own
    std::exception_ptr error;

    void wait_for(std::string_view what) {
      waits_for = what;
      event = nullptr;
    }

    Task get_return_object() { return Task(Handle::from_promise(*this)); }
    std::suspend_always initial_suspend() noexcept { return {}; }
    auto final_suspend() noexcept;
    void return_void() {}
    void unhandled_exception() { error = std::current_exception(); }

    static void* operator new(std::size_t size) { return detail::allocate_frame(size); }
    static void operator delete(void* frame, std::size_t size) noexcept { detail::release_frame(frame, size); }
  };

  Task() = default;
  Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Task& operator=(Task&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Task() {
    if (handle_) handle_.destroy();
  }

  /// Hands the coroutine to the caller, who destroys it.
  Handle release() { return std::exchange(handle_, nullptr); }

  struct Awaiter;
  Awaiter operator co_await() &&;

 private:
  explicit Task(Handle handle) : handle_(handle) {}
  Handle handle_;
};

/// Runs a task to its end inside another; its exceptions arrive at the co_await.
struct Task::Awaiter {
  Handle task;
  bool await_ready() const noexcept { return !task || task.done(); }
  void await_suspend(Handle parent);
  void await_resume() const;
};

inline Task::Awaiter Task::operator co_await() && { return Awaiter{handle_}; }

}}  // namespace c3::engine
