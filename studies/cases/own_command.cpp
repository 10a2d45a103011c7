#include "studies/cases/own_command.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <system_error>
#include <vector>

#include "engine/errors.hpp"
#include "files/io_error.hpp"

namespace c3 { inline namespace studies {
namespace {

/// What a command prints goes to a file without a name, which cannot fill up as a pipe does.
class Printed {
 public:
  Printed() : file_(std::tmpfile(), &std::fclose) {
    if (!file_) throw IoError("/tmp", "start c3sim", std::generic_category().message(errno));
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

std::string own_program() {
  return (std::filesystem::read_symlink("/proc/self/exe").parent_path() / "c3sim").string();
}

pid_t start(const std::string& program, std::span<const std::string> words, const Printed& out,
            const Printed& error) {
  std::vector<std::string> texts{program};
  texts.insert(texts.end(), words.begin(), words.end());
  std::vector<char*> arguments;
  for (std::string& text : texts)
    arguments.push_back(text.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, out.descriptor(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, error.descriptor(), STDERR_FILENO);
  pid_t started = 0;
  const int failed = ::posix_spawn(&started, program.c_str(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) throw IoError(program, "start c3sim", std::generic_category().message(failed));
  return started;
}

}  // namespace

CommandAnswer ask_c3sim(std::span<const std::string> words) {
  const Printed out, error;
  const pid_t started = start(own_program(), words, out, error);
  int status = 0;
  while (::waitpid(started, &status, 0) < 0 && errno == EINTR) {
  }
  constexpr int kInterrupted = 130;
  if (WIFEXITED(status) && WEXITSTATUS(status) == kInterrupted) throw InterruptedError("interrupted");
  if (WIFSIGNALED(status))
    throw std::runtime_error(fmt::format("c3sim {}: signal {}", fmt::join(words, " "), WTERMSIG(status)));
  CommandAnswer answer{.out = out.text(), .error = error.text()};
  while (answer.error.ends_with('\n'))
    answer.error.pop_back();
  return answer;
}

}}  // namespace c3::studies
