#include "configs/jobs/preset_references.hpp"

#include <utility>

#include "configs/foreign/model_file.hpp"
#include "configs/jobs/lengths_reader.hpp"
#include "configs/jobs/trace_source.hpp"
#include "configs/presets/cluster_reader.hpp"
#include "configs/presets/library_environment.hpp"
#include "configs/presets/preset_override.hpp"
#include "configs/toml/config_error.hpp"

namespace c3 { inline namespace configs {
namespace {

/// Takes the host out of the preset of a framework: it is that of a step whose \p training names none.
void take_usual_host(Table& framework, Table& training) {
  const Node* found = framework.find("host");
  if (found == nullptr) return;
  const Node host = *found;
  framework.erase("host");
  if (training.find("host") == nullptr) training.put("host", host.origin, host);
}

/// Replaces \p reference by nothing, and its table by the preset with that table's overrides on it.
void put_preset(Table& root, const PresetReference& reference, PeakChanges& changes) {
  Table* holder = &root;
  if (!reference.holder.empty()) {
    Node* table = root.find(reference.holder);
    holder = table == nullptr ? nullptr : table->table();
  }
  const Node* name = holder == nullptr ? nullptr : holder->find(reference.key);
  if (name == nullptr) return;
  if (name->text() == nullptr)
    throw ConfigError(name->origin, reference.name(), "must be the name of a preset");
  Node whole = load_preset(reference.kind, *name->text(), name->origin, reference.name());
  holder->erase(reference.key);
  if (reference.kind == PresetKind::framework) take_usual_host(*whole.table(), *holder);
  const Node nothing{Table{}, whole.origin};
  const Node* found = root.find(reference.table);
  const Node& overrides = found == nullptr ? nothing : *found;
  if (overrides.table() == nullptr) throw ConfigError(overrides.origin, reference.table, "must be a table");
  override_preset(reference.table, *whole.table(), *overrides.table(), changes);
  whole.origin = overrides.origin;
  const Origin origin = whole.origin;
  root.put(reference.table, origin, std::move(whole));
}

}  // namespace

Node resolve(const Node& document) {
  Node resolved = document;
  place_library_environment(resolved);
  Table& root = *resolved.table();
  if (root.find("system") == nullptr && root.find("node") == nullptr) {
    throw ConfigError(document.origin, "system", "is missing; it names a system, as in system = \"mi300x-8\"");
  }
  place_trace(root);
  place_lengths(root);
  place_model(root);
  PeakChanges changes;
  for (const PresetReference& reference : kPresetReferences) {
    if (reference.kind == PresetKind::fabric) name_fabric(root);
    put_preset(root, reference, changes);
  }
  return resolved;
}

}}  // namespace c3::configs
