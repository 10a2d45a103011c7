#include "app/command/standard_streams.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <system_error>

namespace c3 { inline namespace app {
namespace {

void open_if_closed(int descriptor, int mode) {
  if (::fcntl(descriptor, F_GETFD) >= 0) return;
  // The lowest free number is this one: those below it are open.
  static_cast<void>(::open("/dev/null", mode));
}

int error_of_output = 0;  ///< errno of the first failed flush before a write to stderr

/// Says that all was written, whatever happened. Flushes stdout first, so that earlier output comes first when
/// both streams go to one place.
ssize_t write_if_possible(void* /*unused*/, const char* text, std::size_t size) {
  if (std::fflush(stdout) != 0 && error_of_output == 0) error_of_output = errno;
  std::size_t written = 0;
  while (written < size) {
    const ssize_t part = ::write(STDERR_FILENO, text + written, size - written);
    if (part < 0 && errno != EINTR) break;
    if (part > 0) written += static_cast<std::size_t>(part);
  }
  return static_cast<ssize_t>(size);
}

/// glibc allows stderr to be assigned.
void make_stderr_unfailing() {
  cookie_io_functions_t functions{};
  functions.write = write_if_possible;
  std::FILE* const stream = ::fopencookie(nullptr, "w", functions);
  if (stream == nullptr) return;
  std::setvbuf(stream, nullptr, _IONBF, 0);
  stderr = stream;
}

}  // namespace

void prepare_standard_streams() {
  open_if_closed(STDIN_FILENO, O_RDONLY);
  open_if_closed(STDOUT_FILENO, O_RDONLY);
  open_if_closed(STDERR_FILENO, O_WRONLY);
  make_stderr_unfailing();
  std::signal(SIGXFSZ, SIG_IGN);
  std::signal(SIGPIPE, SIG_IGN);
}

void flush_standard_output() {
  const bool failed_before = std::ferror(stdout) != 0;
  if (std::fflush(stdout) == 0 && !failed_before) return;
  const int error = error_of_output != 0 ? error_of_output : errno != 0 ? errno : EIO;
  if (error == EPIPE) {
    std::signal(SIGPIPE, SIG_DFL);
    std::raise(SIGPIPE);
  }
  throw std::system_error(error, std::generic_category(), "standard output");
}

}}  // namespace c3::app
