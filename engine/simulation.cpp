#include "engine/simulation.hpp"

#include <array>
#include <cmath>

#include "engine/interrupt.hpp"
#include "engine/simgrid_loop.hpp"

namespace c3 { inline namespace engine {

namespace detail {
namespace {

// Size classes of 64 bytes up to 4 KiB; larger frames go to the heap.
constexpr std::size_t kClassSize = 64;
#if defined(__SANITIZE_ADDRESS__)
constexpr std::size_t kClasses = 0;  // all of them, so that AddressSanitizer sees what is used after its end
#else
constexpr std::size_t kClasses = 64;
#endif

struct FreeFrame {
  FreeFrame* next;
};

struct FramePool {
  std::array<FreeFrame*, kClasses> free{};
  ~FramePool() {
    for (FreeFrame* frame : free) {
      while (frame != nullptr)
        ::operator delete(std::exchange(frame, frame->next));
    }
  }
};

thread_local FramePool pool;

}  // namespace

void* allocate_frame(std::size_t size) {
  const std::size_t size_class = (size - 1) / kClassSize;
  if (size_class >= kClasses) return ::operator new(size);
  FreeFrame*& head = pool.free[size_class];
  if (head == nullptr) return ::operator new((size_class + 1) * kClassSize);
  return std::exchange(head, head->next);
}

void release_frame(void* frame, std::size_t size) noexcept {
  const std::size_t size_class = (size - 1) / kClassSize;
  if (size_class >= kClasses) {
    ::operator delete(frame);
    return;
  }
  pool.free[size_class] = new (frame) FreeFrame{pool.free[size_class]};
}

}  // namespace detail

void Task::Awaiter::await_suspend(Handle parent) {
  promise_type& promise = task.promise();
  promise.simulation = parent.promise().simulation;
  promise.parent = parent;
  parent.promise().child = &promise;
  promise.simulation->make_ready(task);
}

void Task::Awaiter::await_resume() const {
  if (!task) return;
  if (task.promise().parent) task.promise().parent.promise().child = nullptr;
  if (task.promise().error) std::rethrow_exception(task.promise().error);
}

void SleepAwaiter::await_suspend(Task::Handle task) {
  task_ = task;
  task.promise().wait_for("a timer");
  simulation_.fluid().set_timer(simulation_.now() + duration_, *this);
}

RunningFlow::RunningFlow(Simulation& simulation, const FlowSpec& spec)
    : simulation_(simulation), id_(simulation.fluid().start(spec, this)) {}

void RunningFlow::await_suspend(Task::Handle task) {
  task_ = task;
  task.promise().wait_for("a flow that makes no progress");
}

void RunningFlow::on_complete(std::uint64_t) {
  ended_ = true;
  if (task_) simulation_.make_ready(task_);
}

Simulation::~Simulation() {
  for (const Spawned& task : tasks_) {
    if (task.handle) task.handle.destroy();
  }
}

void Simulation::spawn(std::string_view name, Task task, Completion* done) {
  if (free_slots_.empty()) {
    free_slots_.push_back(static_cast<std::uint32_t>(tasks_.size()));
    tasks_.emplace_back();
  }
  const Task::Handle handle = task.release();
  handle.promise().simulation = this;
  handle.promise().slot = free_slots_.back();
  tasks_[free_slots_.back()] = {name, handle, done};
  free_slots_.pop_back();
  make_ready(handle);
}

void Simulation::run() {
  run_ready();
  run_in_simgrid(*this);
  check_finished();
}

void Simulation::run_without_simgrid() {
  run_ready();
  for (double date = next_date(); !std::isinf(date); date = next_date())
    advance_to(date);
  check_finished();
}

void Simulation::advance_to(double date) {
  checkpoint(now());
  fluid_.advance_to(date);
  run_ready();
}

void Simulation::run_ready() {
  while (!ready_.empty() || !ended_.empty()) {
    running_.swap(ready_);
    for (const std::coroutine_handle<> task : running_)
      task.resume();
    running_.clear();
    retire_ended();
  }
}

void Simulation::retire_ended() {
  retiring_.swap(ended_);
  std::exception_ptr error;
  for (const std::uint32_t slot : retiring_) {
    const Spawned task = std::exchange(tasks_[slot], Spawned{});
    free_slots_.push_back(slot);
    if (!error) error = task.handle.promise().error;
    task.handle.destroy();
    if (task.done != nullptr) task.done->on_complete(0);
  }
  retiring_.clear();
  if (error) std::rethrow_exception(error);
}

ActivityId Simulation::begin_activity(const ActivityInfo& info) {
  if (observer_ == nullptr) return kNoActivity;
  observer_->activity_started(++last_activity_, info, now());
  return last_activity_;
}

void Simulation::end_activity(ActivityId activity) {
  if (observer_ != nullptr && activity != kNoActivity) observer_->activity_finished(activity, now());
}

void Simulation::add_dependency(ActivityId successor, ActivityId predecessor, DependencyKind kind) {
  if (observer_ == nullptr || successor == kNoActivity || predecessor == kNoActivity) return;
  observer_->depends(successor, predecessor, kind);
}

}}  // namespace c3::engine
