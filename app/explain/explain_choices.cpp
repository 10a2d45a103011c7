/// What a user can set otherwise, by the part of the waterfall that it may shorten.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "app/explain/explanation.hpp"
#include "results/ranking.hpp"
#include "workloads/training/training_step.hpp"

namespace c3 { inline namespace app {
namespace {

constexpr double kWorthwhile = 0.01;   ///< share of the run: a smaller part is left alone
constexpr std::size_t kMostParts = 3;  ///< for which choices are simulated

using Changes = std::vector<KeyChange>;

KeyChange flag(const std::string& key, bool value) {
  return {fmt::format("{} {}", key, value), {fmt::format("{}={}", key, value)}};
}

/// Half of \p value, where that is a whole number.
void add_half(Changes& changes, const std::string& key, std::int64_t value) {
  if (value % 2 == 0) changes.push_back(training_key(key, value / 2));
}

Changes channels(const Experiment& experiment) {
  const int now = experiment.cluster.library.channels;
  Changes changes;
  for (const int other : {now / 2, 2 * now})
    if (other > 0)
      changes.push_back(
          {fmt::format("library.channels {}", other), {fmt::format("library.channels={}", other)}});
  return changes;
}

/// Fewer ranks that share each weight; without any left, their tokens are not divided either.
void add_fewer_tensor_ranks(Changes& changes, const TrainingSetup& setup) {
  if (setup.tensor_parallel % 2 != 0) return;
  KeyChange fewer = training_key("tensor_parallel", std::int64_t{setup.tensor_parallel / 2});
  if (setup.tensor_parallel == 2) {
    fewer.sets.emplace_back("training.sequence_parallel=false");
    fewer.sets.emplace_back("training.tensor_overlap=\"none\"");
  }
  // Twice the data-parallel ranks: of an odd number of micro-batches each is half as large instead.
  if (setup.micro_batches % 2 != 0 && setup.micro_batch % 2 == 0)
    fewer = both(std::move(fewer), training_key("micro_batch", setup.micro_batch / 2));
  changes.push_back(std::move(fewer));
}

Changes for_tensor_parallel(const Experiment&, const TrainingSetup& setup) {
  Changes changes;
  const KeyChange sequence = flag("training.sequence_parallel", true);
  if (!setup.sequence_parallel) changes.push_back(sequence);
  for (const TensorOverlap overlap :
       {TensorOverlap::chunks, TensorOverlap::user_buffers, TensorOverlap::ring}) {
    if (overlap == setup.tensor_overlap) continue;
    const KeyChange key = training_key("tensor_overlap", name_of(overlap));
    const bool is_divided = setup.sequence_parallel || overlap == TensorOverlap::chunks;
    changes.push_back(is_divided ? key : both(key, sequence));
  }
  add_fewer_tensor_ranks(changes, setup);
  return changes;
}

Changes for_data_parallel(const Experiment& experiment, const TrainingSetup& setup) {
  Changes changes;
  if (!setup.framework.overlaps_gradients) changes.push_back(flag("framework.overlaps_gradients", true));
  for (const Sharding sharding : {Sharding::optimizer, Sharding::parameters})
    if (sharding != setup.sharding) changes.push_back(training_key("sharding", name_of(sharding)));
  const bool gathers = setup.sharding == Sharding::optimizer || setup.sharding == Sharding::gradients;
  if (gathers && setup.parameter_gather == ParameterGather::after_optimizer)
    changes.push_back(training_key("parameter_gather", name_of(ParameterGather::overlapped)));
  if (setup.sharding == Sharding::parameters && setup.reshard_after_forward)
    changes.push_back(flag("training.reshard_after_forward", false));
  const int node = experiment.cluster.node.gpus;
  if (experiment.cluster.nodes > 1 && setup.sharding != Sharding::none && setup.shard_group == 0 &&
      node % setup.tensor_parallel == 0 && node > setup.tensor_parallel)
    changes.push_back(training_key("shard_group", std::int64_t{node / setup.tensor_parallel}));
  return changes;
}

Changes for_pipeline(const Experiment&, const TrainingSetup& setup) {
  Changes changes;
  add_half(changes, "micro_batch", setup.micro_batch);
  const PipelineSetup& pipeline = setup.pipeline;
  const KeyChange chunks = training_key("virtual_stages", std::int64_t{2 * pipeline.virtual_stages});
  changes.push_back(pipeline.schedule == ScheduleKind::one_f_one_b
                        ? both(chunks, training_key("schedule", name_of(ScheduleKind::interleaved)))
                        : chunks);
  if (pipeline.schedule == ScheduleKind::one_f_one_b)
    changes.push_back(training_key("schedule", name_of(ScheduleKind::zb_h1)));
  add_half(changes, "pipeline", pipeline.stages);
  return changes;
}

Changes for_experts(const Experiment&, const TrainingSetup& setup) {
  Changes changes;
  if (!setup.experts.micro_batch_overlap) changes.push_back(flag("training.micro_batch_overlap", true));
  if (!setup.experts.shared_overlap) changes.push_back(flag("training.shared_expert_overlap", true));
  if (setup.experts.dispatch == Dispatch::alltoall)
    changes.push_back(training_key("dispatch", name_of(Dispatch::deepep)));
  add_half(changes, "expert_parallel", setup.experts.ranks);
  return changes;
}

Changes for_context(const Experiment&, const TrainingSetup& setup) {
  Changes changes;
  add_half(changes, "context_parallel", setup.context.ranks);
  return changes;
}

Changes for_offload(const Experiment&, const TrainingSetup& setup) {
  Changes changes;
  if (setup.offload.layers > 0) changes.push_back(training_key("offload_layers", setup.offload.layers / 2));
  if (setup.offload.optimizer > 0.0) changes.push_back(training_key("offload_optimizer", std::int64_t{0}));
  return changes;
}

Changes for_recomputation(const Experiment&, const TrainingSetup& setup) {
  Changes changes;
  for (const Recompute less : {Recompute::none, Recompute::selective})
    if (less < setup.recompute) changes.push_back(training_key("recompute", name_of(less)));
  for (KeyChange& change : changes)
    if (setup.recompute_every > 1) change.sets.emplace_back("~training.recompute_every");
  return changes;
}

Changes for_hosts(const Experiment&, const TrainingSetup& setup) {
  Changes changes = {training_key("micro_batch", 2 * setup.micro_batch)};
  if (setup.graphs == StepGraphs::none) changes.push_back(training_key("graphs", name_of(StepGraphs::layers)));
  return changes;
}

/// Larger products, and collectives that hold fewer CUs.
Changes for_kernels(const Experiment&, const TrainingSetup& setup) {
  Changes changes = {training_key("micro_batch", 2 * setup.micro_batch)};
  add_fewer_tensor_ranks(changes, setup);
  return changes;
}

struct PartChanges {
  std::string_view part;  ///< how its name begins
  Changes (*changes)(const Experiment&, const TrainingSetup&);
};
constexpr std::array kOfSteps{PartChanges{"communication: tensor parallel", for_tensor_parallel},
                              PartChanges{"communication: data parallel", for_data_parallel},
                              PartChanges{"communication: pipeline", for_pipeline},
                              PartChanges{"communication: expert parallel", for_experts},
                              PartChanges{"communication: context parallel", for_context},
                              PartChanges{"communication: host copies", for_offload},
                              PartChanges{"pipeline bubble", for_pipeline},
                              PartChanges{"recomputation", for_recomputation},
                              PartChanges{"hosts and launches", for_hosts},
                              PartChanges{"gemm", for_kernels},
                              PartChanges{"attention", for_kernels}};

Changes changes_for(const std::string& part, const Experiment& experiment) {
  const bool interferes = part.starts_with("interference");
  if (interferes || (part.starts_with("communication") && !experiment.step)) return channels(experiment);
  if (!experiment.step) return {};
  const auto found = std::ranges::find_if(
      kOfSteps, [&](const PartChanges& step_part) { return part.starts_with(step_part.part); });
  return found == kOfSteps.end() ? Changes{} : found->changes(experiment, training_of(experiment));
}

}  // namespace

std::vector<Choice> choices_of(const Experiment& experiment, const Waterfall& fall) {
  std::vector<Choice> choices;
  std::size_t parts = 0;
  for (const WaterfallPart& part : ranked(fall.parts, &WaterfallPart::time)) {
    if (parts == kMostParts || part.time < kWorthwhile * fall.time) break;
    Changes changes = changes_for(part.name, experiment);
    std::erase_if(changes, [&](const KeyChange& change) {
      return std::ranges::any_of(choices, [&](const Choice& choice) { return choice.key.what == change.what; });
    });
    if (!changes.empty()) ++parts;
    for (KeyChange& change : changes)
      choices.push_back({.key = std::move(change), .part = part.name});
  }
  return choices;
}

}}  // namespace c3::app
