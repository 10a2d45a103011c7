/// Any bytes as an experiment file: loaded, made and written out, or refused with a ConfigError. What was
/// written out reads back to the same text.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include <unistd.h>

#include "configs/jobs/experiment_reader.hpp"
#include "configs/toml/config_error.hpp"

namespace {

/// A file in memory where the machine has such a file system: one is written for each of a million inputs.
std::filesystem::path scratch_file(const std::string& name) {
  const std::filesystem::path memory = "/dev/shm";
  const auto folder = std::filesystem::is_directory(memory) ? memory : std::filesystem::temp_directory_path();
  return folder / ("c3_fuzz_" + std::to_string(getpid()) + "_" + name + ".toml");
}

void write(const std::filesystem::path& file, const char* text, std::size_t size) {
  std::ofstream(file, std::ios::binary).write(text, static_cast<std::streamsize>(size));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::filesystem::path kInput = scratch_file("input");
  static const std::filesystem::path kOutput = scratch_file("output");
  write(kInput, reinterpret_cast<const char*>(data), size);
  std::optional<c3::ExperimentFile> file;
  try {
    file = c3::ExperimentFile::load(kInput);
  } catch (const c3::ConfigError&) {
    return 0;
  }
  file->make(std::nullopt);
  const std::string text = file->resolved_toml(c3::Comments::origins);
  write(kOutput, text.data(), text.size());
  const auto again = c3::ExperimentFile::load(kOutput);
  if (again.resolved_toml() != file->resolved_toml()) std::abort();
  return 0;
}
