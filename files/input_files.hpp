#pragma once
/// Reading of whole files, and the register of every file that this process has read: no output may replace
/// such a file. Files are identified by inode, so that links and other spellings of a path do not matter. All
/// functions may be called from several threads.

#include <filesystem>
#include <stdexcept>
#include <vector>

namespace c3 { inline namespace files {

/// An output would replace a file that this process reads, or that it writes already. Exit code 2.
class OutputConflictError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The limit for files that are read whole, such as tables of kernels.
inline constexpr std::uintmax_t kLargestTable = std::uintmax_t{2} << 30U;

/// The whole content of \p path, which is noted as an input. A pipe is read until its writers close it.
/// \throws IoError in the operating system's words; also for a folder, for a device, for a pipe that no process
/// writes to, and for more than \p largest bytes.
std::vector<char> read_file(const std::filesystem::path& path, std::uintmax_t largest = kLargestTable);

/// Like read_file(), for a file that the command keeps for itself and may replace: it is not noted as an input.
std::vector<char> read_own_file(const std::filesystem::path& path, std::uintmax_t largest);

/// Notes \p path as an input that something other than read_file() reads.
/// \throws IoError when it cannot be read or is not a regular file.
void note_input(const std::filesystem::path& path);

/// \returns whether \p path, with its links followed, is a file that this process has read.
bool is_input(const std::filesystem::path& path);

}}  // namespace c3::files
