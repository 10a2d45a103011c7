#pragma once
/// A file that may be packed by gzip, read from its start to its end without being in memory at once.

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>

namespace c3 { inline namespace files {

class UnpackedFile {
 public:
  /// \p path is noted as an input (input_files.hpp). \throws IoError when it cannot be read or is not a regular
  /// file
  explicit UnpackedFile(const std::filesystem::path& path);
  ~UnpackedFile();
  UnpackedFile(const UnpackedFile&) = delete;
  UnpackedFile& operator=(const UnpackedFile&) = delete;

  /// Fills \p part from the front, unpacked if the file begins with gzip's magic bytes, whatever its name.
  /// \returns the number of bytes; 0 at the end. \throws IoError, also for packed data that is damaged or ends
  /// too early
  std::size_t read(std::span<char> part);

 private:
  struct Library;  ///< what needs zlib's header
  std::filesystem::path path_;
  std::unique_ptr<Library> library_;
};

}}  // namespace c3::files
