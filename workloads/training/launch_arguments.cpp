#include "workloads/training/launch_arguments.hpp"

#include <fmt/format.h>

#include <string_view>
#include <utility>

namespace c3 { inline namespace workloads {
namespace {

class Writer {
 public:
  Writer(const TrainingSetup& setup, const ClusterSpec& cluster) : setup_(setup), cluster_(cluster) {}

  LaunchArguments write() {
    result_.words = {"torchrun",
                     "--nnodes",
                     std::to_string(cluster_.nodes),
                     "--nproc-per-node",
                     std::to_string(cluster_.node.gpus),
                     "pretrain_gpt.py"};
    add_batch();
    add_tensor();
    add_pipeline();
    add_context();
    add_experts();
    add_sharding();
    add_recompute();
    add_precision();
    return std::move(result_);
  }

 private:
  void add(std::string_view flag) { result_.words.emplace_back(flag); }
  template <class Value>
  void add(std::string_view flag, const Value& value) {
    add(flag);
    result_.words.push_back(fmt::format("{}", value));
  }
  template <class Value>
  void leave(std::string_view key, const Value& value) {
    result_.unsaid.push_back(fmt::format("{} = {}", key, value));
  }

  void add_batch() {
    const std::int64_t replicas =
        cluster_.ranks() / (setup_.tensor_parallel * setup_.pipeline.stages * setup_.context.ranks);
    add("--seq-length", setup_.sequence);
    add("--micro-batch-size", setup_.micro_batch);
    add("--global-batch-size", setup_.micro_batch * setup_.micro_batches * replicas);
  }

  void add_tensor() {
    add("--tensor-model-parallel-size", setup_.tensor_parallel);
    if (setup_.sequence_parallel) add("--sequence-parallel");
    if (setup_.tensor_overlap == TensorOverlap::user_buffers) {
      add("--tp-comm-overlap");
    } else if (setup_.tensor_overlap != TensorOverlap::none) {
      leave("tensor_overlap", name_of(setup_.tensor_overlap));
    }
  }

  void add_pipeline() {
    const PipelineSetup& pipeline = setup_.pipeline;
    add("--pipeline-model-parallel-size", pipeline.stages);
    if (pipeline.stages == 1) return;
    if (!pipeline.layout.empty()) {
      add("--pipeline-model-parallel-layout", pipeline.layout);
    } else if (pipeline.virtual_stages > 1) {
      add("--num-virtual-stages-per-pipeline-rank", pipeline.virtual_stages);
    }
    if (pipeline.group > 0) add("--microbatch-group-size-per-virtual-pipeline-stage", pipeline.group);
    if (pipeline.first_layers > 0) add("--decoder-first-pipeline-num-layers", pipeline.first_layers);
    if (pipeline.last_layers > 0) add("--decoder-last-pipeline-num-layers", pipeline.last_layers);
    if (pipeline.embedding_in_split) add("--account-for-embedding-in-pipeline-split");
    if (pipeline.loss_in_split) add("--account-for-loss-in-pipeline-split");
    const bool has_argument =
        pipeline.schedule == ScheduleKind::one_f_one_b || pipeline.schedule == ScheduleKind::interleaved;
    if (!has_argument) leave("schedule", name_of(pipeline.schedule));
    add_messages();
  }

  /// Megatron-LM overlaps messages of virtual stages but in warm-up and flush, unless it is told otherwise.
  void add_messages() {
    const PipelineMessages messages = setup_.pipeline.messages;
    if (setup_.pipeline.schedule != ScheduleKind::interleaved) {
      if (messages != PipelineMessages::batched) leave("pipeline_messages", name_of(messages));
    } else if (messages == PipelineMessages::batched) {
      add("--no-overlap-p2p-communication");
    } else if (messages == PipelineMessages::overlapped) {
      add("--overlap-p2p-communication-warmup-flush");
    }
  }

  void add_context() {
    if (setup_.context.ranks == 1) return;
    constexpr auto kTypes = std::to_array<std::string_view>({"p2p", "all_gather", "a2a", "a2a+p2p"});
    add("--context-parallel-size", setup_.context.ranks);
    add("--cp-comm-type", kTypes[static_cast<std::size_t>(setup_.context.exchange)]);
    if (setup_.context.exchange != ContextExchange::hierarchical) return;
    add("--hierarchical-context-parallel-sizes", setup_.context.inner);
    result_.words.push_back(std::to_string(setup_.context.ranks / setup_.context.inner));
  }

  void add_experts() {
    if (!setup_.model.experts) return;
    const ExpertSetup& experts = setup_.experts;
    add("--expert-model-parallel-size", experts.ranks);
    add("--expert-tensor-parallel-size", setup_.expert_tensor_parallel());
    const bool is_flex = experts.dispatch == Dispatch::deepep || experts.dispatch == Dispatch::hybridep;
    add("--moe-token-dispatcher-type", is_flex ? std::string_view("flex") : name_of(experts.dispatch));
    if (is_flex) add("--moe-flex-dispatcher-backend", name_of(experts.dispatch));
    if (experts.shared_overlap) add("--moe-shared-expert-overlap");
    if (experts.micro_batch_overlap) add("--overlap-moe-expert-parallel-comm");
    if (experts.delayed_weight_gradients) add("--delay-wgrad-compute");
    if (experts.capacity_factor > 0.0) add("--moe-expert-capacity-factor", experts.capacity_factor);
  }

  void add_sharding() {
    if (setup_.sharding != Sharding::none) add("--use-distributed-optimizer");
    if (setup_.sharding == Sharding::gradients || setup_.sharding == Sharding::parameters) {
      add("--use-megatron-fsdp");
      add("--data-parallel-sharding-strategy",
          setup_.sharding == Sharding::gradients ? "optim_grads" : "optim_grads_params");
    }
    if (setup_.framework.overlaps_gradients) add("--overlap-grad-reduce");
    if (setup_.parameter_gather == ParameterGather::after_optimizer) return;
    if (!setup_.framework.overlaps_gradients)
      return leave("parameter_gather", name_of(setup_.parameter_gather));
    add("--overlap-param-gather");
    const bool apart = setup_.parameter_gather == ParameterGather::overlapped && setup_.pipeline.stages > 1;
    if (apart) add("--no-align-param-gather");
  }

  void add_recompute() {
    if (setup_.recompute == Recompute::none) return;
    if (setup_.recompute == Recompute::attention) return add("--recompute-granularity", "selective");
    if (setup_.recompute != Recompute::full || setup_.recompute_every > 1) {
      leave("recompute", name_of(setup_.recompute));
      if (setup_.recompute_every > 1) leave("recompute_every", setup_.recompute_every);
      return;
    }
    add("--recompute-granularity", "full");
    add("--recompute-method", "uniform");
    add("--recompute-num-layers", 1);
  }

  void add_precision() {
    add(setup_.dtype == DType::fp16 ? "--fp16" : "--bf16");
    const std::string_view recipe = name_of(setup_.precision.recipe);
    if (recipe == "16bit") return;
    constexpr std::string_view kPrefix = "fp8_";
    if (!recipe.starts_with(kPrefix) && recipe != "mxfp8") return leave("precision", recipe);
    add("--fp8-format", "hybrid");
    add("--fp8-recipe", recipe.starts_with(kPrefix) ? recipe.substr(kPrefix.size()) : recipe);
    if (setup_.precision.parameters) add("--fp8-param-gather");
  }

  const TrainingSetup& setup_;
  const ClusterSpec& cluster_;
  LaunchArguments result_;
};

}  // namespace

std::optional<LaunchArguments> launch_arguments(const TrainingSetup& setup, const ClusterSpec& cluster) {
  const std::string& framework = setup.framework.name;
  if (framework != "megatron-core" && framework != "megatron-rocm") return std::nullopt;
  return Writer(setup, cluster).write();
}

}}  // namespace c3::workloads
