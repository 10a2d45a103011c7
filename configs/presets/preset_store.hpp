#pragma once
/// Finds presets by name: configs/gpus/mi300x.toml is the preset "mi300x" of gpus.

#include <array>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "collectives/spec.hpp"
#include "configs/presets/model_reader.hpp"
#include "configs/presets/preset_folders.hpp"
#include "configs/toml/rule.hpp"
#include "configs/toml/tree.hpp"
#include "gpu/spec.hpp"
#include "workloads/models/framework.hpp"
#include "workloads/models/host.hpp"

namespace c3 { inline namespace configs {

enum class PresetKind { gpu, node, library, model, fabric, framework, host };
inline constexpr std::array kPresetKinds = {PresetKind::gpu,   PresetKind::node,   PresetKind::library,
                                            PresetKind::model, PresetKind::fabric, PresetKind::framework,
                                            PresetKind::host};

/// Names of all presets of \p kind, sorted.
std::vector<std::string> preset_names(PresetKind kind);

/// Experiment files of all preset folders and the folders in them, sorted.
std::vector<std::filesystem::path> experiment_files();

/// The first sentence of the comment at the head of an experiment file; empty without one.
std::string purpose_of(const std::filesystem::path& experiment);

/// Reads the preset \p file: every number has kind and source, no key is unknown, `name` is the file's name.
Node read_preset(PresetKind kind, const std::filesystem::path& file);

/// Reads \p preset as one of \p kind, so that a mistake in it is found where it is. \throws ConfigError
void check_preset(PresetKind kind, const Node& preset);

/// The kind of presets that the folder of \p file holds; absent when it is no folder of presets.
std::optional<PresetKind> preset_kind_of(const std::filesystem::path& file);

/// "gpu", "node", "library", "model", "fabric", "framework" or "host".
std::string_view noun_of(PresetKind kind);

/// What a preset of \p kind may hold: found once and kept, for it takes many trial readings.
const TableRule& preset_rule(PresetKind kind);
/// Like preset_rule(), without what keys require of one another; takes one reading.
const TableRule& preset_keys(PresetKind kind);

/// The file of preset \p name, one of preset_names.
std::filesystem::path preset_file(PresetKind kind, const std::string& name);

/// Finds and reads preset \p name. \param named_at, key where it was asked for, for the error that lists the
/// known ones.
Node load_preset(PresetKind kind, const std::string& name, const Origin& named_at, std::string_view key);

/// While one exists, its thread reads each preset once: many experiments are read faster, and all of them see
/// the same presets, whatever happens to the files.
class PresetSnapshot {
 public:
  PresetSnapshot();
  PresetSnapshot(const PresetSnapshot&) = delete;
  PresetSnapshot& operator=(const PresetSnapshot&) = delete;
  ~PresetSnapshot();

  /// \p preset, of that name, is there as if a file had it.
  void put(PresetKind kind, const std::string& name, Node preset);

 private:
  friend Node load_preset(PresetKind, const std::string&, const Origin&, std::string_view);
  std::map<std::pair<PresetKind, std::string>, Node> presets_;
  PresetSnapshot* outer_;
};

/// Presets as specs, every range at its nominal value. \throws ConfigError
/// \param sets overrides of `gpu.` keys, as an experiment takes them.
GpuSpec load_gpu(const std::string& name, std::span<const std::string> sets = {});
CollectiveLibrarySpec load_library(const std::string& name);
ModelDimensions load_model(const std::string& name);
FabricSpec load_fabric(const std::string& name);
Framework load_framework(const std::string& name);
Host load_host(const std::string& name);

/// The host that the preset \p framework names: that of a training step which names none. \throws ConfigError
std::string usual_host_of(const std::string& framework);

}}  // namespace c3::configs
