#include "app/sweep/worker_pool.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <system_error>

#include "engine/simgrid_loop.hpp"

namespace c3 { inline namespace app {
namespace {

constexpr std::size_t kMostSaid = 4096;

[[noreturn]] void fail(const char* what) { throw std::system_error(errno, std::generic_category(), what); }

/// Holds back SIGINT and SIGTERM, so that a new process gets none before it ignores them.
class HeldSignals {
 public:
  HeldSignals() {
    sigset_t both;
    sigemptyset(&both);
    sigaddset(&both, SIGINT);
    sigaddset(&both, SIGTERM);
    sigprocmask(SIG_BLOCK, &both, &before_);
  }
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;
  ~HeldSignals() { release(); }

  void release() { sigprocmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_{};
};

/// Runs in the new process.
[[noreturn]] void live_as_worker(pid_t parent, int output, HeldSignals& meant_for_others,
                                 const std::function<int()>& work) {
  std::signal(SIGINT, SIG_IGN);
  std::signal(SIGTERM, SIG_IGN);
  meant_for_others.release();
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);  // it died before it was watched
  dup2(output, STDERR_FILENO);
  close(output);
  const int code = work();
  std::fflush(nullptr);
  _exit(code);
}

std::string name_of_signal(int signal) {
  const std::string hint = signal == SIGKILL ? ": by somebody, or for lack of memory" : "";
  return fmt::format("crashed: signal {} ({}){}", signal, strsignal(signal), hint);
}

}  // namespace

WorkerPool::WorkerPool(int workers, std::optional<std::chrono::duration<double>> limit)
    : workers_(static_cast<std::size_t>(workers)), limit_(limit) {
  prepare_simgrid();  // once, and not in each worker
}

WorkerPool::~WorkerPool() {
  for (const Worker& worker : running_) {
    kill(worker.process, SIGKILL);
    waitpid(worker.process, nullptr, 0);
    close(worker.output);
  }
}

void WorkerPool::start(std::size_t task, const std::function<int()>& work) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) fail("pipe");
  std::fflush(nullptr);  // else the worker would inherit what is buffered, and write it again
  const pid_t self = getpid();
  HeldSignals held;
  const pid_t process = fork();
  if (process < 0) fail("fork");
  if (process == 0) live_as_worker(self, ends[1], held, work);
  close(ends[1]);
  running_.push_back(
      {.task = task, .process = process, .output = ends[0], .said = {}, .started = Clock::now()});
}

void WorkerPool::kill_late(Clock::time_point now) {
  if (!limit_) return;
  for (Worker& worker : running_) {
    if (worker.timed_out || now - worker.started < *limit_) continue;
    worker.timed_out = true;
    kill(worker.process, SIGKILL);
  }
}

WorkerPool::Clock::time_point WorkerPool::next_deadline() const {
  Clock::time_point next = Clock::time_point::max();
  for (const Worker& worker : running_) {
    if (limit_ && !worker.timed_out)
      next = std::min(next, worker.started + std::chrono::ceil<Clock::duration>(*limit_));
  }
  return next;
}

bool WorkerPool::read_output(Worker& worker) {
  std::array<char, 1024> text{};
  const ssize_t got = read(worker.output, text.data(), text.size());
  if (got <= 0) return got == 0 || errno != EINTR;
  worker.said.append(text.data(), static_cast<std::size_t>(got));
  if (worker.said.size() > kMostSaid) worker.said.erase(0, worker.said.size() - kMostSaid);
  return false;
}

WorkerEnd WorkerPool::collect(const Worker& worker) const {
  int status = 0;
  while (waitpid(worker.process, &status, 0) < 0 && errno == EINTR) {
  }
  close(worker.output);
  WorkerEnd end{.task = worker.task, .exit_code = std::nullopt, .why = {}, .said = worker.said};
  if (worker.timed_out) {
    end.why = fmt::format("took longer than {} s", limit_->count());
  } else if (WIFEXITED(status)) {
    end.exit_code = WEXITSTATUS(status);
  } else {
    end.why = name_of_signal(WTERMSIG(status));
    end.lacked_memory = WTERMSIG(status) == SIGKILL;
  }
  return end;
}

std::vector<WorkerEnd> WorkerPool::wait(std::chrono::milliseconds longest) {
  using std::chrono::milliseconds;
  const Clock::time_point now = Clock::now();
  kill_late(now);
  const auto left = std::chrono::ceil<milliseconds>(std::min(next_deadline(), now + longest) - now);
  std::vector<pollfd> ends;
  ends.reserve(running_.size());
  for (const Worker& worker : running_)
    ends.push_back({.fd = worker.output, .events = POLLIN, .revents = 0});
  if (poll(ends.data(), ends.size(), static_cast<int>(left.count())) < 0 && errno != EINTR) fail("poll");
  std::vector<WorkerEnd> ended;
  for (std::size_t i = ends.size(); i-- > 0;) {
    if (ends[i].revents == 0 || !read_output(running_[i])) continue;
    ended.push_back(collect(running_[i]));
    running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return ended;
}

}}  // namespace c3::app
