#include "files/input_files.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <mutex>
#include <optional>
#include <set>
#include <system_error>
#include <tuple>

#include "files/io_error.hpp"

namespace c3 { inline namespace files {
namespace {

[[noreturn]] void refuse(const std::filesystem::path& path, int error) {
  throw IoError(path.string(), "read", std::generic_category().message(error));
}

/// Device, inode and time of birth: an inode's number is given again after its file was removed.
using Identity = std::tuple<std::uint32_t, std::uint32_t, std::uint64_t, std::int64_t, std::uint32_t>;

/// \returns nothing when there is no such file. \p path may be empty, for the file that \p descriptor is open
/// on.
std::optional<Identity> identity_of(int descriptor, const char* path) {
  struct statx file {};
  const int flags = *path == '\0' ? AT_EMPTY_PATH : 0;
  if (::statx(descriptor, path, flags, STATX_INO | STATX_BTIME, &file) != 0) return std::nullopt;
  return Identity{file.stx_dev_major, file.stx_dev_minor, file.stx_ino, file.stx_btime.tv_sec,
                  file.stx_btime.tv_nsec};
}

/// What was read.
class InputRegister {
 public:
  void add(int descriptor) {
    const std::optional<Identity> file = identity_of(descriptor, "");
    const std::scoped_lock lock(mutex_);
    if (file) files_.insert(*file);
  }
  bool has(const std::filesystem::path& path) {
    const std::optional<Identity> file = identity_of(AT_FDCWD, path.c_str());
    const std::scoped_lock lock(mutex_);
    return file && files_.contains(*file);
  }

 private:
  std::mutex mutex_;
  std::set<Identity> files_;
};

InputRegister& inputs() {
  static InputRegister all;
  return all;
}

/// A file open for reading. Opening never waits, not even for the writer of a pipe.
class OpenFile {
 public:
  explicit OpenFile(const std::filesystem::path& path)
      : path_(path), descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    if (descriptor_ < 0) refuse(path_, errno);
    if (::fstat(descriptor_, &status_) != 0) {
      const int error = errno;
      ::close(descriptor_);
      refuse(path_, error);
    }
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  ~OpenFile() { ::close(descriptor_); }

  const struct stat& status() const { return status_; }
  int descriptor() const { return descriptor_; }

  /// \returns the number of bytes read into \p buffer, 0 at the end.
  std::size_t read(char* buffer, std::size_t size) {
    for (;;) {
      const ssize_t got = ::read(descriptor_, buffer, size);
      if (got >= 0) return static_cast<std::size_t>(got);
      if (errno == EAGAIN) {
        wait();
      } else if (errno != EINTR) {
        refuse(path_, errno);
      }
    }
  }

 private:
  void wait() const {
    pollfd readable{.fd = descriptor_, .events = POLLIN, .revents = 0};
    constexpr int kForEver = -1;
    if (::poll(&readable, 1, kForEver) < 0 && errno != EINTR) refuse(path_, errno);
  }

  const std::filesystem::path& path_;
  int descriptor_;
  struct stat status_ {};
};

std::vector<char> content_of(OpenFile& file, const std::filesystem::path& path, std::uintmax_t largest) {
  constexpr std::size_t kPart = std::size_t{4} << 20U;
  const mode_t mode = file.status().st_mode;
  if (S_ISDIR(mode)) refuse(path, EISDIR);
  if (!S_ISREG(mode) && !S_ISFIFO(mode)) throw IoError(path.string(), "read", "it is a device, not a file");
  // Most files are small and have a size; those of /proc have none.
  std::size_t part = std::min<std::uintmax_t>(kPart, static_cast<std::uintmax_t>(file.status().st_size) + 1);
  std::vector<char> content;
  for (;;) {
    const std::size_t before = content.size();
    content.resize(before + part);
    const std::size_t got = file.read(content.data() + before, part);
    content.resize(before + got);
    if (content.size() > largest) refuse(path, EFBIG);
    if (got == 0) break;
    part = got < part ? 1 : kPart;  // most likely the end, for which no room is cleared
  }
  if (S_ISFIFO(mode) && content.empty()) throw IoError(path.string(), "read", "no process writes to this pipe");
  return content;
}

}  // namespace

std::vector<char> read_file(const std::filesystem::path& path, std::uintmax_t largest) {
  OpenFile file(path);
  std::vector<char> content = content_of(file, path, largest);
  if (S_ISREG(file.status().st_mode)) inputs().add(file.descriptor());
  return content;
}

std::vector<char> read_own_file(const std::filesystem::path& path, std::uintmax_t largest) {
  OpenFile file(path);
  return content_of(file, path, largest);
}

void note_input(const std::filesystem::path& path) {
  const OpenFile file(path);
  if (S_ISDIR(file.status().st_mode)) refuse(path, EISDIR);
  if (!S_ISREG(file.status().st_mode)) throw IoError(path.string(), "read", "it is not a regular file");
  inputs().add(file.descriptor());
}

bool is_input(const std::filesystem::path& path) { return inputs().has(path); }

}}  // namespace c3::files
