#include "configs/jobs/work_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "configs/jobs/image_network_reader.hpp"
#include "configs/jobs/lengths_reader.hpp"
#include "configs/jobs/recommendation_reader.hpp"
#include "configs/jobs/recurrent_reader.hpp"
#include "configs/jobs/shard_reader.hpp"
#include "configs/jobs/stream_reader.hpp"
#include "configs/jobs/trace_reader.hpp"
#include "configs/jobs/training_reader.hpp"
#include "configs/presets/spec_readers.hpp"
#include "workloads/analysis/shorter_steps.hpp"
#include "workloads/analysis/step_outline.hpp"
#include "workloads/recommendation/recommendation_step.hpp"
#include "workloads/training/pipeline_rules.hpp"
#include "workloads/training/recurrent_step.hpp"
#include "workloads/training/training_step.hpp"

namespace c3 { inline namespace configs {
namespace {

constexpr auto kLayerKeys = std::to_array<KeyText>({
    {"tokens", "tokens that each GPU computes at once: the rows of its products"},
    {"tensor_parallel", "GPUs that share each weight", std::int64_t{1}},
    {"dtype", "data type in which layers compute"},
});

std::optional<LayerInput> read_layer(Section& root, const Sampling& sampling) {
  if (!root.has("model")) return std::nullopt;
  Section section = root.table("model", sampling);
  LayerInput layer;
  if (section.has("tokens")) {
    layer.tokens = section.integer("tokens", 1, 16'777'216);
  } else {
    section.refuse("tokens", "is missing");  // a training step has none: experiment_rule() says so
  }
  if (section.has("tensor_parallel")) layer.tensor_parallel = section.integer("tensor_parallel", 1, 4096);
  layer.dtype = read_dtype(section, "dtype");
  section.explain(kLayerKeys);
  layer.model = read_model(section);
  return layer;
}

/// Puts the mean number of keys that a query sees into \p setup, of one epoch's lengths.
void pack(Section& root, const SequenceLengths& lengths, TrainingSetup& setup) {
  const bool is_causal = setup.model.structure == Structure::decoder;
  constexpr std::uint64_t kSeed = 0;
  setup.packed_keys =
      std::max(1LL, std::llround(keys_of_query(draw_lengths(lengths, kSeed), setup.sequence, is_causal)));
  if (setup.context.key_ranks() > 1)
    root.fail("workload", fmt::format("document_mask requires context_exchange = \"ulysses\" where ranks share "
                                      "sequences (it is \"{}\")",
                                      name_of(setup.context.exchange)));
  if (setup.framework.attention == AttentionCode::products)
    root.fail("workload",
              "document_mask requires attention in one kernel; framework.attention is \"products\"");
}

/// \p job with its tables as [shard] has them; until they are searched for, as the first sharder that fits.
RecommendationJob placed_by(const std::optional<WrittenShard>& shard, const RecommendationJob& job,
                            const ClusterSpec& cluster) {
  if (!shard) return job;
  if (!shard->placement.empty()) return with_placement(job, shard->placement);
  return with_placement(job, ShardingSearch(placement_space(job, cluster), shard->plan).ask().value());
}

/// One stage of \p family. \returns whether there is one to write
bool write_stage(Experiment& experiment, const ProgramFamily& family) {
  std::optional<WrittenStep> stage = written_stage(family, experiment.cluster);
  if (!stage) return false;
  experiment.program = std::move(stage->program);
  experiment.step = std::move(stage->facts);
  return true;
}

/// \returns whether the program has all streams of the step.
bool write_step(Experiment& experiment, const std::shared_ptr<const ProgramFamily>& family, StepExtent extent) {
  if (extent == StepExtent::whole) {
    set_step(experiment, family);
    return true;
  }
  family->check(experiment.cluster);
  if (extent == StepExtent::sketch) {
    set_step(experiment, smallest(*family));
    return true;
  }
  if (extent == StepExtent::stage && write_stage(experiment, *family)) return false;
  const std::int64_t micro_batches = outlined_micro_batches(*family, experiment.measure.estimate);
  set_outline(experiment, family->at({family->size().layers, micro_batches}));
  experiment.family = SharedFamily(family);
  return experiment.step->fits();
}

}  // namespace

StreamsOfWork read_work(Section& root, const Sampling& sampling, StepExtent extent, Experiment& experiment) {
  const bool trains = root.has("training");
  const bool recurs = root.has("recurrent");
  const bool recommends = root.has("recommendation");
  const bool sees = root.has("image_network");
  const bool is_traced = root.has("trace");
  const bool has_streams = root.has("stream") || root.has("ranks");
  const int ranks = experiment.cluster.ranks();
  StreamsOfWork streams;
  if (trains) {
    if (has_streams)
      root.fail(root.has("stream") ? "stream" : "ranks",
                "cannot be combined with [training], which makes the streams of its step");
    TrainingSetup setup = read_training(root, sampling, experiment.cluster);
    const auto lengths = read_lengths(root, setup.sequence);
    if (lengths && lengths->document_mask && !root.is_rehearsal()) pack(root, *lengths, setup);
    if (!root.is_rehearsal()) {
      streams.usual = usual_policies(setup);
      streams.never_serial = why_never_serial(setup);
      streams.all_known = write_step(experiment, training_family(std::move(setup)), extent);
    }
  }
  const auto refuse_beside = [&](std::string_view key, bool others) {
    if (others || is_traced || has_streams)
      root.refuse(key, "cannot be combined with [training], [trace], [[stream]] or [[ranks]]");
  };
  if (recurs) {
    refuse_beside("recurrent", trains || recommends);
    const RecurrentJob job = read_recurrent(root);
    read_lengths(root, job);
    if (!root.is_rehearsal()) {
      experiment.program = recurrent_program(job, ranks);
      experiment.items = {StepItem::sequences, job.batch * ranks};
      return {};
    }
  }
  if (sees) {
    refuse_beside("image_network", trains || recommends || recurs);
    const ImageJob job = read_image_network(root, sampling);
    if (!root.is_rehearsal()) {
      experiment.program = image_program(job, ranks);
      experiment.items = {StepItem::images, job.batch.images * ranks};
      return {};
    }
  }
  if (recommends) {
    refuse_beside("recommendation", trains);
    const RecommendationJob job = read_recommendation(root, sampling, experiment.cluster);
    const std::optional<WrittenShard> shard = read_shard(root, job, ranks);
    if (!root.is_rehearsal()) {
      experiment.program =
          recommendation_program(placed_by(shard, job, experiment.cluster), experiment.cluster);
      experiment.items = {StepItem::samples, job.batch};
      return {};
    }
  }
  if (!trains && !recurs && root.holds("workload"))
    root.fail("workload",
              "requires [training] or [recurrent]: its lengths are those of the sequences that a step takes");
  if (!recommends && root.holds("shard"))
    root.fail("shard", "requires [recommendation], whose tables it places");
  if (is_traced && (trains || has_streams))
    root.refuse("trace", "cannot be combined with [training], [[stream]] or [[ranks]]");
  if (is_traced) experiment.program = read_trace(root, experiment.cluster);
  if (is_traced && !root.is_rehearsal()) return {};
  const std::optional<LayerInput> layer = trains ? std::nullopt : read_layer(root, sampling);
  const OperationReader reader(layer, experiment.cluster.gpu.hbm);
  if (root.is_rehearsal()) {  // strategies need a stream; experiment_rule() says that there is one, or a step
    experiment.program.streams = {slug_rule().example};
    if (has_streams) read_streams(root, reader, ranks);
  } else if (!trains) {
    experiment.program = read_streams(root, reader, ranks);
  }
  return streams;
}

}}  // namespace c3::configs
