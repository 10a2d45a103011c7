#pragma once
/// An experiment file: the system it runs on (presets and overrides), its streams, strategies and measurement.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "configs/toml/rule.hpp"
#include "configs/toml/sampling.hpp"
#include "configs/toml/toml_text.hpp"
#include "configs/toml/tree.hpp"
#include "workloads/experiment.hpp"
#include "workloads/recommendation/sharding_search.hpp"
#include "workloads/sampling/sequence_lengths.hpp"
#include "workloads/traces/replay/rank_roles.hpp"
#include "workloads/training/image_step.hpp"
#include "workloads/training/recurrent_step.hpp"

namespace c3 { inline namespace configs {

enum class StepExtent;

/// Placements of tables to try.
struct ShardingTask {
  PlacementSpace space;
  ShardingPlan plan;
};

/// Immutable; safe to read from several threads.
class ExperimentFile {
 public:
  /// Reads \p path, applies \p sets (as load_document describes), puts every preset in place of its name, and
  /// reads the nominal experiment and every draw of it once (as sketch() does), so that nothing is left to be
  /// refused in mid-study. \throws ConfigError
  static ExperimentFile load(const std::filesystem::path& path, std::span<const std::string> sets = {});

  /// Like load(), for a document in memory. \param name the experiment's name, where the document has none.
  static ExperimentFile read(Node document, const std::string& name);

  /// Like read(), with the nominal experiment. The program and facts of a training step cover few micro-batches
  /// (outlined_micro_batches()), and its family is that of the whole step; where these do not fit in memory, it
  /// has no program.
  static std::pair<ExperimentFile, Experiment> read_with_outline(Node document, const std::string& name);

  /// Like read_with_outline(), but a training step with a pipeline has one stage (written_stage()) and no
  /// family.
  static std::pair<ExperimentFile, Experiment> read_with_stage(Node document, const std::string& name);

  /// The experiment with every range at its nominal value, or drawn: draw d of an experiment is the same on
  /// every machine and whatever was made before. A long training step takes seconds to write.
  Experiment make(std::optional<std::uint64_t> draw) const;

  /// The nominal experiment as read_with_outline() makes it.
  Experiment outline() const;

  /// The nominal experiment to be simulated: where nothing is drawn, an outline of a long training step
  /// (outline_of_whole()) is enough.
  Experiment nominal() const;

  /// The nominal experiment, but of a training step one that is as short as can be: what it is made of.
  Experiment sketch() const;

  /// With one range at an end, and all others at their nominal values.
  Experiment make_at(const RangeEnd& end) const;

  /// Every range that the experiment reads, once, in the order of reading.
  std::vector<NamedRange> ranges() const;

  /// What a user should know before a run, a line each: overridden keys that it does not use (unused_keys), and
  /// figures in doubt (doubts_about).
  std::vector<std::string> notes() const;

  /// What its `[trace]` repeats on \p cluster, an experiment's; absent without one.
  std::optional<PlacedRun> recording(const ClusterSpec& cluster) const;

  /// The search that its [shard] describes; absent without one, and where [shard] has the placement already.
  std::optional<ShardingTask> sharding() const;
  /// This file, with \p placement in its [shard]. \pre sharding()
  ExperimentFile placed(const Placement& placement) const;

  /// How long the sequences of its job are ([workload.lengths]); absent where the file does not say.
  std::optional<SequenceLengths> lengths() const;
  /// The step of a recurrent network that it describes; absent for all else.
  std::optional<RecurrentJob> recurrent() const;
  /// The network of images that it describes; absent for all else.
  std::optional<ImageJob> image_network() const;

  /// The whole configuration as TOML: presets in place with their sources, overrides applied, defaults of
  /// [measure] written out. Saved and loaded, it needs no preset and makes the same experiments.
  std::string resolved_toml(Comments comments = Comments::none) const;

  /// The file with `extends` and --set applied, presets by name.
  std::string merged_toml(Comments comments = Comments::none) const;

 private:
  static std::pair<ExperimentFile, Experiment> read_as(StepExtent extent, Node merged, const std::string& name);
  ExperimentFile(Node merged, Node resolved) : merged_(std::move(merged)), resolved_(std::move(resolved)) {}

  Node merged_;
  Node resolved_;
};

/// A system by the name of its node preset, with overrides of `gpu.`, `node.`, `library.` and `fabric.` keys as
/// an experiment takes them, every range at its nominal value. \throws ConfigError
ClusterSpec load_cluster(const std::string& system, std::span<const std::string> sets = {});

/// Several nodes of a system, as a command line names them.
struct SystemChoice {
  std::string system;
  std::optional<std::int64_t> nodes = std::nullopt;                   ///< one
  std::string fabric = "";                                            ///< the node preset's own
  std::vector<std::pair<std::string, std::string>> environment = {};  ///< variables of the library, and values
};
ClusterSpec load_cluster(const SystemChoice& choice, std::span<const std::string> sets = {});

/// What an experiment file may hold, before presets are in place.
TableRule experiment_rule();

}}  // namespace c3::configs
