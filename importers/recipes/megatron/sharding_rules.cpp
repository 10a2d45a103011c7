#include <fmt/format.h>

#include "importers/recipes/megatron/dialect.hpp"

namespace c3 { inline namespace importers {
namespace {

constexpr std::string_view kShardingKey = "training.sharding";

std::string ours_of_strategy(const std::string& strategy) {
  if (strategy == "no_shard") return "ddp";
  if (strategy == "optim") return "zero1";
  return strategy == "optim_grads" ? "zero2" : "fsdp";
}

void torch_fsdp(MegatronReader reader) {
  RecipeKeys& keys = reader.keys;
  if (reader.pipeline() > 1) keys.refuse("use_torch_fsdp2", "is not supported with pipeline parallelism");
  if (keys.flag_or("use_distributed_optimizer", false))
    keys.refuse("use_torch_fsdp2", "is not supported with use_distributed_optimizer");
  if (reader.degree("expert_model_parallel_size") > 1)
    keys.refuse("use_torch_fsdp2", "is not supported with expert parallelism");
  keys.take("use_torch_fsdp2", kShardingKey, {"fsdp", {}});
  if (const auto reshards = keys.flag("torch_fsdp2_reshard_after_forward"))
    keys.take("torch_fsdp2_reshard_after_forward", "training.reshard_after_forward", {*reshards, {}});
}

/// \returns ours
std::string sharding_rule(MegatronReader reader) {
  RecipeKeys& keys = reader.keys;
  static constexpr std::string_view kStrategies[] = {"no_shard", "optim", "optim_grads", "optim_grads_params"};
  const auto strategy = keys.choice("data_parallel_sharding_strategy", kStrategies);
  if (keys.flag_or("use_torch_fsdp2", false)) {
    torch_fsdp(reader);
    return "fsdp";
  }
  if (keys.flag_or("use_megatron_fsdp", false)) {
    const std::string ours = ours_of_strategy(strategy.value_or("optim_grads_params"));
    keys.take_or_assume({"data_parallel_sharding_strategy", "use_megatron_fsdp", "use_distributed_optimizer"},
                        kShardingKey, {ours, {}}, "");
    if (!strategy) keys.take("use_megatron_fsdp", kShardingKey, {ours, {}});
    return ours;
  }
  keys.ignore("data_parallel_sharding_strategy", "counts with use_megatron_fsdp alone");
  const bool is_named = keys.word("optimizer").value_or("").starts_with("distributed");  // NeMo
  const bool is_distributed = keys.flag_or("use_distributed_optimizer", is_named);
  const std::string ours = is_distributed ? "zero1" : "ddp";
  keys.take_or_assume({"use_distributed_optimizer"}, kShardingKey, {ours, {}},
                      is_named ? "the optimizer's name says so" : reader.why());
  return ours;
}

void gather_rule(MegatronReader reader, const std::string& sharding) {
  RecipeKeys& keys = reader.keys;
  constexpr std::string_view kKey = "training.parameter_gather";
  const bool overlaps = keys.flag_or("overlap_param_gather", false);
  const bool is_zero = sharding == "zero1" || sharding == "zero2";
  if (overlaps && sharding == "ddp") keys.refuse("overlap_param_gather", "requires use_distributed_optimizer");
  if (overlaps && !keys.flag_or("overlap_grad_reduce", false) && sharding != "ddp")
    keys.refuse("overlap_param_gather", "requires overlap_grad_reduce");
  if (is_zero) {
    const bool has_chunks =
        keys.gives("training.virtual_stages") && keys.given("training.virtual_stages") != "1";
    const bool is_aligned = has_chunks && keys.flag_or("align_param_gather", true);
    const char* const ours = !overlaps ? "after_optimizer" : is_aligned ? "aligned" : "overlapped";
    keys.take_or_assume({"overlap_param_gather"}, kKey, {ours, {}}, reader.why());
  }
  keys.ignore("overlap_param_gather", sharding == "fsdp" ? "fsdp gathers a layer ahead" : "off");
  if (overlaps && is_zero)
    keys.join("align_param_gather", kKey);
  else
    keys.ignore("align_param_gather", "counts with overlap_param_gather alone");
}

void instances_rule(MegatronReader reader) {
  RecipeKeys& keys = reader.keys;
  const auto instances = keys.whole("num_distributed_optimizer_instances");
  if (!instances) return;
  if (*instances == 1) return keys.ignore("num_distributed_optimizer_instances", "one, as without it");
  const auto gpus = megatron_gpus(reader);
  const std::int64_t degrees = bounded_product({reader.tensor(), reader.pipeline(), reader.context()});
  if (!gpus)
    return keys.ignore(
        "num_distributed_optimizer_instances",
        fmt::format("how many GPUs there are is not in this file; give training.shard_group yourself: "
                    "data-parallel ranks over {}",
                    *instances));
  const std::int64_t data = *gpus / degrees;
  if (data % *instances != 0 || data / *instances < 2)
    return keys.refuse(
        "num_distributed_optimizer_instances",
        fmt::format("{} instances do not divide {} data-parallel ranks into groups of two or more", *instances,
                    data));
  keys.take("num_distributed_optimizer_instances", "training.shard_group", {data / *instances, {}});
}

void bucket_rule(MegatronReader reader, const std::string& sharding) {
  RecipeKeys& keys = reader.keys;
  const bool has_buckets = sharding != "fsdp";
  const bool overlaps = keys.flag_or("overlap_grad_reduce", false);
  if (has_buckets)
    keys.take_or_assume({"overlap_grad_reduce"}, "framework.overlaps_gradients", {overlaps, {}}, reader.why());
  keys.ignore("overlap_grad_reduce", "fsdp reduces a layer's gradients beside the next one");
  const auto numbers = keys.whole("bucket_size", 1);
  if (!numbers) return;
  if (!has_buckets) return keys.ignore("bucket_size", "fsdp has no buckets");
  const std::int64_t bytes = *numbers * (keys.given("framework.gradient_dtype") == "\"fp32\"" ? 4 : 2);
  const std::string size = fmt::format("{} B", bytes);
  keys.take("bucket_size", "framework.bucket", {size, {}});
  keys.assume("framework.first_bucket", {size, {}}, "as framework.bucket");
  keys.assume("framework.per_rank_bucket", {"0 B", {}},
              "the rule of ranks holds where the file gives no bucket_size");
}

}  // namespace

void megatron_sharding(MegatronReader reader) {
  const std::string sharding = sharding_rule(reader);
  gather_rule(reader, sharding);
  instances_rule(reader);
  bucket_rule(reader, sharding);
}

}}  // namespace c3::importers
