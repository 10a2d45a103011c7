#pragma once
/// Output that is there complete or not at all: written beside its place, and renamed when it is whole.

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "files/written_files.hpp"

namespace c3 { inline namespace files {

/// A file under a temporary name beside \p target: reserved at construction, removed unless it is renamed.
/// A target that is a symbolic link is followed: the file it points to is replaced, the link stays.
/// The temporary file is locked for as long as its process lives. The first TemporaryFile of a process in a
/// folder removes what killed processes of the same user have left there; see remove_stale_files().
class TemporaryFile {
 public:
  /// \throws IoError when it cannot be created, and for a target that is not a regular file.
  /// \throws OutputConflictError when \p target is a file that this process has read, is standard output or
  /// standard error, is the target of another TemporaryFile, or is a file of the user: refuse_file_of_user().
  explicit TemporaryFile(const std::filesystem::path& target, TableHeader table = {});
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile();

  const std::filesystem::path& path() const noexcept { return path_; }
  void append(std::string_view text);  ///< \throws IoError
  /// Overwrites what is at \p offset [bytes]. \throws IoError
  void overwrite(std::uint64_t offset, std::string_view text);
  /// Waits until the content is on the disk, then gives it the target's name.
  /// \throws IoError, and OutputConflictError when the target has been read since construction.
  void rename_to_target();

 private:
  void open_temporary();

  std::filesystem::path name_;    ///< spelled as the user wrote it, for messages
  std::filesystem::path target_;  ///< with its links followed
  std::filesystem::path path_;
  int descriptor_ = -1;
  bool renamed_ = false;
};

/// \returns the name that a TemporaryFile's \p path will get; \p path itself when it is no such file.
std::string final_name(const std::string& path);

/// Removes the temporary files in \p folder whose processes have ended without removing them. They are known by
/// their name, their owner (the user of this process), and a lock that nobody holds. On file systems without
/// locks nothing is removed; a file of another machine only after a day, because a lock may not be seen from
/// here.
void remove_stale_files(const std::filesystem::path& folder);

}}  // namespace c3::files
