#include "configs/experiment_reader.hpp"

#include <array>
#include <string_view>
#include <utility>

#include "configs/document.hpp"
#include "configs/preset_store.hpp"
#include "configs/section.hpp"
#include "configs/spec_readers.hpp"
#include "configs/strategy_reader.hpp"
#include "configs/stream_reader.hpp"
#include "configs/toml_text.hpp"

namespace c3 {
namespace {

constexpr std::int64_t kSchema = 1;
constexpr std::int64_t kMostRuns = 1000;
constexpr std::int64_t kLargestSeed = (std::int64_t{1} << 53) - 1;

constexpr std::array<std::pair<std::string_view, KernelGrain>, 3> kKernelGrains = {{
    {"cohort", KernelGrain::cohort},
    {"work_group", KernelGrain::work_group},
    {"fluid", KernelGrain::fluid},
}};

constexpr std::array<std::pair<std::string_view, CollectiveGrain>, 3> kCollectiveGrains = {{
    {"step", CollectiveGrain::step},
    {"edge", CollectiveGrain::edge},
    {"gang", CollectiveGrain::gang},
}};

/// Replaces `reference` (the name of a preset) in \p holder by nothing, and table \p key of \p root by the
/// preset with that table's overrides on it.
void put_preset(Table& root, std::string_view key, PresetKind kind, Table& holder, std::string_view reference,
                const std::string& reference_name) {
  const Node* name = holder.find(reference);
  if (name == nullptr) return;
  if (name->text() == nullptr) throw ConfigError(name->origin, reference_name, "must be the name of a preset");
  Node whole = load_preset(kind, *name->text(), name->origin, reference_name);
  if (const Node* overrides = root.find(key)) {
    if (overrides->table() == nullptr) throw ConfigError(overrides->origin, key, "must be a table");
    merge(*whole.table(), *overrides->table());
    whole.origin = overrides->origin;
  }
  const Origin origin = whole.origin;
  holder.erase(reference);
  root.put(key, origin, std::move(whole));
}

/// The order in which people read a configuration; keys that nobody knows stay, to be refused, at the end.
Table in_reading_order(const Table& root) {
  Table ordered;
  for (const std::string_view key :
       {"schema", "name", "gpu", "node", "library", "model", "stream", "strategy", "measure"}) {
    for (const Member& member : root.members()) {
      if (member.key == key) ordered.put(key, member.origin, member.value);
    }
  }
  for (const Member& member : root.members())
    ordered.put(member.key, member.origin, member.value);
  return ordered;
}

/// The document with presets in place of `system`, `node.gpu`, `node.library` and `model.use`.
Node resolve(const Node& document) {
  Node resolved = document;
  Table& root = *resolved.table();
  if (root.find("system") == nullptr && root.find("node") == nullptr) {
    throw ConfigError(document.origin, "system",
                      "is missing: the name of a system, as in system = \"mi300x-8\"");
  }
  put_preset(root, "node", PresetKind::node, root, "system", "system");
  if (const Node* node = root.find("node"); node->table() != nullptr) {
    Node references = *node;  // `root` may grow and move its members while a preset is put
    put_preset(root, "gpu", PresetKind::gpu, *references.table(), "gpu", "node.gpu");
    put_preset(root, "library", PresetKind::library, *references.table(), "library", "node.library");
    root.put("node", references.origin, references);
  }
  if (const Node* model = root.find("model"); model != nullptr && model->table() != nullptr) {
    Node overrides = *model;
    Table holder = *overrides.table();
    overrides.table()->erase("use");
    root.put("model", overrides.origin, overrides);
    put_preset(root, "model", PresetKind::model, holder, "use", "model.use");
  }
  return resolved;
}

Measure read_measure(Section& root) {
  Measure measure;
  if (!root.has("measure")) return measure;
  Section section = root.table("measure");
  if (section.has("seeds")) measure.seeds = static_cast<int>(section.integer("seeds", 1, kMostRuns));
  if (section.has("draws")) measure.draws = static_cast<int>(section.integer("draws", 0, kMostRuns));
  if (section.has("seed")) measure.seed = static_cast<std::uint64_t>(section.integer("seed", 0, kLargestSeed));
  if (section.has("loss_split")) measure.loss_split = section.flag("loss_split");
  if (section.has("kernel_grain")) {
    measure.kernel_grain = section.choice<KernelGrain>("kernel_grain", kKernelGrains);
  }
  if (section.has("collective_grain")) {
    measure.collective_grain = section.choice<CollectiveGrain>("collective_grain", kCollectiveGrains);
  }
  if (section.has("fold")) measure.fold = section.flag("fold");
  section.finish();
  return measure;
}

template <class E>
std::string name_in(Names<E> names, E meaning) {
  for (const auto& [name, value] : names) {
    if (value == meaning) return std::string(name);
  }
  throw std::logic_error("name_in: a value without a name");
}

/// [measure] with its defaults written out.
Table measure_table(const Measure& measure, const Origin& at) {
  Table table;
  table.put("seeds", at, Node{std::int64_t{measure.seeds}, at});
  table.put("draws", at, Node{std::int64_t{measure.draws}, at});
  table.put("seed", at, Node{static_cast<std::int64_t>(measure.seed), at});
  table.put("loss_split", at, Node{measure.loss_split, at});
  table.put("kernel_grain", at, Node{name_in<KernelGrain>(kKernelGrains, measure.kernel_grain), at});
  table.put("collective_grain", at,
            Node{name_in<CollectiveGrain>(kCollectiveGrains, measure.collective_grain), at});
  table.put("fold", at, Node{measure.fold, at});
  return table;
}

std::optional<LayerInput> read_layer(Section& root, const Sampling& sampling) {
  if (!root.has("model")) return std::nullopt;
  Section section(root.node("model"), "model", sampling);
  LayerInput layer;
  layer.tokens = section.integer("tokens", 1, 16'777'216);
  layer.dtype = read_dtype(section, "dtype");
  layer.model = read_model(section);
  return layer;
}

ClusterSpec read_cluster(Section& root, const Sampling& sampling) {
  Section gpu(root.node("gpu"), "gpu", sampling);
  Section node(root.node("node"), "node", sampling);
  Section library(root.node("library"), "library", sampling);
  ClusterSpec cluster;
  cluster.gpu = read_gpu(gpu);
  cluster.node = read_node(node);
  cluster.library = read_library(library);
  cluster.name = cluster.node.name;
  return cluster;
}

Experiment read_experiment(const Node& resolved, std::optional<std::uint64_t> draw) {
  Section root(resolved, "");
  root.integer("schema", kSchema, kSchema);
  Experiment experiment;
  experiment.name = root.slug("name");
  experiment.measure = read_measure(root);
  const Sampling sampling(draw, experiment.measure.seed);
  experiment.cluster = read_cluster(root, sampling);
  experiment.streams = read_streams(root, read_layer(root, sampling));
  experiment.strategies = read_strategies(root, experiment.streams, experiment.cluster.gpu);
  root.finish();
  return experiment;
}

}  // namespace

ExperimentFile ExperimentFile::load(const std::filesystem::path& path, std::span<const std::string> sets) {
  Node merged = load_document(path, sets);
  Node resolved = resolve(merged);
  if (resolved.table()->find("name") == nullptr) {
    resolved.table()->put("name", resolved.origin, Node{path.stem().string(), resolved.origin});
  }
  const Measure measure = read_experiment(resolved, std::nullopt).measure;
  for (int draw = 0; draw < measure.draws; ++draw)
    read_experiment(resolved, static_cast<std::uint64_t>(draw));

  const Node* written = resolved.table()->find("measure");
  const Origin at = written == nullptr ? resolved.origin : written->origin;
  resolved.table()->put("measure", at, Node{measure_table(measure, at), at});
  resolved.value = in_reading_order(*resolved.table());
  return {std::move(merged), std::move(resolved)};
}

Experiment ExperimentFile::make(std::optional<std::uint64_t> draw) const {
  return read_experiment(resolved_, draw);
}

std::string ExperimentFile::resolved_toml() const { return write_toml(*resolved_.table()); }

std::string ExperimentFile::merged_toml() const { return write_toml(*merged_.table()); }

}  // namespace c3
