#pragma once
/// A training step: the model, how it is spread over ranks, the framework that runs it, and on which host.

#include <cstdint>
#include <string>
#include <vector>

#include "base/enum_names.hpp"
#include "gpu/spec.hpp"
#include "workloads/models/adapters.hpp"
#include "workloads/models/context_split.hpp"
#include "workloads/models/framework.hpp"
#include "workloads/models/host.hpp"
#include "workloads/models/model_dimensions.hpp"
#include "workloads/models/precision/precision_setup.hpp"
#include "workloads/models/transformer.hpp"
#include "workloads/training/expert_setup.hpp"
#include "workloads/training/optimizers/optimizer.hpp"
#include "workloads/training/pipeline_setup.hpp"

namespace c3 { inline namespace workloads {

/// What data-parallel ranks keep a part of instead of all of it (ZeRO, arXiv 1910.02054, section 5).
enum class Sharding {
  none,        ///< DDP: gradients are summed in buckets
  optimizer,   ///< ZeRO-1: each updates its part, parameters are gathered after
  gradients,   ///< ZeRO-2: buckets of gradients are reduced to the rank that updates them
  parameters,  ///< ZeRO-3, FSDP: a layer's parameters are gathered before it runs, forward and backward
};
constexpr auto enum_names(Sharding) {
  return std::to_array<EnumName<Sharding>>({{"ddp", Sharding::none},
                                            {"zero1", Sharding::optimizer},
                                            {"zero2", Sharding::gradients},
                                            {"fsdp", Sharding::parameters}});
}

/// When ranks that update a part of the parameters each (ZeRO-1, ZeRO-2) gather all of them.
enum class ParameterGather {
  after_optimizer,  ///< all at once, before the next step begins
  overlapped,       ///< a bucket when the one before it is needed, in the next step's first forward passes
  aligned,          ///< a chunk of layers a chunk ahead, at the same time on all stages of a pipeline
};
constexpr auto enum_names(ParameterGather) {
  return std::to_array<EnumName<ParameterGather>>({{"after_optimizer", ParameterGather::after_optimizer},
                                                   {"overlapped", ParameterGather::overlapped},
                                                   {"aligned", ParameterGather::aligned}});
}

/// Which activations a backward pass finds and which it computes again.
enum class Recompute {
  none,
  selective,  ///< kept: the output of attention and of every second product of a layer (PyTorch's)
  attention,  ///< computed again: scores to values (Megatron-LM's selective, arXiv 2205.05198); nothing where
              ///< attention is one kernel
  full,       ///< kept: each layer's input
};
constexpr auto enum_names(Recompute) {
  return std::to_array<EnumName<Recompute>>({{"none", Recompute::none},
                                             {"selective", Recompute::selective},
                                             {"attention", Recompute::attention},
                                             {"full", Recompute::full}});
}

/// What runs beside the products whose tokens are gathered before them or whose sums over tensor-parallel ranks
/// follow.
enum class TensorOverlap {
  none,          ///< nothing but what the framework overlaps (Framework::overlaps_tensor)
  chunks,        ///< products are cut into parts, each with a collective of its own
  user_buffers,  ///< the same, but a sum's parts are copied to the ranks that they are of, where a kernel adds
                 ///< them; copy engines move both
  ring,          ///< as many parts as ranks, each passed on to the next rank while the next one is computed
  fused,         ///< the product's own stores make the sum
};
constexpr auto enum_names(TensorOverlap) {
  return std::to_array<EnumName<TensorOverlap>>({{"none", TensorOverlap::none},
                                                 {"chunks", TensorOverlap::chunks},
                                                 {"user_buffers", TensorOverlap::user_buffers},
                                                 {"ring", TensorOverlap::ring},
                                                 {"fused", TensorOverlap::fused}});
}

/// What is recorded once and launched whole (CUDA graphs).
enum class StepGraphs : std::uint8_t {
  none,
  layers,  ///< each layer's forward and backward pass of each micro-batch in flight, whose memory stays
  step,    ///< all passes of all micro-batches; the optimizer is launched kernel by kernel
};
constexpr auto enum_names(StepGraphs) {
  return std::to_array<EnumName<StepGraphs>>(
      {{"none", StepGraphs::none}, {"layers", StepGraphs::layers}, {"step", StepGraphs::step}});
}

/// What is in the memory of the host between its uses.
struct OffloadSetup {
  /// The first so many layers of each chunk leave their activations there until their backward pass
  /// (Megatron-Core: cpu_offloading_num_layers).
  std::int64_t layers = 0;
  /// The parts of a layer, by name_of(PartId), whose activations do (Megatron-Core: offload_modules); empty:
  /// all.
  std::vector<std::string> parts = {};
  /// Share of the parameters whose optimizer's states are there, and which the host updates (Megatron-Core:
  /// optimizer_offload_fraction).
  double optimizer = 0.0;

  bool operator==(const OffloadSetup&) const = default;
};

struct TrainingSetup {
  ModelDimensions model;
  Framework framework;
  Host host = {};                  ///< of each GPU
  DType dtype = DType::bf16;       ///< in which layers compute
  std::int64_t sequence = 0;       ///< tokens
  std::int64_t micro_batch = 1;    ///< sequences of one data-parallel rank at once
  std::int64_t micro_batches = 1;  ///< one after another, whose gradients add up
  int tensor_parallel = 1;         ///< neighbouring ranks that share each weight
  bool sequence_parallel = false;  ///< between a layer's blocks each has a part of the tokens
  TensorOverlap tensor_overlap = TensorOverlap::none;
  int tensor_chunks = 0;  ///< parts of a product with chunks or user buffers; 0: as many as tensor_parallel
  Sharding sharding = Sharding::parameters;
  /// Data-parallel ranks that have a part each, neighbours among those; such groups are replicas, which sum
  /// their parts of gradients (HSDP, several instances of a distributed optimizer). 0: all of them
  int shard_group = 0;
  ParameterGather parameter_gather = ParameterGather::after_optimizer;
  bool reshard_after_forward = true;  ///< of Sharding::parameters
  Recompute recompute = Recompute::none;
  std::int64_t recompute_every = 1;  ///< of so many layers one is recomputed
  PipelineSetup pipeline = {};
  ContextSplit context = {};  ///< ranks that have a part of every sequence each
  LoraSetup lora = {};        ///< what is trained instead of the model's weights
  /// Keys that a query sees on average in sequences packed of shorter ones; 0: all that a whole sequence has.
  std::int64_t packed_keys = 0;
  PrecisionSetup precision = {};
  StepGraphs graphs = StepGraphs::none;
  ExpertSetup experts = {};
  OptimizerSetup optimizer = {};
  ModelHead head = ModelHead::language_model;
  OffloadSetup offload = {};
  std::int64_t predictions = 0;  ///< words of a sequence that the head predicts; 0: all

  /// Tokens of a micro-batch that a rank has.
  std::int64_t tokens() const { return micro_batch * sequence / context.ranks; }
  /// Tokens of a micro-batch whose words the head predicts on a rank.
  std::int64_t predicted_tokens() const { return predictions > 0 ? micro_batch * predictions : tokens(); }
  /// Number of parts into which products are cut beside which collectives run.
  int product_parts() const {
    if (tensor_overlap == TensorOverlap::none || tensor_overlap == TensorOverlap::fused) return 1;
    return tensor_chunks > 0 ? tensor_chunks : tensor_parallel;
  }

  /// Tokens of a micro-batch that run past the blocks on one rank.
  std::int64_t tokens_between() const { return sequence_parallel ? tokens() / tensor_parallel : tokens(); }
  /// Ranks that share each weight of an expert.
  int expert_tensor_parallel() const { return experts.tensor > 0 ? experts.tensor : tensor_parallel; }

  /// Whether experts have other replicas than all else.
  bool has_expert_grid() const {
    return model.experts && (experts.ranks > 1 || expert_tensor_parallel() != tensor_parallel);
  }

  bool operator==(const TrainingSetup&) const = default;
};

}}  // namespace c3::workloads
