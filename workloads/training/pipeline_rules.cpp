#include "workloads/training/pipeline_rules.hpp"

#include <fmt/format.h>

#include <stdexcept>
#include <utility>

#include "workloads/pipeline/pipeline_play.hpp"
#include "workloads/pipeline/task_table.hpp"
#include "workloads/training/stage_layers.hpp"

namespace c3 { inline namespace workloads {
namespace {

using Broken = std::optional<BrokenRule>;

PipelineShape shape_of(const TrainingSetup& setup) {
  const PipelineSetup& pipeline = setup.pipeline;
  return {.stages = pipeline.stages,
          .micro_batches = static_cast<int>(setup.micro_batches),
          .chunks = pipeline.virtual_stages,
          .group = pipeline.group > 0 ? pipeline.group : pipeline.stages,
          .ahead = setup.experts.micro_batch_overlap ? 1 : 0};
}

bool splits_backward(const TrainingSetup& setup) {
  const PipelineSetup& pipeline = setup.pipeline;
  return pipeline.schedule == ScheduleKind::table ? has_weights_passes(pipeline.table)
                                                  : splits_backward(pipeline.schedule);
}

BrokenRules rules_of_messages(const PipelineSetup& pipeline) {
  BrokenRules broken;
  const auto refuse = [&](std::string what) { broken.push_back({"pipeline_messages", std::move(what)}); };
  const bool overlaps = pipeline.messages == PipelineMessages::overlapped;
  const bool batches = pipeline.messages == PipelineMessages::batched;
  const bool is_interleaved = pipeline.schedule == ScheduleKind::interleaved;
  if (pipeline.messages == PipelineMessages::steady && !is_interleaved)
    refuse(fmt::format("\"steady\" requires schedule = \"interleaved\" (it is \"{}\")",
                       name_of(pipeline.schedule)));
  if (overlaps && pipeline.schedule == ScheduleKind::one_f_one_b)
    refuse("\"overlapped\" requires virtual stages, or another schedule than 1f1b");
  if (batches && is_interleaved && pipeline.stages < 3)
    refuse(
        fmt::format("\"batched\" with schedule = \"interleaved\" requires pipeline > 2 (it is {}), "
                    "since both neighbours of a stage are one; use \"overlapped\"",
                    pipeline.stages));
  const bool is_free = pipeline.schedule == ScheduleKind::zb_v || pipeline.schedule == ScheduleKind::dualpipe ||
                       pipeline.schedule == ScheduleKind::table;
  if (!overlaps && is_free)
    refuse(fmt::format("must be \"overlapped\" with schedule = \"{}\"", name_of(pipeline.schedule)));
  return broken;
}

Broken rule_of_sharding(const TrainingSetup& setup) {
  if (setup.sharding == Sharding::gradients)
    return BrokenRule{"sharding", "zero2 reduces gradients after every micro-batch, and requires pipeline = 1"};
  if (setup.sharding == Sharding::parameters && splits_backward(setup))
    return BrokenRule{"sharding",
                      fmt::format("fsdp cannot be combined with schedule = \"{}\", which makes gradients "
                                  "of weights in passes of their own",
                                  name_of(setup.pipeline.schedule))};
  return std::nullopt;
}

Broken rule_of_scatter(const TrainingSetup& setup) {
  if (!setup.pipeline.scatter_gather) return std::nullopt;
  if (setup.tensor_parallel == 1) return BrokenRule{"scatter_gather", "requires tensor_parallel > 1 (it is 1)"};
  if (setup.sequence_parallel)
    return BrokenRule{"scatter_gather",
                      "cannot be combined with sequence_parallel = true, with which each rank sends its part "
                      "anyway"};
  if (setup.tokens() * setup.model.hidden % setup.tensor_parallel != 0)
    return BrokenRule{
        "scatter_gather",
        fmt::format("requires that tensor_parallel, which is {}, divides the {} numbers of a message",
                    setup.tensor_parallel, setup.tokens() * setup.model.hidden)};
  return std::nullopt;
}

BrokenRules rules_of_deferral(const TrainingSetup& setup) {
  BrokenRules broken;
  const auto refuse = [&](std::string what) { broken.push_back({"deferred_head_gradients", std::move(what)}); };
  if (setup.pipeline.deferred_head_gradients == 0) return broken;
  if (splits_backward(setup))
    refuse(
        fmt::format("cannot be combined with schedule = \"{}\", which makes gradients of weights in "
                    "passes of their own",
                    name_of(setup.pipeline.schedule)));
  if (setup.sharding == Sharding::parameters)
    refuse("requires sharding = \"ddp\" or \"zero1\" (it is \"fsdp\")");
  return broken;
}

Broken rule_of_layers(const TrainingSetup& setup) {
  const PipelineSetup& pipeline = setup.pipeline;
  const bool gives = pipeline.first_layers > 0 || pipeline.last_layers > 0;
  const bool splits = pipeline.embedding_in_split || pipeline.loss_in_split;
  if (!pipeline.layout.empty() && (gives || splits))
    return BrokenRule{"pipeline_layout",
                      "says all: it cannot be combined with first_stage_layers, last_stage_layers, "
                      "embedding_in_split or loss_in_split"};
  if (gives && splits)
    return BrokenRule{pipeline.first_layers > 0 ? "first_stage_layers" : "last_stage_layers",
                      "cannot be combined with embedding_in_split or loss_in_split"};
  try {
    stage_layers(pipeline, setup.model.layers);
  } catch (const std::invalid_argument& error) {
    return BrokenRule{pipeline.layout.empty() ? "pipeline" : "pipeline_layout", error.what()};
  }
  return std::nullopt;
}

std::vector<std::string> stage_names(int stages, int ranks) {
  std::vector<std::string> names;
  const int ranks_per_stage = ranks / stages;
  for (int stage = 0; stage < stages; ++stage)
    names.push_back(fmt::format("stage {} (ranks {}-{})", stage, stage * ranks_per_stage,
                                (stage + 1) * ranks_per_stage - 1));
  return names;
}

Broken rule_of_table(const TrainingSetup& setup, int ranks) {
  const PipelineSetup& pipeline = setup.pipeline;
  if (pipeline.schedule != ScheduleKind::table) return std::nullopt;
  if (static_cast<int>(pipeline.table.size()) != pipeline.stages)
    return BrokenRule{"pipeline_table", fmt::format("must have a text for each of the {} stages (it has {})",
                                                    pipeline.stages, pipeline.table.size())};
  try {
    const PipelineSchedule schedule = schedule_of(setup);
    const auto flaw =
        flaw_of(schedule, static_cast<int>(setup.micro_batches), stage_names(pipeline.stages, ranks));
    if (flaw) return BrokenRule{"pipeline_table", *flaw};
  } catch (const std::invalid_argument& error) {
    return BrokenRule{"pipeline_table", error.what()};
  }
  return std::nullopt;
}

}  // namespace

BrokenRules broken_pipeline_rules(const TrainingSetup& setup, int ranks) {
  BrokenRules broken;
  const PipelineSetup& pipeline = setup.pipeline;
  if (pipeline.stages == 1) {
    PipelineSetup without = {};
    without.messages = pipeline.messages;
    if (pipeline != without)
      broken.push_back({"pipeline", "must be above 1 where other keys divide the pipeline"});
    return broken;
  }
  if (auto rule = broken_rule(pipeline.schedule, shape_of(setup)))
    broken.push_back({"schedule", *std::move(rule)});
  add(broken, rules_of_messages(pipeline));
  add(broken, rule_of_sharding(setup));
  add(broken, rule_of_scatter(setup));
  add(broken, rules_of_deferral(setup));
  add(broken, rule_of_layers(setup));
  if (broken.empty()) add(broken, rule_of_table(setup, ranks));
  return broken;
}

std::string why_never_serial(const TrainingSetup& setup) {
  const PipelineSetup& pipeline = setup.pipeline;
  if (pipeline.stages == 1 || pipeline.messages == PipelineMessages::batched) return {};
  return fmt::format(
      "requires training.pipeline_messages = \"batched\" (it is \"{}\"): a receive launched ahead "
      "would wait for passes behind it; gpipe, 1f1b, zb-h1 and interleaved can be batched",
      name_of(pipeline.messages));
}

std::int64_t micro_batch_period(const TrainingSetup& setup) {
  const PipelineSetup& pipeline = setup.pipeline;
  if (pipeline.schedule == ScheduleKind::table) return setup.micro_batches;
  if (pipeline.schedule == ScheduleKind::dualpipe) return 2;  // one each way
  const bool is_grouped = pipeline.schedule == ScheduleKind::interleaved;
  return is_grouped ? std::max(pipeline.group, pipeline.stages) : 1;
}

PipelineSchedule schedule_of(const TrainingSetup& setup) {
  if (setup.pipeline.schedule == ScheduleKind::table)
    return schedule_from(setup.pipeline.table, setup.pipeline.virtual_stages);
  return make_schedule(setup.pipeline.schedule, shape_of(setup));
}

}}  // namespace c3::workloads
