#include "files/child_program.hpp"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <memory>
#include <system_error>
#include <vector>

#include "files/io_error.hpp"

namespace c3 { inline namespace files {
namespace {

constexpr double kMicroseconds = 1e-6;
constexpr std::uint64_t kKibibyte = 1024;

/// What a program prints goes to a file without a name, which cannot fill up as a pipe does.
class Printed {
 public:
  Printed() : file_(std::tmpfile(), &std::fclose) {
    if (!file_) throw IoError("/tmp", "create", std::generic_category().message(errno));
  }

  int descriptor() const { return ::fileno(file_.get()); }

  std::string text() const {
    std::string text(static_cast<std::size_t>(::lseek(descriptor(), 0, SEEK_END)), '\0');
    const ssize_t read = ::pread(descriptor(), text.data(), text.size(), 0);
    text.resize(static_cast<std::size_t>(read < 0 ? 0 : read));
    return text;
  }

 private:
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
};

// Not by posix_spawn, which takes `environ`: a program that names it has a copy of that variable, and Open MPI,
// loaded so that it sees the C library's (app/sweep/mpi_points.cpp), then frees texts that are not its own.
pid_t start(const std::string& program, std::span<const std::string> words, const Printed& out,
            const Printed& error) {
  if (::access(program.c_str(), X_OK) != 0)
    throw IoError(program, "start", std::generic_category().message(errno));
  std::vector<std::string> texts{program};
  texts.insert(texts.end(), words.begin(), words.end());
  std::vector<char*> arguments;
  for (std::string& text : texts)
    arguments.push_back(text.data());
  arguments.push_back(nullptr);
  const pid_t started = ::fork();
  if (started < 0) throw IoError(program, "start", std::generic_category().message(errno));
  if (started > 0) return started;
  ::dup2(out.descriptor(), STDOUT_FILENO);
  ::dup2(error.descriptor(), STDERR_FILENO);
  ::execv(program.c_str(), arguments.data());
  constexpr int kNotStarted = 127;
  ::_exit(kNotStarted);
}

}  // namespace

ChildEnd run_child(const std::string& program, std::span<const std::string> words) {
  const Printed out, error;
  const pid_t started = start(program, words, out, error);
  int status = 0;
  rusage used{};
  while (::wait4(started, &status, 0, &used) < 0 && errno == EINTR) {
  }
  ChildEnd end{.out = out.text(), .error = error.text()};
  end.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
  end.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  end.user_seconds =
      static_cast<double>(used.ru_utime.tv_sec) + kMicroseconds * static_cast<double>(used.ru_utime.tv_usec);
  end.peak_rss_bytes = kKibibyte * static_cast<std::uint64_t>(used.ru_maxrss);
  while (end.error.ends_with('\n'))
    end.error.pop_back();
  return end;
}

}}  // namespace c3::files
