#include "files/temporary_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <ctime>
#include <mutex>
#include <set>
#include <system_error>
#include <utility>

#include "files/input_files.hpp"
#include "files/io_error.hpp"

namespace c3 { inline namespace files {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMark = ".c3sim-";
constexpr std::string_view kExtension = ".tmp";
constexpr std::size_t kHostDigits = 8;
// Characters that a temporary name keeps of the target's name, so that it stays below the limit of 255.
constexpr std::size_t kLongestName = 200;

std::string system_reason(int error) { return std::generic_category().message(error); }

/// FNV-1a of the machine's name, as hexadecimal digits.
std::string host_digits() {
  std::array<char, 256> name{};
  static_cast<void>(::gethostname(name.data(), name.size() - 1));
  std::uint32_t hash = 2166136261U;
  for (const char* c = name.data(); *c != '\0'; ++c)
    hash = (hash ^ static_cast<unsigned char>(*c)) * 16777619U;
  std::array<char, kHostDigits + 1> digits{};
  std::snprintf(digits.data(), digits.size(), "%08x", static_cast<unsigned>(hash));
  return digits.data();
}

/// What a temporary name says.
struct TemporaryName {
  std::string target;
  std::string host;
};

/// "run.h5.c3sim-0123abcd-0.tmp" is of run.h5; \returns an empty target for a name of another kind.
TemporaryName parse_name(const std::string& name) {
  const std::size_t mark = name.rfind(kMark);
  if (mark == std::string::npos || mark == 0 || !name.ends_with(kExtension)) return {};
  const std::string_view tail = std::string_view(name).substr(mark + kMark.size());
  const std::string_view host = tail.substr(0, kHostDigits);
  const bool is_marked = host.find_first_not_of("0123456789abcdef") == std::string_view::npos &&
                         tail.size() > kHostDigits + 1 + kExtension.size() && tail[kHostDigits] == '-';
  if (!is_marked) return {};
  const std::string_view number =
      tail.substr(kHostDigits + 1, tail.size() - kHostDigits - 1 - kExtension.size());
  if (number.find_first_not_of("0123456789") != std::string_view::npos) return {};
  return {.target = name.substr(0, mark), .host = std::string(host)};
}

fs::path temporary_name(const fs::path& target, int attempt) {
  const std::string name = target.filename().string().substr(0, kLongestName);
  return target.parent_path() /
         (name + std::string(kMark) + host_digits() + "-" + std::to_string(attempt) + std::string(kExtension));
}

bool is_same(const struct stat& a, const struct stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

bool is_at(const fs::path& path, const struct stat& file) {
  struct stat there {};
  return ::lstat(path.c_str(), &there) == 0 && is_same(there, file);
}

enum class Lock { taken, held_by_another, not_supported };

/// Locks of an open file description end with the last process that has it, and do not disturb HDF5's own.
Lock lock(int descriptor) {
  struct flock whole {};
  whole.l_type = F_WRLCK;
  whole.l_whence = SEEK_SET;
  if (::fcntl(descriptor, F_OFD_SETLK, &whole) == 0) return Lock::taken;
  return errno == EAGAIN || errno == EACCES ? Lock::held_by_another : Lock::not_supported;
}

/// Renaming over a folder fails late, and over a device (/dev/null) it succeeds.
void refuse_special_file(const fs::path& target) {
  std::error_code ignored;  // what cannot be looked at cannot be created either, which has the better message
  const auto status = fs::status(target, ignored);
  if (fs::is_directory(status)) throw IoError(target.string(), "write", system_reason(EISDIR));
  if (fs::is_other(status)) throw IoError(target.string(), "write", "it is not a regular file");
}

/// \p target with the symbolic links of its last part followed, also where they point to nothing yet.
fs::path followed(const fs::path& target) {
  constexpr int kMostLinks = 40;  // the kernel's limit
  fs::path path = target;
  for (int links = 0; links <= kMostLinks; ++links) {
    std::error_code no_link;
    const fs::path next = fs::read_symlink(path, no_link);
    if (no_link) return path;
    path = path.parent_path() / next;  // an absolute one replaces all
  }
  throw IoError(target.string(), "create", system_reason(ELOOP));
}

void refuse_conflict(const fs::path& target) {
  struct stat file {};
  if (::stat(target.c_str(), &file) != 0) return;
  if (is_input(target))
    throw OutputConflictError(
        target.string() + ": this file is read by the command, which would replace it; choose another output");
  for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) {
    struct stat there {};
    if (::fstat(stream, &there) == 0 && is_same(there, file))
      throw OutputConflictError(target.string() + ": this file is standard " +
                                (stream == STDOUT_FILENO ? "output" : "error") + "; choose another output");
  }
}

/// The targets of all living TemporaryFiles and the folders that were looked through for stale ones.
struct Register {
  std::mutex mutex;
  std::set<fs::path> targets;
  std::set<std::pair<dev_t, ino_t>> folders;
};

Register& known() {
  static Register all;
  return all;
}

void reserve(const fs::path& target, const fs::path& name) {
  const std::scoped_lock guard(known().mutex);
  if (!known().targets.insert(fs::weakly_canonical(target)).second)
    throw OutputConflictError(name.string() + ": two outputs have this name");
}

void release(const fs::path& target) {
  std::error_code ignored;
  const std::scoped_lock guard(known().mutex);
  known().targets.erase(fs::weakly_canonical(target, ignored));
}

bool is_first_time(const fs::path& folder) {
  struct stat status {};
  if (::stat(folder.c_str(), &status) != 0) return false;
  const std::scoped_lock guard(known().mutex);
  return known().folders.emplace(status.st_dev, status.st_ino).second;
}

/// \p path is a temporary file by its name; \p host is the machine that made it.
void remove_if_stale(const fs::path& path, std::string_view host) {
  constexpr std::time_t kDay = 24 * 60 * 60;
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (descriptor < 0) return;
  struct stat file {};
  const bool is_ours = ::fstat(descriptor, &file) == 0 && S_ISREG(file.st_mode) && file.st_uid == ::geteuid();
  const bool is_seen_from_here = host == host_digits() || file.st_mtime + kDay < std::time(nullptr);
  if (is_ours && is_seen_from_here && lock(descriptor) == Lock::taken && is_at(path, file))
    ::unlink(path.c_str());
  ::close(descriptor);
}

fs::path folder_of(const fs::path& target) {
  return target.has_parent_path() ? target.parent_path() : fs::path(".");
}

}  // namespace

TemporaryFile::TemporaryFile(const fs::path& target, TableHeader table) : name_(target) {
  refuse_special_file(name_);
  refuse_conflict(name_);
  refuse_file_of_user(name_, table);
  target_ = followed(name_);
  if (fs::exists(fs::status(name_)) && !fs::equivalent(name_, target_))
    throw IoError(name_.string(), "write", "the file that it stands for has no name");
  reserve(target_, name_);
  try {
    if (is_first_time(folder_of(target_))) remove_stale_files(folder_of(target_));
    open_temporary();
  } catch (...) {
    release(target_);
    throw;
  }
}

void TemporaryFile::open_temporary() {
  constexpr int kAttempts = 100;
  constexpr mode_t kMode = 0666;  // less the user's umask
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    path_ = temporary_name(target_, attempt);
    descriptor_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, kMode);
    if (descriptor_ < 0 && errno == EEXIST) continue;  // another process writes the same target
    if (descriptor_ < 0) break;
    struct stat file {};
    // Between the two calls another process may have taken it for a stale one.
    if (lock(descriptor_) != Lock::held_by_another && ::fstat(descriptor_, &file) == 0 && is_at(path_, file))
      return;
    ::close(std::exchange(descriptor_, -1));
    errno = EEXIST;
  }
  throw IoError(name_.string(), "create", system_reason(errno));
}

TemporaryFile::~TemporaryFile() {
  if (!renamed_) ::unlink(path_.c_str());
  ::close(descriptor_);  // ends the lock: after it is gone
  release(target_);
}

void TemporaryFile::append(std::string_view text) {
  while (!text.empty()) {
    const auto written = ::write(descriptor_, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw IoError(name_.string(), "write", system_reason(errno));
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

void TemporaryFile::overwrite(std::uint64_t offset, std::string_view text) {
  const auto written = ::pwrite(descriptor_, text.data(), text.size(), static_cast<off_t>(offset));
  if (written < 0) throw IoError(name_.string(), "write", system_reason(errno));
  if (static_cast<std::size_t>(written) < text.size())
    throw IoError(name_.string(), "write", system_reason(ENOSPC));
}

void TemporaryFile::rename_to_target() {
  refuse_conflict(name_);
  if (::fsync(descriptor_) != 0) throw IoError(name_.string(), "write", system_reason(errno));
  if (::rename(path_.c_str(), target_.c_str()) != 0)
    throw IoError(name_.string(), "create", system_reason(errno));
  renamed_ = true;
}

std::string final_name(const std::string& path) {
  const fs::path whole(path);
  const TemporaryName name = parse_name(whole.filename().string());
  return name.target.empty() ? path : (whole.parent_path() / name.target).string();
}

void remove_stale_files(const fs::path& folder) {
  static_cast<void>(is_first_time(folder));  // TemporaryFiles need not look again
  std::error_code failed;
  fs::directory_iterator entry(folder, failed);
  while (!failed && entry != fs::directory_iterator()) {
    const TemporaryName name = parse_name(entry->path().filename().string());
    if (!name.target.empty()) remove_if_stale(entry->path(), name.host);
    entry.increment(failed);
  }
}

}}  // namespace c3::files
