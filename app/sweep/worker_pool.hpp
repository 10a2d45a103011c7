#pragma once
/// Processes of our own that do one task each: SimGrid is one engine a process, and what crashes or hangs there
/// takes nothing else with it.

#include <sys/types.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace c3 { inline namespace app {

/// How a worker ended.
struct WorkerEnd {
  std::size_t task = 0;
  std::optional<int> exit_code;  ///< absent when it did not come to its own end
  std::string why;               ///< why it did not: the signal, or the time that it was given
  std::string said;              ///< the end of what it wrote to stderr
  bool lacked_memory = false;    ///< it was killed by somebody else, as a system does that lacks memory
};

class WorkerPool {
 public:
  using Clock = std::chrono::steady_clock;

  /// \param limit after which a worker is killed
  WorkerPool(int workers, std::optional<std::chrono::duration<double>> limit);
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;
  ~WorkerPool();  ///< kills those that run

  bool has_room() const { return running_.size() < workers_; }
  bool is_idle() const { return running_.empty(); }
  std::size_t running() const { return running_.size(); }
  /// Lets no more than \p workers (>= 1) run at once; those that run come to their end.
  void limit_to(std::size_t workers) { workers_ = std::min(workers_, workers); }

  /// Does \p work in a new process, which ends with its result. The worker ignores SIGINT and SIGTERM, which
  /// are meant for this process, and dies with it. \throws std::system_error when there can be no process
  void start(std::size_t task, const std::function<int()>& work);

  /// Waits until a worker ends, at most \p longest or until a signal comes. \returns those that ended.
  std::vector<WorkerEnd> wait(std::chrono::milliseconds longest);

 private:
  struct Worker {
    std::size_t task = 0;
    pid_t process = -1;
    int output = -1;  ///< its stderr; ends with it
    std::string said;
    Clock::time_point started;
    bool timed_out = false;
  };

  void kill_late(Clock::time_point now);
  Clock::time_point next_deadline() const;
  static bool read_output(Worker& worker);  ///< \returns whether it has ended
  WorkerEnd collect(const Worker& worker) const;

  std::size_t workers_;
  std::optional<std::chrono::duration<double>> limit_;
  std::vector<Worker> running_;
};

}}  // namespace c3::app
