#include "results/hdf5_probe.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <exception>
#include <fstream>
#include <system_error>

#include "files/io_error.hpp"
#include "results/hdf5_column.hpp"
#include "results/hdf5_handle.hpp"

namespace c3 { inline namespace results {
namespace {

constexpr int kDeepestGroup = 8;
constexpr rlim_t kMegabyte = 1'000'000;

std::uint64_t size_of(const std::string& path) {
  struct stat file {};
  return ::stat(path.c_str(), &file) == 0 ? static_cast<std::uint64_t>(file.st_size) : 0;
}

void set_limit(__rlimit_resource resource, rlim_t value) {
  rlimit limit{};
  ::getrlimit(resource, &limit);
  limit.rlim_cur = std::min({value, limit.rlim_cur, limit.rlim_max});
  limit.rlim_max = limit.rlim_cur;
  ::setrlimit(resource, &limit);
}

void limit_child(std::uint64_t file_size) {
  constexpr rlim_t kMemory = rlim_t{256} << 20U;
  constexpr rlim_t kMemoryPerByte = 16;
  constexpr rlim_t kSeconds = 2;
  std::uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  const auto now = static_cast<rlim_t>(pages) * static_cast<rlim_t>(::sysconf(_SC_PAGESIZE));
  set_limit(RLIMIT_AS, now + kMemory + kMemoryPerByte * file_size);
  set_limit(RLIMIT_CPU, kSeconds + file_size / (10 * kMegabyte));
  set_limit(RLIMIT_CORE, 0);
}

void read_attributes(const H5Id& object) {
  for (const std::string& name : h5_attributes(object))
    static_cast<void>(h5_attribute(object, name));
}

void read_datasets(const H5Id& group, const std::string& name) {
  check_stored(group, name);
  const std::uint64_t rows = column_length(group, name);
  for (std::uint64_t first = 0; first == 0 || first < rows; first += kChunkRows)
    static_cast<void>(read_column(group, name, {.first = first, .count = kChunkRows}));
}

void read_group(const H5Id& group, int depth, const std::string& path) {
  if (depth > kDeepestGroup) throw IoError(path, "read", "its groups are nested too deeply");
  read_attributes(group);
  for (const std::string& name : h5_links(group)) {
    if (h5_is_group(group, name)) {
      read_group(h5_open_group(group, name), depth + 1, path);
    } else {
      read_datasets(group, name);
    }
  }
}

/// Everything that readers of this project may touch; of another program's file only what they look at first.
void read_all(const std::string& path) {
  const H5Id file = h5_open_unverified(path);
  if (!h5_has_attribute(file, "schema") || !h5_attribute(file, "schema").starts_with("c3sim.")) return;
  read_group(file, 0, path);
}

/// Runs in the child. What libraries print while they crash is not the user's concern.
[[noreturn]] void read_and_end(const std::string& path, std::uint64_t size, int report) {
  const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (nowhere >= 0) ::dup2(nowhere, STDERR_FILENO);
  for (const int signal : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL})
    std::signal(signal, SIG_DFL);
  limit_child(size);
  int code = 0;
  try {
    read_all(path);
  } catch (const IoError& error) {
    code = 1;
    const std::string& text = error.reason();
    static_cast<void>(::write(report, text.data(), text.size()) < 0);
  } catch (const std::exception&) {
    code = 1;
  }
  ::_exit(code);
}

std::string read_report(int descriptor) {
  std::string text;
  std::array<char, 4096> part{};
  for (;;) {
    const ssize_t got = ::read(descriptor, part.data(), part.size());
    if (got > 0) text.append(part.data(), static_cast<std::size_t>(got));
    if (got == 0 || (got < 0 && errno != EINTR)) return text;
  }
}

}  // namespace

void probe_hdf5_file(const std::string& path) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
  const std::uint64_t size = size_of(path);
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child < 0) throw std::system_error(errno, std::generic_category(), "fork");
  if (child == 0) read_and_end(path, size, ends[1]);
  ::close(ends[1]);
  const std::string report = read_report(ends[0]);
  ::close(ends[0]);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
  throw IoError(
      path, "read",
      "the file is damaged: " + (report.empty() ? "the HDF5 library cannot finish reading it" : report));
}

}}  // namespace c3::results
