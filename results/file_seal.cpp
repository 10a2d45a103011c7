#include "results/file_seal.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <set>
#include <string_view>
#include <system_error>
#include <tuple>
#include <vector>

#include <fmt/format.h>

#include "files/io_error.hpp"
#include "files/sha256.hpp"
#include "files/written_files.hpp"

namespace c3 { inline namespace results {
namespace {

constexpr std::string_view kHdf5Signature = "\x89HDF\r\n\x1a\n";

std::string seal_text(std::uint64_t length, std::string_view sha256) {
  std::string text =
      fmt::format("{}{} bytes of HDF5 follow this block, with the SHA-256\n{}\n", kSealedHdf5, length, sha256);
  text.resize(kSealBytes, '\0');
  return text;
}

/// A file read from its start; it is closed at the end.
class Bytes {
 public:
  explicit Bytes(const std::string& path)
      : path_(path), descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (descriptor_ < 0 || ::fstat(descriptor_, &status_) != 0) fail();
  }
  Bytes(const Bytes&) = delete;
  Bytes& operator=(const Bytes&) = delete;
  ~Bytes() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }

  const struct stat& status() const { return status_; }

  /// Fewer than \p size only at the end of the file.
  std::string_view next(std::size_t size) {
    buffer_.resize(size);
    std::size_t filled = 0;
    while (filled < size) {
      const ssize_t got = ::read(descriptor_, buffer_.data() + filled, size - filled);
      if (got < 0 && errno != EINTR) fail();
      if (got == 0) break;
      if (got > 0) filled += static_cast<std::size_t>(got);
    }
    return {buffer_.data(), filled};
  }

 private:
  [[noreturn]] void fail() const { throw IoError(path_, "read", std::generic_category().message(errno)); }

  const std::string& path_;
  int descriptor_;
  struct stat status_ {};
  std::vector<char> buffer_;
};

/// \returns length and SHA-256 of the rest of \p file.
std::pair<std::uint64_t, std::string> digest_of_rest(Bytes& file) {
  constexpr std::size_t kPart = std::size_t{1} << 20U;
  Sha256 digest;
  std::uint64_t length = 0;
  for (;;) {
    const std::string_view part = file.next(kPart);
    digest.add(part);
    length += part.size();
    if (part.size() < kPart) return {length, digest.hex()};
  }
}

using Version = std::tuple<dev_t, ino_t, off_t, time_t, long>;

Version version_of(const struct stat& file) {
  return {file.st_dev, file.st_ino, file.st_size, file.st_mtim.tv_sec, file.st_mtim.tv_nsec};
}

std::uint64_t sealed_length(std::string_view block) {
  std::uint64_t length = 0;
  for (const char c : block.substr(kSealedHdf5.size())) {
    if (c < '0' || c > '9') break;
    length = 10 * length + static_cast<std::uint64_t>(c - '0');
  }
  return length;
}

}  // namespace

void seal_file(TemporaryFile& file) {
  const std::string path = file.path().string();
  Bytes bytes(path);
  bytes.next(kSealBytes);
  const auto [length, sha256] = digest_of_rest(bytes);
  file.overwrite(0, seal_text(length, sha256));
}

Seal check_seal(const std::string& path) {
  static std::set<Version> intact;  // a report reads each of its files more than once
  Bytes file(path);
  if (intact.contains(version_of(file.status()))) return Seal::intact;
  const std::string block(file.next(kSealBytes));
  if (block.starts_with(kHdf5Signature)) return Seal::none;
  if (!block.starts_with(kSealedHdf5)) {
    const bool is_blank =
        block.size() == kSealBytes && std::ranges::all_of(block, [](char c) { return c == '\0'; });
    if (is_blank && file.next(kHdf5Signature.size()) == kHdf5Signature) return Seal::none;
    throw IoError(path, "open as HDF5", "file signature not found");
  }
  const auto [length, sha256] = digest_of_rest(file);
  const std::uint64_t expected = sealed_length(block);
  if (length < expected)
    throw IoError(path, "open as HDF5",
                  fmt::format("truncated file: {} of {} bytes", kSealBytes + length, kSealBytes + expected));
  if (block != seal_text(length, sha256)) {
    throw IoError(path, "read",
                  "the file is damaged, or was changed after c3sim wrote it: its SHA-256 is not the one it was "
                  "sealed with; run the experiment again");
  }
  intact.insert(version_of(file.status()));
  return Seal::intact;
}

}}  // namespace c3::results
