#include "files/unpacked_file.hpp"

#include <algorithm>
#include <cerrno>
#include <system_error>

#include <zlib.h>

#include "files/input_files.hpp"
#include "files/io_error.hpp"

namespace c3 { inline namespace files {

struct UnpackedFile::Library {
  explicit Library(const std::filesystem::path& path) : file(gzopen(path.c_str(), "rb")) {
    if (file == nullptr) throw IoError(path.string(), "read", std::generic_category().message(errno));
    constexpr unsigned kBuffer = 1U << 18U;
    gzbuffer(file, kBuffer);
  }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  ~Library() { gzclose(file); }

  gzFile file;
};

UnpackedFile::UnpackedFile(const std::filesystem::path& path) : path_(path) {
  note_input(path);
  library_ = std::make_unique<Library>(path);
}

UnpackedFile::~UnpackedFile() = default;

std::size_t UnpackedFile::read(std::span<char> part) {
  constexpr std::size_t kMost = std::size_t{1} << 30U;  // zlib counts in int
  const auto size = static_cast<unsigned>(std::min(part.size(), kMost));
  const int got = gzread(library_->file, part.data(), size);
  int error = Z_OK;
  gzerror(library_->file, &error);
  if (error == Z_BUF_ERROR)
    throw IoError(path_.string(), "unpack", "the gzip data ends too early: it is truncated");
  if (error == Z_ERRNO) throw IoError(path_.string(), "read", std::generic_category().message(errno));
  if (got < 0 || error != Z_OK) throw IoError(path_.string(), "unpack", "the gzip data is damaged");
  return static_cast<std::size_t>(got);
}

}}  // namespace c3::files
