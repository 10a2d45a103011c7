#pragma once
/// One run: a fluid system, the tasks that live in it, and who observes.

#include <coroutine>
#include <cstdint>
#include <string_view>
#include <vector>

#include "engine/driven.hpp"
#include "engine/fluid_system.hpp"
#include "engine/observer.hpp"
#include "engine/task.hpp"

namespace c3 { inline namespace engine {

class Simulation final : public Driven {
 public:
  /// \p observer may be null, and must outlive the simulation.
  explicit Simulation(Observer* observer = nullptr) : fluid_(observer), observer_(observer) {}
  ~Simulation();

  Seconds now() const override { return fluid_.now(); }
  FluidSystem& fluid() { return fluid_; }
  const FluidSystem& fluid() const { return fluid_; }

  /// Runs \p task concurrently from now on. \p name must outlive it; deadlock reports use it.
  /// \p done, if given, is told when it ends: an Event is set.
  void spawn(std::string_view name, Task task, Completion* done = nullptr);

  /// Awaitable: continues \p duration (>= 0) later; at once, without suspending, when it is 0.
  auto sleep(Seconds duration);

  /// Runs to the end in SimGrid's engine loop.
  /// \throws DeadlockError when tasks or flows are left that nothing can wake; whatever a task throws.
  void run();
  /// The same without SimGrid: the limit that benchmarks compare with.
  void run_without_simgrid();

  // --- Activities: numbers for observers; free when nobody observes.
  bool is_observed() const { return observer_ != nullptr; }
  ActivityId begin_activity(const ActivityInfo& info);
  void end_activity(ActivityId activity);
  void add_dependency(ActivityId successor, ActivityId predecessor, DependencyKind kind);

  // --- For engine loops and awaiters.
  double next_date() override { return fluid_.next_date(); }
  void advance_to(double date) override;
  void make_ready(std::coroutine_handle<> task) { ready_.push_back(task); }
  void end_task(std::uint32_t slot) { ended_.push_back(slot); }

 private:
  struct Spawned {
    std::string_view name;
    Task::Handle handle;  ///< null in a free slot
    Completion* done;
  };

  void run_ready();
  void retire_ended();
  void check_finished() const;

  FluidSystem fluid_;
  Observer* observer_;
  ActivityId last_activity_ = kNoActivity;
  std::vector<std::coroutine_handle<>> ready_;    ///< to resume, in order
  std::vector<std::coroutine_handle<>> running_;  ///< being resumed
  std::vector<Spawned> tasks_;
  std::vector<std::uint32_t> free_slots_;
  std::vector<std::uint32_t> ended_;  ///< slots of tasks at their final suspension
  std::vector<std::uint32_t> retiring_;
};

/// Suspends a task until a timer rings.
class SleepAwaiter final : public Completion {
 public:
  SleepAwaiter(Simulation& simulation, Seconds duration) : simulation_(simulation), duration_(duration) {}
  bool await_ready() const noexcept { return duration_.value <= 0.0; }
  void await_suspend(Task::Handle task);
  void await_resume() const noexcept {}
  void on_complete(std::uint64_t) override { simulation_.make_ready(task_); }

 private:
  Simulation& simulation_;
  Seconds duration_;
  Task::Handle task_;
};

inline auto Simulation::sleep(Seconds duration) { return SleepAwaiter(*this, duration); }

/// A flow started now, to be awaited by the task that owns this object. It goes on, unheard, when its task ends
/// first. Name it: `RunningFlow copy(sim, spec); co_await copy;`
class RunningFlow final : public Completion {
 public:
  RunningFlow(Simulation& simulation, const FlowSpec& spec);
  ~RunningFlow() { simulation_.fluid().detach(id_); }
  FlowId id() const { return id_; }

  bool await_ready() const noexcept { return ended_; }
  void await_suspend(Task::Handle task);
  void await_resume() const noexcept {}
  void on_complete(std::uint64_t tag) override;

 private:
  Simulation& simulation_;
  FlowId id_;
  bool ended_ = false;
  Task::Handle task_;
};

inline auto Task::promise_type::final_suspend() noexcept {
  struct Finish {
    bool await_ready() const noexcept { return false; }
    void await_suspend(Handle task) const noexcept {
      promise_type& promise = task.promise();
      if (promise.parent) {
        promise.simulation->make_ready(promise.parent);
      } else {
        promise.simulation->end_task(promise.slot);
      }
    }
    void await_resume() const noexcept {}
  };
  return Finish{};
}

}}  // namespace c3::engine
