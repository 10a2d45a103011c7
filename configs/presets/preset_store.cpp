#include "configs/presets/preset_store.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <utility>

#include "base/nearest_name.hpp"
#include "configs/fields/node_fields.hpp"
#include "configs/presets/document.hpp"
#include "configs/presets/preset_override.hpp"
#include "configs/presets/spec_readers.hpp"
#include "configs/toml/describe.hpp"
#include "configs/toml/missing_keys.hpp"
#include "configs/toml/overrides.hpp"

namespace c3 { inline namespace configs {
namespace {

namespace fs = std::filesystem;

const Origin kNoFile = {std::make_shared<const std::string>("preset"), 1,
                        1};  // for a name that no file mentions

thread_local PresetSnapshot* snapshot = nullptr;

struct Kind {
  PresetKind kind;
  std::string_view noun;
  std::string_view folder;
};

constexpr std::array<Kind, 7> kKinds = {{
    {PresetKind::gpu, "gpu", "gpus"},
    {PresetKind::node, "node", "nodes"},
    {PresetKind::library, "library", "libraries"},
    {PresetKind::model, "model", "models"},
    {PresetKind::fabric, "fabric", "fabrics"},
    {PresetKind::framework, "framework", "frameworks"},
    {PresetKind::host, "host", "hosts"},
}};

std::string_view folder_of(PresetKind kind) { return kKinds.at(static_cast<std::size_t>(kind)).folder; }

std::vector<fs::path> toml_files(std::string_view folder) {
  std::vector<fs::path> files;
  for (const fs::path& root : preset_folders()) {
    std::error_code missing;
    for (const auto& entry : fs::directory_iterator(root / folder, missing)) {
      if (entry.path().extension() == ".toml") files.push_back(entry.path());
    }
  }
  std::ranges::sort(files);
  return files;
}

constexpr auto kPartsOfNode = std::to_array<KeyText>({
    {"gpu", "GPU preset"},
    {"library", "preset of the collective library", {}, kNodeUse},
    {"fabric", "preset of the fabric that joins several of them; not used by one", {}, kNodeUse},
});

/// A framework names its host beside what a Framework holds.
std::string read_usual_host(Section& section) {
  std::string host = section.text("host");
  section.explain("host", "preset of the host of steps whose training.host names none");
  return host;
}

void read(PresetKind kind, Section& section) {
  switch (kind) {
    case PresetKind::gpu:
      read_gpu(section);
      return;
    case PresetKind::node:
      section.text("gpu");
      section.text("library");
      if (section.has("fabric")) section.text("fabric");
      section.explain(kPartsOfNode);
      read_node(section);
      return;
    case PresetKind::library:
      read_library(section);
      return;
    case PresetKind::model:
      read_model(section);
      return;
    case PresetKind::fabric:
      read_fabric(section);
      return;
    case PresetKind::framework:
      read_usual_host(section);
      read_framework(section);
      return;
    case PresetKind::host:
      read_host(section);
      return;
  }
}

/// What \p rule(noun, reader) says of each kind.
template <class MakeRule>
std::map<PresetKind, TableRule> rules_by(MakeRule rule) {
  std::map<PresetKind, TableRule> rules;
  for (const PresetKind kind : kPresetKinds)
    rules[kind] = rule(std::string(noun_of(kind)), [kind](Section& section) { read(kind, section); });
  return rules;
}

}  // namespace

std::string_view noun_of(PresetKind kind) { return kKinds.at(static_cast<std::size_t>(kind)).noun; }

std::vector<std::string> preset_names(PresetKind kind) {
  std::vector<std::string> names;
  for (const fs::path& file : toml_files(folder_of(kind)))
    names.push_back(file.stem().string());
  std::ranges::sort(names);
  const auto repeated = std::ranges::unique(names);
  names.erase(repeated.begin(), repeated.end());
  return names;
}

std::vector<fs::path> experiment_files() {
  std::vector<fs::path> files;
  for (const fs::path& root : preset_folders()) {
    std::error_code missing;
    for (const auto& entry : fs::recursive_directory_iterator(root / "experiments", missing)) {
      if (entry.path().extension() == ".toml") files.push_back(entry.path());
    }
  }
  std::ranges::sort(files);
  return files;
}

std::string purpose_of(const fs::path& experiment) {
  std::ifstream in(experiment);
  std::string line;
  std::string purpose;
  while (std::getline(in, line) && line.starts_with('#')) {
    line.erase(0, line.find_first_not_of("# "));
    purpose += (purpose.empty() ? "" : " ") + line;
  }
  const std::size_t end = std::min(purpose.find(". "), purpose.find("? "));
  return end == std::string::npos ? purpose : purpose.substr(0, end + 1);
}

void check_preset(PresetKind kind, const Node& preset) {
  const std::string noun(noun_of(kind));
  Section section(preset, noun, {}, Provenance::required);
  try {
    read(kind, section);
  } catch (const IncompleteError&) {
    refuse_incomplete(preset_rule(kind), preset, noun);  // the first one found is seldom the only one
    throw;
  }
}

Node read_preset(PresetKind kind, const fs::path& file) {
  Node preset = load_document(file);
  check_preset(kind, preset);
  const Node& name = *preset.table()->find("name");
  const std::string wanted = file.stem().string();
  if (*name.text() != wanted) {
    throw ConfigError(name.origin, fmt::format("{}.name", noun_of(kind)),
                      fmt::format("must be '{}', the name of the file", wanted));
  }
  return preset;
}

const TableRule& preset_rule(PresetKind kind) {
  static const auto rules = rules_by(
      [](const std::string& noun, const auto& read) { return describe(noun, Provenance::required, read); });
  return rules.at(kind);
}

const TableRule& preset_keys(PresetKind kind) {
  static const auto rules = rules_by(
      [](const std::string& noun, const auto& read) { return list_keys(noun, Provenance::required, read); });
  return rules.at(kind);
}

std::optional<PresetKind> preset_kind_of(const fs::path& file) {
  const std::string folder = fs::absolute(file).parent_path().filename().string();
  const auto found = std::ranges::find(kKinds, folder, &Kind::folder);
  return found == kKinds.end() ? std::nullopt : std::optional(found->kind);
}

PresetSnapshot::PresetSnapshot() : outer_(std::exchange(snapshot, this)) {}

PresetSnapshot::~PresetSnapshot() { snapshot = outer_; }

void PresetSnapshot::put(PresetKind kind, const std::string& name, Node preset) {
  presets_.insert_or_assign({kind, name}, std::move(preset));
}

Node load_preset(PresetKind kind, const std::string& name, const Origin& named_at, std::string_view key) {
  if (snapshot != nullptr) {
    const auto found = snapshot->presets_.find({kind, name});
    if (found != snapshot->presets_.end()) return found->second;
  }
  const std::vector<std::string> known = preset_names(kind);
  if (std::ranges::find(known, name) == known.end()) {
    throw ConfigError(named_at, key, unknown_name(fmt::format("{} preset", noun_of(kind)), name, known));
  }
  Node preset = read_preset(kind, preset_file(kind, name));
  if (snapshot != nullptr) snapshot->presets_.try_emplace({kind, name}, preset);
  return preset;
}

fs::path preset_file(PresetKind kind, const std::string& name) {
  for (const fs::path& folder : preset_folders()) {
    fs::path file = folder / folder_of(kind) / (name + ".toml");
    if (fs::exists(file)) return file;
  }
  throw std::logic_error("preset_file: a listed preset has no file");
}

GpuSpec load_gpu(const std::string& name, std::span<const std::string> sets) {
  Node overrides{Table{}, kNoFile};
  for (std::size_t i = 0; i < sets.size(); ++i)
    apply_override(overrides, sets[i], static_cast<std::uint32_t>(i + 1));
  Table root;
  Node& preset = root.put("gpu", kNoFile, load_preset(PresetKind::gpu, name, kNoFile, "gpu"));
  Node* of_gpu = overrides.table()->find("gpu");
  if (of_gpu != nullptr && of_gpu->table() != nullptr) {
    PeakChanges changes;
    override_preset("gpu", *preset.table(), *of_gpu->table(), changes);
    overrides.table()->erase("gpu");
  }
  merge(root, *overrides.table());
  const Node document{std::move(root), kNoFile};
  Section section(document, "");
  Section gpu = section.table("gpu");
  GpuSpec spec = read_gpu(gpu);
  section.finish();
  return spec;
}

CollectiveLibrarySpec load_library(const std::string& name) {
  const Node preset = load_preset(PresetKind::library, name, kNoFile, "library");
  Section section(preset, "library");
  return read_library(section);
}

FabricSpec load_fabric(const std::string& name) {
  const Node preset = load_preset(PresetKind::fabric, name, kNoFile, "fabric");
  Section section(preset, "fabric");
  return read_fabric(section);
}

Framework load_framework(const std::string& name) {
  const Node preset = load_preset(PresetKind::framework, name, kNoFile, "framework");
  Section section(preset, "framework");
  read_usual_host(section);
  return read_framework(section);
}

Host load_host(const std::string& name) {
  const Node preset = load_preset(PresetKind::host, name, kNoFile, "host");
  Section section(preset, "host");
  return read_host(section);
}

std::string usual_host_of(const std::string& framework) {
  const Node preset = load_preset(PresetKind::framework, framework, kNoFile, "framework");
  Section section(preset, "framework");
  return read_usual_host(section);
}

ModelDimensions load_model(const std::string& name) {
  const Node preset = load_preset(PresetKind::model, name, kNoFile, "model");
  Section section(preset, "model");
  return read_model(section);
}

}}  // namespace c3::configs
