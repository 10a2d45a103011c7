#include "app/parallel_tasks.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <stdexcept>
#include <system_error>

#include "app/command/exit_code.hpp"
#include "app/sweep/worker_pool.hpp"
#include "engine/errors.hpp"
#include "engine/interrupt.hpp"

namespace c3 { inline namespace app {
namespace {

[[noreturn]] void fail_to(const char* what) { throw std::system_error(errno, std::generic_category(), what); }

/// A file in memory that a worker writes and this process reads.
class SharedText {
 public:
  SharedText() : file_(memfd_create("c3sim task", MFD_CLOEXEC)) {
    if (file_ < 0) fail_to("memfd_create");
  }
  SharedText(const SharedText&) = delete;
  SharedText& operator=(const SharedText&) = delete;
  ~SharedText() { close(file_); }

  void write(const std::string& text) const {
    for (std::size_t written = 0; written < text.size();) {
      const ssize_t more = ::write(file_, text.data() + written, text.size() - written);
      if (more < 0 && errno != EINTR) fail_to("write");
      written += more > 0 ? static_cast<std::size_t>(more) : 0;
    }
  }

  std::string read() const {
    std::string text;
    std::array<char, 65536> part{};
    for (;;) {
      const ssize_t got = pread(file_, part.data(), part.size(), static_cast<off_t>(text.size()));
      if (got < 0 && errno != EINTR) fail_to("read");
      if (got == 0) return text;
      if (got > 0) text.append(part.data(), static_cast<std::size_t>(got));
    }
  }

 private:
  int file_;
};

/// Runs in the worker. \returns its exit code
int do_task(const ParallelTask& task, const SharedText& text) {
  try {
    text.write(task.work());
    return kExitOk;
  } catch (const InfeasibleError& error) {
    fmt::print(stderr, "{}", error.what());
    return kExitInfeasible;
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}", error.what());
    return kExitInternal;
  }
}

void check_end(const WorkerEnd& end, const ParallelTask& task) {
  if (end.exit_code == kExitOk || (task.can_be_spared && !end.exit_code)) return;
  if (end.exit_code == kExitInfeasible) throw InfeasibleError(fmt::format("{}: {}", task.name, end.said));
  throw std::runtime_error(fmt::format("{}: {}", task.name, end.exit_code ? end.said : end.why));
}

}  // namespace

std::vector<std::string> run_in_parallel(const std::vector<ParallelTask>& tasks, int workers,
                                         const std::function<void(std::size_t)>& done) {
  constexpr std::chrono::milliseconds kWait{100};
  std::vector<SharedText> texts(tasks.size());
  WorkerPool pool(workers, std::nullopt);
  std::size_t started = 0, ended = 0;
  while (ended < tasks.size()) {
    checkpoint();
    for (; started < tasks.size() && pool.has_room(); ++started)
      pool.start(started, [&tasks, &texts, started] { return do_task(tasks[started], texts[started]); });
    for (const WorkerEnd& end : pool.wait(kWait)) {
      check_end(end, tasks[end.task]);
      done(++ended);
    }
  }
  std::vector<std::string> results;
  for (const SharedText& text : texts)
    results.push_back(text.read());
  return results;
}

}}  // namespace c3::app
