#include "workloads/training/expert_rules.hpp"

#include <fmt/format.h>

#include <iterator>
#include <utility>

#include "workloads/pipeline/schedule.hpp"
#include "workloads/training/expert_grid.hpp"
#include "workloads/training/stage_layers.hpp"

namespace c3 { inline namespace workloads {
namespace {

using Broken = std::optional<BrokenRule>;

Broken rule_of_grid(const TrainingSetup& setup, int ranks) {
  const ExpertDimensions& model = *setup.model.experts;
  const int experts = setup.experts.ranks, sharers = setup.expert_tensor_parallel();
  if (model.experts % experts != 0)
    return BrokenRule{"expert_parallel",
                      fmt::format("{} does not divide the model's {} experts", experts, model.experts)};
  const int stages = setup.pipeline.stages;
  if (ranks % (experts * sharers * stages) != 0)
    return BrokenRule{
        "expert_parallel",
        fmt::format("{} expert-parallel ranks times {} expert-tensor-parallel ones do not divide the "
                    "{} ranks of a stage",
                    experts, sharers, ranks / stages)};
  if (setup.model.expert_width() % sharers != 0)
    return BrokenRule{"expert_tensor_parallel",
                      fmt::format("{} does not divide the width of an expert, which is {}", sharers,
                                  setup.model.expert_width())};
  return std::nullopt;
}

Broken rule_of_tensor_parallel(const TrainingSetup& setup) {
  if (setup.tensor_parallel == 1) return std::nullopt;
  if (!setup.sequence_parallel)
    return BrokenRule{"tensor_parallel",
                      "with experts requires sequence_parallel = true, so that no token is routed twice"};
  if (setup.model.experts->shared_width % setup.tensor_parallel != 0)
    return BrokenRule{"tensor_parallel",
                      fmt::format("{} does not divide the width of shared experts, which is {}",
                                  setup.tensor_parallel, setup.model.experts->shared_width)};
  return std::nullopt;
}

/// Rules for experts that have other replicas than all else.
BrokenRules rules_of_sharding(const TrainingSetup& setup, int ranks) {
  BrokenRules broken;
  const bool is_full = setup.sharding == Sharding::parameters;
  if (is_full && setup.framework.flat_parameters)
    broken.push_back({"sharding",
                      "fsdp with expert_parallel > 1 requires a framework without flat_parameters, which "
                      "would gather experts with all else"});
  if (is_full && setup.graphs == StepGraphs::layers)
    broken.push_back({"graphs",
                      "cannot be \"layers\" with sharding = \"fsdp\" and expert_parallel > 1: experts are "
                      "gathered within a layer"});
  if (setup.sharding == Sharding::none || setup.shard_group == 0) return broken;
  const int replicas = ranks / (setup.tensor_parallel * setup.pipeline.stages * setup.shard_group);
  const int alike = ExpertGrid(setup, ranks).data();
  const int least = is_full ? 1 : 2;
  if (replicas > 1 && (alike % replicas != 0 || alike / replicas < least))
    broken.push_back(
        {"shard_group",
         fmt::format("makes {} replicas, so that the {} ranks that have the same experts must be a multiple of "
                     "{}{}",
                     replicas, alike, replicas, is_full ? "" : ", and at least twice as many")});
  return broken;
}

/// Rules of Megatron-Core's overlap_moe_expert_parallel_comm.
BrokenRules rules_of_turns(const TrainingSetup& setup) {
  BrokenRules broken;
  const auto refuse = [&](std::string what) { broken.push_back({"micro_batch_overlap", std::move(what)}); };
  const PipelineSetup& pipeline = setup.pipeline;
  if (setup.experts.ranks == 1) refuse("requires expert_parallel > 1 (it is 1)");
  if (setup.micro_batches == 1) refuse("requires more than one micro-batch in a step");
  const bool takes_turns =
      pipeline.schedule == ScheduleKind::interleaved || pipeline.schedule == ScheduleKind::dualpipe;
  if (pipeline.stages > 1 && !takes_turns)
    refuse(
        fmt::format("requires schedule = \"interleaved\" or \"dualpipe\" (it is \"{}\"), or pipeline = 1: "
                    "else stages would wait for each other",
                    name_of(pipeline.schedule)));
  if (setup.recompute == Recompute::full)
    refuse("cannot be combined with recompute = \"full\", which sends tokens again");
  if (setup.sharding == Sharding::parameters)
    refuse("requires sharding = \"ddp\", \"zero1\" or \"zero2\" (it is \"fsdp\")");
  if (setup.graphs == StepGraphs::layers)
    refuse("cannot be combined with graphs = \"layers\": layers of two passes run in turns");
  if (setup.experts.shared_overlap)
    refuse("cannot be combined with shared_expert_overlap, which fills the same time");
  return broken;
}

/// Rules for adapters beside experts, and for experts that are frozen.
BrokenRules rules_of_lora(const TrainingSetup& setup) {
  BrokenRules broken;
  const LoraSetup& lora = setup.lora;
  if (lora.rank == 0) return broken;
  const int sharers = setup.expert_tensor_parallel();
  if ((lora.gate_up || lora.down) && sharers > 1)
    broken.push_back(
        {"expert_tensor_parallel",
         fmt::format("must be 1 with adapters beside experts (lora.gate_up, lora.down): it is {}", sharers)});
  if (setup.sharding == Sharding::parameters && setup.has_expert_grid())
    broken.push_back({"sharding",
                      "fsdp with expert_parallel > 1 cannot be combined with [training.lora]: frozen experts "
                      "would be gathered with all else"});
  return broken;
}

BrokenRules rules_of_delay(const TrainingSetup& setup) {
  BrokenRules broken;
  const auto refuse = [&](std::string what) {
    broken.push_back({"delayed_weight_gradients", std::move(what)});
  };
  if (!setup.experts.micro_batch_overlap)
    refuse("requires micro_batch_overlap = true, as Megatron-Core's delay_wgrad_compute does");
  if (setup.pipeline.stages > 1 && splits_backward(setup.pipeline.schedule))
    refuse(
        fmt::format("cannot be combined with schedule = \"{}\", which makes gradients of weights in passes "
                    "of their own",
                    name_of(setup.pipeline.schedule)));
  return broken;
}

Broken rule_of_hybridep(const TrainingSetup& setup) {
  const ExpertSetup& experts = setup.experts;
  if (experts.routing != Routing::balanced)
    return BrokenRule{"dispatch", fmt::format("\"hybridep\" requires routing = \"balanced\" (it is \"{}\")",
                                              name_of(experts.routing))};
  const int sharers = setup.expert_tensor_parallel(), ranks = experts.ranks * sharers;
  const int of_node = experts.node_ranks;
  if (of_node == 0 || of_node % ranks == 0) return std::nullopt;
  if (ranks % of_node == 0 && of_node % sharers == 0) return std::nullopt;
  return BrokenRule{
      "dispatch",
      fmt::format("\"hybridep\" requires that experts are divided among whole nodes, or several times "
                  "within one: {} ranks, with {} of a node, are neither",
                  ranks, of_node)};
}

BrokenRules rules_of_routing(const TrainingSetup& setup) {
  BrokenRules broken;
  const ExpertSetup& experts = setup.experts;
  if (experts.routing == Routing::balanced) return broken;
  if (experts.ranks == 1)
    broken.push_back(
        {"routing", fmt::format("\"{}\" requires expert_parallel > 1 (it is 1)", name_of(experts.routing))});
  if (setup.expert_tensor_parallel() > 1)
    broken.push_back({"routing", fmt::format("\"{}\" requires expert_tensor_parallel = 1 (it is {})",
                                             name_of(experts.routing), setup.expert_tensor_parallel())});
  if (experts.routing == Routing::histogram && std::ssize(experts.shares) != setup.model.experts->experts)
    broken.push_back({"routing_shares", fmt::format("must have a number for each of the {} experts (it has {})",
                                                    setup.model.experts->experts, experts.shares.size())});
  return broken;
}

}  // namespace

BrokenRules broken_expert_rules(const TrainingSetup& setup, int ranks) {
  BrokenRules broken;
  if (setup.model.latent && setup.tensor_parallel > 1 && !setup.sequence_parallel)
    broken.push_back({"tensor_parallel",
                      "with latent attention requires sequence_parallel = true, so that each rank makes its "
                      "tokens' latent vectors"});
  if (!setup.model.experts) {
    if (setup.experts != ExpertSetup{})
      broken.push_back({"expert_parallel", "and other keys of experts require a model with experts"});
    return broken;
  }
  const Broken of_grid = rule_of_grid(setup, ranks);
  add(broken, of_grid);
  add(broken, rule_of_tensor_parallel(setup));
  if (!of_grid && setup.has_expert_grid()) add(broken, rules_of_sharding(setup, ranks));
  add(broken, rules_of_lora(setup));
  add(broken, rules_of_routing(setup));
  if (setup.experts.dispatch == Dispatch::hybridep) add(broken, rule_of_hybridep(setup));
  if (setup.experts.delayed_weight_gradients) add(broken, rules_of_delay(setup));
  if (setup.experts.shared_overlap && setup.model.experts->shared_width == 0)
    broken.push_back({"shared_expert_overlap", "requires a model with shared experts"});
  if (setup.experts.micro_batch_overlap) add(broken, rules_of_turns(setup));
  return broken;
}

}}  // namespace c3::workloads
