#pragma once
/// Files for the tests of configs/, in a folder of their own.

#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <ostream>
#include <string>
#include <string_view>

#include "configs/toml/config_error.hpp"

namespace c3 {

/// A new folder that goes with the object.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "c3sim_config_XXXXXX").string();
    REQUIRE(mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder() { std::filesystem::remove_all(path_); }

  std::string write(const std::string& name, std::string_view text) const {
    const std::filesystem::path file = path_ / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << text;
    return file.string();
  }

  std::string operator/(const std::string& name) const { return (path_ / name).string(); }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// The text of the ConfigError that \p action throws; "no error" when it throws none.
template <class Action>
std::string error_of(Action action) {
  try {
    action();
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "no error";
}

/// Equal to every text that has it in it. A comparison that fails prints both.
struct Part {
  std::string text;

  friend bool operator==(const std::string& whole, const Part& part) {
    return whole.find(part.text) != std::string::npos;
  }
  friend std::ostream& operator<<(std::ostream& out, const Part& part) {
    return out << ".." << part.text << "..";
  }
};

}  // namespace c3
