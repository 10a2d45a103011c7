#include "studies/simulations.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <stdexcept>
#include <system_error>
#include <thread>

#include "engine/errors.hpp"
#include "engine/interrupt.hpp"
#include "engine/simgrid_loop.hpp"

namespace c3 { inline namespace studies {
namespace {

enum class Outcome : int { none, done, infeasible, interrupted, failed };

/// What a process leaves of one job for the others to read.
struct Slot {
  std::atomic<Outcome> outcome = Outcome::none;
  bool has_time = false;
  double seconds = 0.0;
  std::size_t value_count = 0;
  std::array<double, SimulatedTime::kMostValues>
      values;                  // left as mapped: pages that nobody writes cost nothing
  std::array<char, 400> text;  ///< ends with 0

  Slot() { text.front() = '\0'; }  // NOLINT(cppcoreguidelines-pro-type-member-init): see values

  void say(const char* what) { std::snprintf(text.data(), text.size(), "%s", what); }

  void write(const SimulatedTime& simulated) {
    if (!simulated.time && simulated.values.empty())
      throw std::logic_error("a simulation ended with neither a time nor values");
    if (simulated.values.size() > values.size())
      throw std::logic_error(
          fmt::format("a simulation ended with {} values, and {} fit", simulated.values.size(), values.size()));
    has_time = simulated.time.has_value();
    seconds = simulated.time.value_or(Seconds{}).value;
    value_count = simulated.values.size();
    std::ranges::copy(simulated.values, values.begin());
    say(simulated.said.c_str());
  }

  SimulatedTime read() const {
    SimulatedTime simulated{.said = text.data()};
    if (outcome != Outcome::done) return simulated;
    if (has_time) simulated.time = Seconds{seconds};
    simulated.values.assign(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(value_count));
    return simulated;
  }
};

struct Counter {
  std::atomic<std::size_t> next = 0;
  std::atomic<std::size_t> done = 0;
};
static_assert(std::atomic<std::size_t>::is_always_lock_free && std::atomic<Outcome>::is_always_lock_free);

/// Memory that this process and those that it forks share: a counter, then a slot for each job.
class SharedSlots {
 public:
  explicit SharedSlots(std::size_t jobs)
      : size_(sizeof(Counter) + alignof(Slot) + jobs * sizeof(Slot)),
        memory_(::mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) {
    if (memory_ == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "memory to share");
    counter_ = new (memory_) Counter;
    void* first = counter_ + 1;
    std::size_t left = size_ - sizeof(Counter);
    slots_ = static_cast<Slot*>(std::align(alignof(Slot), jobs * sizeof(Slot), first, left));
    for (std::size_t i = 0; i < jobs; ++i)
      new (slots_ + i) Slot;
  }
  SharedSlots(const SharedSlots&) = delete;
  SharedSlots& operator=(const SharedSlots&) = delete;
  ~SharedSlots() { ::munmap(memory_, size_); }

  Counter& counter() { return *counter_; }
  Slot& operator[](std::size_t job) { return slots_[job]; }

 private:
  std::size_t size_;
  void* memory_;
  Counter* counter_;
  Slot* slots_;
};

Outcome run(const SimulationJob& job, Slot& slot) {
  try {
    if (interrupt_requested()) return Outcome::interrupted;
    slot.write(job.run());
    return Outcome::done;
  } catch (const InfeasibleError& error) {
    slot.say(error.what());
    return Outcome::infeasible;
  } catch (const InterruptedError&) {
    return Outcome::interrupted;
  } catch (const std::exception& error) {
    slot.say(error.what());
    return Outcome::failed;
  }
}

/// The life of a forked process: jobs, until there are none or one ends them all.
[[noreturn]] void work(const SimulationJobs& jobs, SharedSlots& slots) {
  for (std::size_t job = slots.counter().next++; job < jobs.size(); job = slots.counter().next++) {
    const Outcome outcome = run(jobs[job], slots[job]);
    slots[job].outcome = outcome;
    if (outcome == Outcome::interrupted || outcome == Outcome::failed) slots.counter().next = jobs.size();
    ++slots.counter().done;
  }
  ::_exit(0);
}

/// Processes that end, at the latest, with the object.
class Workers {
 public:
  Workers() { prepare_simgrid(); }  // once, and not in each worker
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;
  ~Workers() {
    for (const pid_t worker : running_)
      ::kill(worker, SIGKILL);
    while (!running_.empty())
      reap(0);
  }

  void start(const SimulationJobs& jobs, SharedSlots& slots) {
    std::fflush(nullptr);  // else the child would inherit what is buffered, and write it again
    const pid_t worker = ::fork();
    if (worker < 0) throw std::system_error(errno, std::generic_category(), "fork");
    if (worker == 0) work(jobs, slots);
    running_.push_back(worker);
  }

  /// Waits a little for one to end. \returns whether some still run.
  bool wait_a_little() {
    constexpr std::chrono::milliseconds kInterval{20};
    if (!reap(WNOHANG)) std::this_thread::sleep_for(kInterval);
    return !running_.empty();
  }

  bool one_died() const { return one_died_; }

 private:
  bool reap(int options) {
    for (const pid_t worker : running_) {
      int status = 0;
      const pid_t ended = ::waitpid(worker, &status, options);
      if (ended == 0 || (ended < 0 && errno == EINTR)) continue;
      one_died_ |= ended < 0 || status != 0;
      std::erase(running_, worker);
      return true;
    }
    return false;
  }

  std::vector<pid_t> running_;
  bool one_died_ = false;
};

}  // namespace

void run_simulations(const SimulationJobs& jobs, const StudyProgress& progress, std::size_t processes) {
  SharedSlots slots(jobs.size());
  Workers workers;
  if (processes == 0) processes = std::max(1U, std::thread::hardware_concurrency());
  for (std::size_t i = 0; i < std::min(processes, jobs.size()); ++i)
    workers.start(jobs, slots);
  while (workers.wait_a_little())
    progress(slots.counter().done, jobs.size());

  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (slots[i].outcome == Outcome::failed) throw std::runtime_error(slots[i].text.data());
    if (slots[i].outcome == Outcome::interrupted) throw InterruptedError("interrupted");
  }
  if (workers.one_died()) throw std::runtime_error("the process of a simulation died");
  for (std::size_t i = 0; i < jobs.size(); ++i)
    jobs[i].take(slots[i].read());
}

}}  // namespace c3::studies
