#pragma once

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

#include "files/io_error.hpp"

namespace c3 { inline namespace files {

/// A new empty folder, which is removed with the object. \throws IoError
class ScratchFolder {
 public:
  ScratchFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "c3sim-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr)
      throw IoError(pattern, "create", std::generic_category().message(errno));
    path_ = pattern;
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}}  // namespace c3::files
