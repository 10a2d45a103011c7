#include "configs/jobs/experiment_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <memory>
#include <string_view>
#include <utility>

#include "configs/foreign/model_file.hpp"
#include "configs/jobs/doubts.hpp"
#include "configs/jobs/image_network_reader.hpp"
#include "configs/jobs/lengths_reader.hpp"
#include "configs/jobs/measure_reader.hpp"
#include "configs/jobs/preset_references.hpp"
#include "configs/jobs/recommendation_reader.hpp"
#include "configs/jobs/recurrent_reader.hpp"
#include "configs/jobs/shard_reader.hpp"
#include "configs/jobs/strategy_reader.hpp"
#include "configs/jobs/trace_reader.hpp"
#include "configs/jobs/trace_source.hpp"
#include "configs/jobs/training_reader.hpp"
#include "configs/jobs/unused_keys.hpp"
#include "configs/jobs/work_reader.hpp"
#include "configs/presets/cluster_reader.hpp"
#include "configs/presets/document.hpp"
#include "configs/presets/library_environment.hpp"
#include "configs/presets/preset_store.hpp"
#include "configs/presets/spec_readers.hpp"
#include "configs/sweeps/sweep_reader.hpp"
#include "configs/sweeps/tune_reader.hpp"
#include "configs/toml/describe.hpp"
#include "configs/toml/overrides.hpp"
#include "configs/toml/section.hpp"
#include "configs/toml/toml_text.hpp"
#include "engine/errors.hpp"
#include "gpu/channels/address_mapping.hpp"
#include "workloads/analysis/step_outline.hpp"
#include "workloads/training/recurrent_step.hpp"
#include "workloads/training/training_step.hpp"

namespace c3 { inline namespace configs {
namespace {

constexpr std::int64_t kSchema = 1;

/// The order in which people read a configuration; keys that nobody knows stay, to be refused, at the end.
Table in_reading_order(const Table& root) {
  Table ordered;
  for (const std::string_view key :
       {"schema",        "name",           "nodes",     "gpu",      "node",     "library",
        "fabric",        "model",          "framework", "host",     "training", "recurrent",
        "image_network", "recommendation", "shard",     "workload", "trace",    "straggler",
        "communicator",  "ranks",          "stream",    "strategy", "measure"}) {
    for (const Member& member : root.members()) {
      if (member.key == key) ordered.put(key, member.origin, member.value);
    }
  }
  for (const Member& member : root.members())
    ordered.put(member.key, member.origin, member.value);
  return ordered;
}

constexpr auto kExperimentKeys = std::to_array<KeyText>({
    {"schema", "version of this format"},
    {"name", "the experiment's name in tables and files; default: the file's name"},
});

/// Channels need to be known, and to fit their mapping.
void check_memory_grain(const Section& root, const Experiment& experiment) {
  if (experiment.measure.memory_grain == MemoryGrain::whole) return;
  try {
    const AddressMapping mapping(experiment.cluster.gpu.hbm.channels);
  } catch (const InfeasibleError& error) {
    root.fail("measure", fmt::format("memory_grain = \"channels\": {}", error.what()));
  }
}

/// How ranges are sampled under the seed of the file.
using SamplingOf = std::function<Sampling(std::uint64_t seed)>;

Experiment read_experiment(Section& root, const SamplingOf& sampling_of, StepExtent extent) {
  root.integer("schema", kSchema, kSchema);
  Experiment experiment;
  if (root.has("name")) experiment.name = root.slug("name");
  root.explain(kExperimentKeys);
  const WrittenMeasure written = read_measure(root);
  experiment.measure = written.measure;
  const Sampling sampling = sampling_of(experiment.measure.seed);
  experiment.cluster = read_cluster(root, sampling);
  if (!root.is_rehearsal()) check_memory_grain(root, experiment);
  const StreamsOfWork streams = read_work(root, sampling, extent, experiment);
  if (!written.has_seeds) experiment.measure.seeds = usual_seeds(experiment);
  experiment.strategies = read_strategies(root, experiment.program.streams, streams, experiment.cluster.gpu);
  if (root.is_rehearsal()) {
    declare_sweep(root);
    declare_tune(root);
  }
  root.finish();
  return experiment;
}

Experiment read_experiment(const Node& resolved, const SamplingOf& sampling_of, StepExtent extent) {
  Section root(resolved, "");
  return read_experiment(root, sampling_of, extent);
}

Experiment read_experiment(const Node& resolved, std::optional<std::uint64_t> draw, StepExtent extent) {
  return read_experiment(
      resolved, [draw](std::uint64_t seed) { return Sampling(draw, seed); }, extent);
}

/// Lets every key be left out, those of inner tables alike.
void make_optional(TableRule& rule) {
  for (KeyRule& key : rule.keys) {
    if (key.presence == Presence::required) key.presence = Presence::optional;
    key.with.clear();
    if (auto* inner = std::get_if<TableRule>(&key.rule->form)) make_optional(*inner);
  }
}

/// What a file may say of a table that a preset fills: the same, of which it can leave out what the preset
/// gives.
void allow_reference(TableRule& root, const PresetReference& reference) {
  KeyRule& table = *root.find(reference.table);
  auto& overrides = std::get<TableRule>(table.rule->form);
  for (const KeyRule& given : preset_rule(reference.kind).keys) {
    KeyRule* key = overrides.find(given.key);
    if (key == nullptr) continue;
    key->presence = Presence::optional;
    key->with.clear();
    if (auto* inner = std::get_if<TableRule>(&key->rule->form)) make_optional(*inner);
  }
  table.presence = Presence::optional;
  TableRule& holder =
      reference.holder.empty() ? root : std::get<TableRule>(root.find(reference.holder)->rule->form);
  holder.keys.push_back({.key = std::string(reference.key),
                         .presence = Presence::optional,
                         .rule = Rule{slug_rule()},
                         .meaning = std::string(reference.meaning)});
}

Rule environment_rule() {
  TableRule variables;
  variables.keys.push_back({.key = "NCCL_ALGO",
                            .presence = Presence::chosen,
                            .rule = Rule{AnyOfRule{{Rule{TextRule{}}, Rule{IntegerRule{0, 1LL << 32}}}}},
                            .meaning = "a variable, by its name"});
  return Rule{std::move(variables)};
}

}  // namespace

TableRule experiment_rule() {
  // A CU mask as fine as can be: bounds that follow from the GPU are then as wide as for any GPU.
  TableRule rule = describe("", Provenance::optional,
                            [](Section& root) {
                              read_experiment(
                                  root, [](std::uint64_t) { return Sampling(); }, StepExtent::sketch);
                            },
                            {{"gpu.mask_granule", Node{std::int64_t{1}, {}}}});
  for (const PresetReference& reference : kPresetReferences)
    allow_reference(rule, reference);
  rule.find("training")->with.clear();     // framework and host by name, and a model by `use`
  KeyRule& fabric = *rule.find("fabric");  // a name, or a table with `use` and what is to differ
  fabric.rule = Rule{AnyOfRule{{Rule{slug_rule()}, *fabric.rule}}};
  fabric.presence = Presence::optional;
  auto& library = std::get<TableRule>(rule.find("library")->rule->form);
  library.keys.push_back({.key = "env",
                          .presence = Presence::optional,
                          .rule = environment_rule(),
                          .meaning = "variables of NCCL or RCCL, in place of keys"});
  auto& model = std::get<TableRule>(rule.find("model")->rule->form);
  for (KeyRule& key : model_file_rules())
    model.keys.push_back(std::move(key));
  rule.at_least_one = {{"system", "node"},
                       {"stream", "training", "ranks", "trace", "recurrent", "image_network", "recommendation"},
                       {"model.tokens", "training", "trace"}};
  return rule;
}

ClusterSpec load_cluster(const std::string& system, std::span<const std::string> sets) {
  return load_cluster(SystemChoice{.system = system}, sets);
}

ClusterSpec load_cluster(const SystemChoice& choice, std::span<const std::string> sets) {
  const auto option = [](const char* name) { return Origin{std::make_shared<const std::string>(name), 1, 1}; };
  Table table;
  table.put("system", option("--system"), Node{choice.system, option("--system")});
  if (choice.nodes) table.put("nodes", option("--nodes"), Node{*choice.nodes, option("--nodes")});
  if (!choice.fabric.empty()) {
    Table fabric;
    fabric.put("use", option("--fabric"), Node{choice.fabric, option("--fabric")});
    table.put("fabric", option("--fabric"), Node{std::move(fabric), option("--fabric")});
  }
  Node document{std::move(table), option("--system")};
  for (std::size_t i = 0; i < sets.size(); ++i)
    apply_override(document, sets[i], static_cast<std::uint32_t>(i + 1));
  for (const auto& [name, value] : choice.environment)
    override_value(document, "library.env." + name, Node{value, option("--env")});
  const Node resolved = resolve(document);
  Section root(resolved, "");
  ClusterSpec cluster = read_cluster(root, {});
  root.finish();
  return cluster;
}

ExperimentFile ExperimentFile::load(const std::filesystem::path& path, std::span<const std::string> sets) {
  return read(load_document(path, sets), path.stem().string());
}

ExperimentFile ExperimentFile::read(Node merged, const std::string& name) {
  return read_as(StepExtent::sketch, std::move(merged), name).first;
}

std::pair<ExperimentFile, Experiment> ExperimentFile::read_with_outline(Node merged, const std::string& name) {
  return read_as(StepExtent::outline, std::move(merged), name);
}

std::pair<ExperimentFile, Experiment> ExperimentFile::read_with_stage(Node merged, const std::string& name) {
  return read_as(StepExtent::stage, std::move(merged), name);
}

std::pair<ExperimentFile, Experiment> ExperimentFile::read_as(StepExtent extent, Node merged,
                                                              const std::string& name) {
  Node resolved = resolve(merged);
  drop_tune(resolved);  // a run is of the file's own values
  take_sweep(resolved);
  if (resolved.table()->find("name") == nullptr) {
    if (!is_slug(name)) {
      throw ConfigError(
          resolved.origin, "name",
          fmt::format("is missing, and the file's name '{}' cannot serve as one: use letters, digits, "
                      "'_', '-' and '.' in the file's name, or add name = \"..\" to the file",
                      name));
    }
    const Origin file_name = {resolved.origin.file, 0, 0};
    resolved.table()->put("name", file_name, Node{name, file_name});
  }
  Experiment nominal = read_experiment(resolved, std::nullopt, extent);
  const Measure& measure = nominal.measure;
  for (int draw = 0; draw < measure.draws; ++draw)
    read_experiment(resolved, static_cast<std::uint64_t>(draw), StepExtent::sketch);

  const Node* written = resolved.table()->find("measure");
  const Origin at = written == nullptr ? resolved.origin : written->origin;
  resolved.table()->put("measure", at,
                        Node{measure_table(measure, written == nullptr ? nullptr : written->table()), at});
  resolved.value = in_reading_order(*resolved.table());
  return {ExperimentFile(std::move(merged), std::move(resolved)), std::move(nominal)};
}

Experiment ExperimentFile::make(std::optional<std::uint64_t> draw) const {
  return read_experiment(resolved_, draw, StepExtent::whole);
}

Experiment ExperimentFile::outline() const {
  return read_experiment(resolved_, std::nullopt, StepExtent::outline);
}

Experiment ExperimentFile::nominal() const {
  Experiment experiment = outline();
  return experiment.measure.draws > 0 ? make(std::nullopt) : outline_of_whole(std::move(experiment));
}

Experiment ExperimentFile::sketch() const {
  return read_experiment(resolved_, std::nullopt, StepExtent::sketch);
}

Experiment ExperimentFile::make_at(const RangeEnd& end) const {
  return read_experiment(
      resolved_, [&end](std::uint64_t) { return Sampling::at(end); }, StepExtent::whole);
}

std::vector<NamedRange> ExperimentFile::ranges() const {
  std::vector<NamedRange> ranges;
  read_experiment(
      resolved_, [&ranges](std::uint64_t) { return Sampling::listing(ranges); }, StepExtent::sketch);
  std::vector<NamedRange> once;  // a reader may ask for a key again
  for (NamedRange& range : ranges) {
    if (std::ranges::find(once, range.key, &NamedRange::key) == once.end()) once.push_back(std::move(range));
  }
  return once;
}

std::vector<std::string> ExperimentFile::notes() const {
  const Experiment nominal = sketch();
  RunUse use = use_of(nominal);
  if (resolved_.table()->find("training") != nullptr)
    use.step = use_of(training_of(nominal), nominal.cluster.ranks());
  std::vector<std::string> notes = unused_keys(overridden_keys(*merged_.table()), nominal.cluster, use);
  const Node* gpu = merged_.table()->find("gpu");
  const bool is_preset = gpu == nullptr || gpu->table() == nullptr || gpu->table()->find("name") == nullptr;
  if (is_preset) {
    const Node preset = load_preset(PresetKind::gpu, nominal.cluster.gpu.name, merged_.origin, "gpu");
    std::ranges::move(doubts_about_preset(*preset.table()), std::back_inserter(notes));
  }
  std::ranges::move(doubts_about(nominal.cluster), std::back_inserter(notes));
  std::ranges::move(notes_on_variables(merged_), std::back_inserter(notes));
  if (const std::optional<ImageJob> job = image_network())
    notes.push_back(note_on(*job, nominal.cluster.ranks(), nominal.cluster.gpu.hbm.size));
  if (lengths())
    notes.push_back(fmt::format(
        "workload.lengths: one step of {}.sequence tokens is simulated; c3sim sample epoch estimates an epoch",
        recurrent() ? "recurrent" : "training"));
  std::ranges::move(notes_on_trace(resolved_, nominal.cluster), std::back_inserter(notes));
  return notes;
}

std::optional<PlacedRun> ExperimentFile::recording(const ClusterSpec& cluster) const {
  return recording_of(resolved_, cluster);
}

std::optional<ShardingTask> ExperimentFile::sharding() const {
  if (resolved_.table()->find("shard") == nullptr) return std::nullopt;
  Section root(resolved_, "");
  const ClusterSpec cluster = read_cluster(root, {});
  const RecommendationJob job = read_recommendation(root, {}, cluster);
  const std::optional<WrittenShard> shard = read_shard(root, job, cluster.ranks());
  if (!shard || !shard->placement.empty()) return std::nullopt;
  return ShardingTask{placement_space(job, cluster), shard->plan};
}

ExperimentFile ExperimentFile::placed(const Placement& placement) const {
  ExperimentFile file = *this;
  Node& shard = *file.resolved_.table()->find("shard");
  Array ranks;
  for (const int rank : placement)
    ranks.push_back(Node{std::int64_t{rank}, shard.origin});
  shard.table()->put("placement", shard.origin, Node{std::move(ranks), shard.origin});
  return file;
}

std::optional<SequenceLengths> ExperimentFile::lengths() const {
  if (resolved_.table()->find("workload") == nullptr) return std::nullopt;
  Section root(resolved_, "");
  if (const std::optional<RecurrentJob> job = recurrent()) return read_lengths(root, *job);
  return read_lengths(root, training_of(sketch()).sequence);
}

std::optional<RecurrentJob> ExperimentFile::recurrent() const {
  if (resolved_.table()->find("recurrent") == nullptr) return std::nullopt;
  Section root(resolved_, "");
  return read_recurrent(root);
}

std::optional<ImageJob> ExperimentFile::image_network() const {
  if (resolved_.table()->find("image_network") == nullptr) return std::nullopt;
  Section root(resolved_, "");
  return read_image_network(root, {});
}

std::string ExperimentFile::resolved_toml(Comments comments) const {
  return write_toml(*resolved_.table(), comments);
}

std::string ExperimentFile::merged_toml(Comments comments) const {
  return write_toml(*merged_.table(), comments);
}

}}  // namespace c3::configs
