#include "app/bench/in_child.hpp"

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <system_error>

namespace c3::bench {
namespace {

[[noreturn]] void fail(const char* what) { throw std::system_error(errno, std::generic_category(), what); }

// A result is far smaller than a pipe's buffer: one write, one read.
[[noreturn]] void live_as_child(int out, std::span<std::byte> result,
                                const std::function<void(std::span<std::byte>)>& work) {
  try {
    work(result);
    if (write(out, result.data(), result.size()) != static_cast<ssize_t>(result.size())) fail("write to pipe");
  } catch (const std::exception& error) {
    fmt::print(stderr, "c3sim: {}\n", error.what());
    _exit(1);
  }
  _exit(0);
}

}  // namespace

std::uint64_t peak_rss() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;  // Linux counts KiB
}

void run_in_child(std::span<std::byte> result, const std::function<void(std::span<std::byte>)>& work) {
  std::array<int, 2> pipe_ends{};
  if (pipe(pipe_ends.data()) != 0) fail("pipe");
  std::fflush(nullptr);  // else the child would inherit what is buffered, and write it again
  const pid_t child = fork();
  if (child < 0) fail("fork");
  if (child == 0) {
    close(pipe_ends[0]);
    live_as_child(pipe_ends[1], result, work);
  }
  close(pipe_ends[1]);
  const ssize_t got = read(pipe_ends[0], result.data(), result.size());
  close(pipe_ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (status != 0 || got != static_cast<ssize_t>(result.size())) {
    throw std::runtime_error("a benchmark's process failed");
  }
}

}  // namespace c3::bench
