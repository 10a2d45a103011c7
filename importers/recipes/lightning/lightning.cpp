#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "importers/recipes/file_keys.hpp"
#include "importers/recipes/key_table.hpp"
#include "importers/recipes/recipe_kinds.hpp"
#include "importers/recipes/recipes.hpp"

namespace c3 { inline namespace importers {
namespace {

constexpr std::string_view kLightningDefaults =
    "Lightning's default (src/lightning/pytorch/trainer/trainer.py @000699b5)";

// Lightning-AI/pytorch-lightning @000699b5: src/lightning/pytorch/trainer/trainer.py, and the documentation of
// FSDPStrategy (lightning.ai), as lightning's command line writes them. What DeepSpeedStrategy leaves out was
// not looked up.
constexpr auto kLightningRows = std::to_array<RecipeRow>({
    {"trainer.strategy|trainer.strategy.class_path", As::rule, "training.sharding",
     "ddp, fsdp, deepspeed_stage_1 to _3, or a class"},
    {"trainer.strategy.init_args.sharding_strategy", As::rule, "training.sharding",
     "of FSDPStrategy: FULL_SHARD by default"},
    {"trainer.strategy.init_args.stage", As::rule, "training.sharding",
     "of DeepSpeedStrategy: 2 where the file says none"},
    {"trainer.strategy.init_args.tensor_parallel_size", As::whole, "training.tensor_parallel",
     "of ModelParallelStrategy"},
    {"trainer.strategy.init_args.cpu_offload", As::rule, "training.offload_optimizer", "1.0"},
    {"trainer.num_nodes", As::whole, "nodes", "nodes", "1"},
    {"trainer.precision", As::rule, "model.dtype",
     "32-true by default; bf16-mixed, 16-mixed, bf16-true, transformer-engine"},
    {"trainer.accumulate_grad_batches", As::whole, "training.micro_batches", "micro-batches of a step", "1"},
    {"trainer.gradient_clip_val", As::rule, "framework.clips_gradients", "not by default"},
    {"data.init_args.batch_size|data.batch_size|model.init_args.batch_size", As::whole, "training.micro_batch",
     "sequences of a GPU at once"},
    {"trainer.devices", As::unrelated, "the system says how many GPUs a node has"},
});

constexpr auto kLightningUnrelated = std::to_array<UnrelatedKeys>({
    {"trainer.strategy.", "details of the strategy"},
    {"trainer.", "details of Lightning's loop"},
    {"seed_everything", "how weights begin"},
    {"data", "data"},
    {"model", "a model of one's own: give [model] yourself"},
    {"optimizer", "numbers of the optimizer"},
    {"lr_scheduler", "numbers of the optimizer"},
    {"ckpt_path", "checkpoints"},
    {"config", "other files"},
});

struct LightningSharding {
  std::string ours = "ddp";
  bool reshards = true;
};

bool names_part(const std::string& text, std::string_view word) { return text.find(word) != std::string::npos; }

LightningSharding lightning_fsdp(RecipeKeys& keys) {
  static constexpr std::string_view kStrategies[] = {"FULL_SHARD", "SHARD_GRAD_OP", "NO_SHARD", "HYBRID_SHARD"};
  const auto strategy =
      keys.choice("trainer.strategy.init_args.sharding_strategy", kStrategies).value_or("FULL_SHARD");
  if (strategy == "HYBRID_SHARD")
    keys.fact("HYBRID_SHARD divides parameters within nodes: give training.shard_group");
  return {strategy == "NO_SHARD" ? "ddp" : "fsdp", strategy != "SHARD_GRAD_OP"};
}

LightningSharding lightning_zero(RecipeKeys& keys, const std::string& name) {
  static constexpr std::string_view kOurs[] = {"ddp", "zero1", "zero2", "fsdp"};
  const std::size_t place = name.find("stage_");
  const bool is_named =
      place != std::string::npos && place + 6 < name.size() && name[place + 6] >= '1' && name[place + 6] <= '3';
  const std::int64_t stage =
      is_named ? name[place + 6] - '0' : keys.whole("trainer.strategy.init_args.stage", 0).value_or(2);
  if (stage <= 3) return {std::string(kOurs[stage])};
  keys.refuse("trainer.strategy.init_args.stage", "must be 0, 1, 2 or 3");
  return {};
}

void lightning_strategy(RecipeKeys& keys) {
  constexpr std::string_view kStrategy = "trainer.strategy";
  const std::string name = keys.word(kStrategy).value_or("auto");
  LightningSharding sharding;
  if (names_part(name, "fsdp") || names_part(name, "FSDP"))
    sharding = lightning_fsdp(keys);
  else if (names_part(name, "deepspeed") || names_part(name, "DeepSpeed"))
    sharding = lightning_zero(keys, name);
  else if (names_part(name, "ModelParallel"))
    sharding.ours = "fsdp";
  else if (!names_part(name, "ddp") && !names_part(name, "DDP") && name != "auto")
    keys.refuse(
        kStrategy,
        fmt::format("'{}' is no strategy that c3sim knows: ddp, fsdp, deepspeed, ModelParallelStrategy", name));
  keys.take_or_assume(
      {kStrategy, "trainer.strategy.init_args.sharding_strategy", "trainer.strategy.init_args.stage"},
      "training.sharding", {sharding.ours, {}}, std::string(kLightningDefaults));
  if (!sharding.reshards)
    keys.assume("training.reshard_after_forward", {false, {}}, "SHARD_GRAD_OP keeps parameters between passes");
  constexpr std::string_view kOffload = "trainer.strategy.init_args.cpu_offload";
  if (keys.flag_or(kOffload, false)) {
    keys.take(kOffload, "training.offload_optimizer", {1.0, {}});
    keys.unmodelled({"parameters in the host's memory, copied before each use"});
  }
  keys.ignore(kOffload, "off");
}

void lightning_precision(RecipeKeys& keys) {
  constexpr std::string_view kPrecision = "trainer.precision";
  const std::string name = keys.word(kPrecision).value_or("32-true");
  const bool is_engine = name.starts_with("transformer-engine");
  const bool is_half = name.starts_with("16") || name == "transformer-engine-float16";
  const char* const dtype = is_half ? "fp16" : name.starts_with("bf16") || is_engine ? "bf16" : "fp32";
  keys.take_or_assume({kPrecision}, "model.dtype", {dtype, {}}, std::string(kLightningDefaults));
  if (is_engine) keys.take(kPrecision, "training.precision", {"fp8_delayed", {}});
  const double norm = keys.number("trainer.gradient_clip_val").value_or(0.0);
  keys.take_or_assume({"trainer.gradient_clip_val"}, "framework.clips_gradients", {norm > 0, {}},
                      std::string(kLightningDefaults));
}

}  // namespace

bool is_lightning(std::string_view text) { return recipe_kind_of(text) == RecipeKind::lightning; }

FileReading read_lightning(const ForeignFile& file) {
  std::vector<RecipeKey> given = keys_of_yaml(file);
  name_by_table(given, kLightningRows);
  RecipeKeys keys(file, kLightningFile, std::move(given));
  take_rows(keys, kLightningRows, kLightningDefaults);
  lightning_strategy(keys);
  lightning_precision(keys);
  keys.assume("training.framework", {"pytorch-eager", {}}, "the program's model is not in this file");
  keys.fact("the file says nothing of the sequence: give training.sequence");
  leave_others(keys, kLightningRows, kLightningUnrelated);
  return keys.finish();
}

}}  // namespace c3::importers
