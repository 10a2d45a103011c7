#pragma once
/// Machines that an importer has read, as systems of experiments.

#include <doctest/doctest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <random>
#include <string>
#include <utility>

#include "configs/foreign/file_reading.hpp"
#include "configs/jobs/preset_references.hpp"
#include "configs/presets/cluster_reader.hpp"
#include "configs/presets/preset_store.hpp"
#include "configs/toml/toml_text.hpp"
#include "tests/unit/config_files.hpp"

namespace c3::test {

/// The whole file \p name of $C3SIM_DATA; absent without that, which it says.
inline std::optional<ForeignFile> measured_file(const std::string& name) {
  const char* const data = std::getenv("C3SIM_DATA");
  const std::filesystem::path path = std::filesystem::path(data == nullptr ? "" : data) / name;
  if (data == nullptr || !std::filesystem::is_regular_file(path)) {
    MESSAGE("not checked, for $C3SIM_DATA has no " << name);
    return std::nullopt;
  }
  std::ifstream in(path, std::ios::binary);
  return ForeignFile{path.filename().string(), std::string(std::istreambuf_iterator<char>(in), {})};
}

/// The presets of readings in a folder of C3SIM_CONFIGS while it exists.
class ReadPresets {
 public:
  explicit ReadPresets(const FileReading& reading) {
    for (const PresetFile& preset : reading.presets)
      folder_.write(preset.path, preset.text);
    setenv("C3SIM_CONFIGS", folder_.path().c_str(), 1);
  }
  ReadPresets(const ReadPresets&) = delete;
  ReadPresets& operator=(const ReadPresets&) = delete;
  ~ReadPresets() { unsetenv("C3SIM_CONFIGS"); }

  /// \p nodes of the system that \p reading names; \p more is further TOML.
  static ClusterSpec cluster(const FileReading& reading, int nodes, const std::string& more = "") {
    std::string text = "nodes = " + std::to_string(nodes) + "\n";
    for (const TakenKey& taken : reading.taken)
      text += taken.key + " = " + taken.value + "\n";
    const Node document = parse_toml(text + more, "experiment.toml");
    const Node resolved = resolve(document);
    Section root(resolved, "");
    return read_cluster(root, Sampling{});
  }

 private:
  ScratchFolder folder_;
};

/// Checks that no mutation of \p text makes \p read throw anything but a ConfigError, or fail to return. Bytes
/// flip, lines double, the end goes missing.
template <class Read>
void check_mutations(const std::string& text, Read read) {
  constexpr int kMutations = 2000;
  const PresetSnapshot snapshot;  // reads each preset once
  std::mt19937 random(1);
  const auto below = [&](std::size_t end) {
    return std::uniform_int_distribution<std::size_t>(0, end - 1)(random);
  };
  int refused = 0;
  for (int mutation = 0; mutation < kMutations; ++mutation) {
    std::string mutant = text;
    for (std::size_t change = 0; change <= below(3); ++change) {
      const std::size_t at = below(mutant.size());
      const std::size_t kind = below(4);
      if (kind == 0) mutant[at] = static_cast<char>(below(256));
      if (kind == 1 && at > 0) mutant.resize(at);
      if (kind == 2) {
        const std::size_t begin = mutant.rfind('\n', at) + 1;
        const std::size_t end = std::min(mutant.find('\n', begin), mutant.size());
        mutant.insert(begin, mutant.substr(begin, end - begin) + "\n");
      }
      if (kind == 3) mutant.erase(at, 1 + below(8));
      if (mutant.empty()) mutant = " ";
    }
    try {
      read(ForeignFile{"mutant", mutant});
    } catch (const ConfigError&) {
      ++refused;
    } catch (const std::exception& error) {
      FAIL("mutation " << mutation << " throws " << error.what() << ":\n" << mutant);
    }
  }
  CHECK(refused > 0);
  CHECK(refused < kMutations);
}

}  // namespace c3::test
