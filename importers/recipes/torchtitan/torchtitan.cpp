#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "importers/recipes/file_keys.hpp"
#include "importers/recipes/recipe_kinds.hpp"
#include "importers/recipes/recipes.hpp"
#include "importers/recipes/torchtitan/table.hpp"

namespace c3 { inline namespace importers {
namespace {

struct TitanReader {
  RecipeKeys& keys;
  const TitanModel* model = nullptr;  ///< nullptr: no preset

  std::int64_t degree(std::string_view name) { return keys.whole(name).value_or(1); }
  std::int64_t stages() { return degree("parallelism.pipeline_parallel_degree"); }
  static std::string why() { return std::string(kTitanDefaults); }
};

const TitanModel* titan_model(RecipeKeys& keys) {
  const std::string name = keys.word("model.name").value_or("llama3"),
                    flavor = keys.word("model.flavor").value_or("");
  // "8B_flex" differs in what computes attention, "17bx16e_irope" in positions.
  const std::string plain = flavor.substr(0, flavor.find('_'));
  const auto* const found = std::ranges::find_if(
      kTitanModels, [&](const TitanModel& one) { return one.name == name && one.flavor == plain; });
  if (found == kTitanModels.end()) {
    for (const char* const key : {"model.name", "model.flavor"})
      keys.ignore(key, "c3sim has no preset of this model: give [model] yourself");
    return nullptr;
  }
  keys.take("model.flavor", "model.use", {std::string(found->preset), {}});
  keys.join("model.name", "model.use");
  return &*found;
}

void titan_batches(TitanReader reader) {
  RecipeKeys& keys = reader.keys;
  const std::int64_t local = keys.whole("training.local_batch_size").value_or(8);
  const std::int64_t piece = keys.whole("parallelism.pipeline_parallel_microbatch_size").value_or(1);
  const bool has_stages = reader.stages() > 1;
  if (has_stages && local % piece != 0)
    keys.refuse("parallelism.pipeline_parallel_microbatch_size",
                fmt::format("{} does not divide the local batch, which is {}", piece, local));
  if (has_stages) {
    keys.take_or_assume({"parallelism.pipeline_parallel_microbatch_size"}, "training.micro_batch", {piece, {}},
                        reader.why());
  } else {
    keys.take_or_assume({"training.local_batch_size"}, "training.micro_batch", {local, {}}, reader.why());
    keys.ignore("parallelism.pipeline_parallel_microbatch_size", "there is one stage");
  }
  const double global = keys.number("training.global_batch_size").value_or(-1);
  if (global >= 1) {
    keys.take("training.global_batch_size", "training.global_batch",
              {keys.whole("training.global_batch_size").value_or(1), {}});
    return keys.ignore("training.local_batch_size",
                       "training.global_batch says how many micro-batches there are");
  }
  keys.ignore("training.global_batch_size", "one local batch a data-parallel rank");
  const std::int64_t count = has_stages ? local / piece : 1;
  if (has_stages)
    keys.take_or_assume({"training.local_batch_size"}, "training.micro_batches", {count, {}}, reader.why());
  else
    keys.assume("training.micro_batches", {count, {}},
                "no gradients are accumulated without global_batch_size");
}

void titan_sharding(TitanReader reader) {
  RecipeKeys& keys = reader.keys;
  const std::int64_t replicas = reader.degree("parallelism.data_parallel_replicate_degree");
  const double written = keys.number("parallelism.data_parallel_shard_degree").value_or(-1);
  if (written != -1 && (written < 1 || written > 1e6))
    keys.refuse("parallelism.data_parallel_shard_degree", "must be -1 or a whole number of 1 or more");
  const auto shards = static_cast<std::int64_t>(written);
  const bool is_sharded = shards != 1;
  keys.take_or_assume({"parallelism.data_parallel_shard_degree"}, "training.sharding",
                      {is_sharded ? "fsdp" : "ddp", {}}, reader.why());
  constexpr std::string_view kReplicas = "parallelism.data_parallel_replicate_degree";
  if (replicas == 1) {
    keys.ignore(kReplicas, "one, as without it");
  } else if (shards > 1) {
    keys.take(kReplicas, "training.shard_group", {shards, {}});
  } else {
    keys.ignore(kReplicas, is_sharded
                               ? "give training.shard_group yourself: data-parallel ranks over this number"
                               : "all data-parallel ranks are replicas");
  }
  static constexpr std::string_view kPolicies[] = {"default", "always", "never"};
  const auto policy = keys.choice("parallelism.fsdp_reshard_after_forward", kPolicies).value_or("default");
  const bool reshards = policy == "default" ? reader.stages() == 1 : policy == "always";
  if (is_sharded)
    keys.take_or_assume({"parallelism.fsdp_reshard_after_forward"}, "training.reshard_after_forward",
                        {reshards, {}}, "without a pipeline alone: " + reader.why());
  keys.ignore("parallelism.fsdp_reshard_after_forward", "nothing is sharded");
  if (shards < 1) return;
  const std::int64_t others = bounded_product({reader.degree("parallelism.tensor_parallel_degree"),
                                               reader.degree("parallelism.context_parallel_degree")});
  keys.fact(fmt::format("{} replicas of {} shards x {} tensor and context parallel x {} stages", replicas,
                        shards, others, reader.stages()));
}

void titan_tensor(TitanReader reader) {
  RecipeKeys& keys = reader.keys;
  const bool is_split = reader.degree("parallelism.tensor_parallel_degree") > 1;
  keys.assume("training.sequence_parallel", {is_split, {}},
              "torchtitan's tensor parallelism divides tokens between blocks");
  constexpr std::string_view kAsync = "parallelism.enable_async_tensor_parallel";
  if (!keys.flag_or(kAsync, false) || !is_split)
    return keys.ignore(kAsync, is_split ? "off" : "there is no tensor parallelism");
  if (!keys.flag_or("compile.enable", false)) keys.refuse(kAsync, "requires compile.enable");
  keys.take(kAsync, "training.tensor_overlap", {"ring", {}});
}

/// Layers of each chunk, as generate_llm_fqn_per_model_part() divides them.
std::string titan_layout(std::int64_t layers, std::int64_t chunks, std::int64_t first, std::int64_t last) {
  const std::int64_t all = layers + first + last;
  std::string layout;
  for (std::int64_t chunk = 0; chunk < chunks; ++chunk) {
    std::int64_t here = all / chunks + (chunk < all % chunks ? 1 : 0);
    if (chunk == 0) here -= first;
    if (chunk == chunks - 1) here -= last;
    layout += fmt::format("{}{}{}{}", chunk > 0 ? "|" : "", chunk == 0 ? "E" : "",
                          here > 0 ? fmt::format("t*{}", here) : "", chunk == chunks - 1 ? "L" : "");
  }
  return layout;
}

/// \returns chunks of a stage
std::int64_t titan_chunks(TitanReader reader, bool is_looped, std::int64_t all_layers) {
  RecipeKeys& keys = reader.keys;
  constexpr std::string_view kEach = "parallelism.pipeline_parallel_layers_per_stage";
  const auto layers_per_chunk = keys.whole(kEach);
  if (!layers_per_chunk) {
    if (is_looped)
      keys.assume("training.virtual_stages", {std::int64_t{2}, {}},
                  "of schedules with several chunks: pipeline_parallel.py @238fa995");
    return is_looped ? 2 : 1;
  }
  if (reader.model == nullptr) {
    keys.ignore(kEach, "how many layers the model has is not known; give training.virtual_stages yourself");
    return 1;
  }
  const std::int64_t chunks = (all_layers + *layers_per_chunk - 1) / *layers_per_chunk;
  const bool fits = chunks % reader.stages() == 0 && (chunks / reader.stages() > 1) == is_looped;
  if (!fits)
    keys.refuse(kEach, fmt::format("makes {} chunks of {} layers, the embedding and the head counted, which do "
                                   "not fit {} stages and the schedule",
                                   chunks, all_layers, reader.stages()));
  keys.take(kEach, "training.virtual_stages", {std::max<std::int64_t>(chunks / reader.stages(), 1), {}});
  return fits ? chunks / reader.stages() : 1;
}

void titan_split(TitanReader reader, std::int64_t chunks) {
  RecipeKeys& keys = reader.keys;
  constexpr std::string_view kFirst = "parallelism.pipeline_parallel_first_stage_less_layers";
  constexpr std::string_view kLast = "parallelism.pipeline_parallel_last_stage_less_layers";
  const std::int64_t first = keys.whole_or(kFirst, 1), last = keys.whole_or(kLast, 1);
  const std::int64_t parts = chunks * reader.stages();
  if (reader.model != nullptr && parts <= 4096) {
    const std::int64_t least = (reader.model->layers + first + last) / parts;
    if (least < 1 || first > least || last > least)
      return keys.refuse("parallelism.pipeline_parallel_degree",
                         fmt::format("{} chunks are too many for {} layers", parts, reader.model->layers));
    return keys.take_or_assume({kFirst, kLast}, "training.pipeline_layout",
                               {titan_layout(reader.model->layers, parts, first, last), {}},
                               "the embedding and the head count as a layer: " + reader.why());
  }
  for (const auto& [name, key, count] : {std::tuple{kFirst, "training.embedding_in_split", first},
                                         std::tuple{kLast, "training.loss_in_split", last}}) {
    if (count > 1)
      keys.not_modelled(name, "an embedding or a head that counts as several layers");
    else
      keys.take_or_assume({name}, key, {count == 1, {}}, reader.why());
  }
}

void titan_pipeline(TitanReader reader) {
  RecipeKeys& keys = reader.keys;
  constexpr std::string_view kSchedule = "parallelism.pipeline_parallel_schedule";
  if (reader.stages() == 1) {
    for (const char* const name :
         {"schedule", "layers_per_stage", "first_stage_less_layers", "last_stage_less_layers"})
      keys.ignore(fmt::format("parallelism.pipeline_parallel_{}", name), "there is one stage");
    return;
  }
  struct Schedule {
    std::string_view theirs, ours;
    bool is_looped;
  };
  static constexpr auto kSchedules = std::to_array<Schedule>({{"1F1B", "1f1b", false},
                                                              {"GPipe", "gpipe", false},
                                                              {"Interleaved1F1B", "interleaved", true},
                                                              {"ZBVZeroBubble", "zb-v", true}});
  static constexpr std::string_view kOthers[] = {"LoopedBFS",
                                                 "InterleavedZeroBubble",
                                                 "DualPipeV",
                                                 "PipelineScheduleSingle",
                                                 "PipelineScheduleMulti",
                                                 "_PipelineScheduleRuntime"};
  const std::string written = keys.word(kSchedule).value_or("1F1B");
  const auto* const found = std::ranges::find(kSchedules, written, &Schedule::theirs);
  if (found == kSchedules.end() && std::ranges::find(kOthers, written) == std::end(kOthers))
    keys.refuse(kSchedule,
                fmt::format("'{}' is no schedule of PyTorch's: 1F1B, GPipe, Interleaved1F1B, ZBVZeroBubble, {}",
                            written, fmt::join(kOthers, ", ")));
  const bool is_looped = found == kSchedules.end() ? written != "PipelineScheduleSingle" : found->is_looped;
  if (found == kSchedules.end())
    keys.not_modelled(kSchedule, fmt::format("{}; taken as {}", written, is_looped ? "interleaved" : "1f1b"));
  else
    keys.take_or_assume({kSchedule}, "training.schedule", {std::string(found->ours), {}}, reader.why());
  const std::int64_t layers =
      reader.model
          ? reader.model->layers + keys.whole_or("parallelism.pipeline_parallel_first_stage_less_layers", 1) +
                keys.whole_or("parallelism.pipeline_parallel_last_stage_less_layers", 1)
          : 0;
  titan_split(reader, titan_chunks(reader, is_looped, layers));
}

void titan_context(TitanReader reader) {
  RecipeKeys& keys = reader.keys;
  constexpr std::string_view kMethod = "parallelism.context_parallel_rotate_method";
  if (reader.degree("parallelism.context_parallel_degree") == 1)
    return keys.ignore(kMethod, "there is no context parallelism");
  static constexpr std::string_view kMethods[] = {"allgather", "alltoall"};
  const bool gathers = keys.choice(kMethod, kMethods).value_or("allgather") == "allgather";
  keys.take_or_assume({kMethod}, "training.context_exchange", {gathers ? "gather" : "ring", {}}, reader.why());
}

void titan_experts(TitanReader reader) {
  RecipeKeys& keys = reader.keys;
  constexpr std::string_view kRanks = "parallelism.expert_parallel_degree",
                             kTensor = "parallelism.expert_tensor_parallel_degree",
                             kBackend = "parallelism.expert_parallel_comm_backend";
  const std::int64_t ranks = reader.degree(kRanks),
                     tensor = reader.degree("parallelism.tensor_parallel_degree");
  const bool has_experts = reader.model == nullptr ? ranks > 1 : reader.model->has_experts;
  if (!has_experts || ranks == 1) {
    for (const std::string_view name : {kRanks, kTensor, kBackend})
      keys.ignore(name, has_experts ? "experts are not divided" : "the model has no experts");
  } else {
    keys.take(kRanks, "training.expert_parallel", {ranks, {}});
    const std::int64_t sharers = keys.whole(kTensor).value_or(1);
    if (sharers != 1 && sharers != tensor)
      keys.refuse(kTensor, fmt::format("must be 1 or tensor_parallel_degree, which is {}", tensor));
    keys.take_or_assume({kTensor}, "training.expert_tensor_parallel", {sharers, {}}, reader.why());
    static constexpr std::string_view kBackends[] = {"standard", "deepep", "hybridep"};
    const auto backend = keys.choice(kBackend, kBackends).value_or("standard");
    keys.take_or_assume({kBackend}, "training.dispatch", {backend == "standard" ? "alltoall" : backend, {}},
                        reader.why());
  }
  if (keys.flag_or("debug.moe_force_load_balance", false) && has_experts)
    keys.take("debug.moe_force_load_balance", "training.routing", {"balanced", {}});
}

void titan_recompute(TitanReader reader) {
  RecipeKeys& keys = reader.keys;
  constexpr std::string_view kMode = "activation_checkpoint.mode",
                             kOption = "activation_checkpoint.selective_ac_option";
  static constexpr std::string_view kModes[] = {"selective", "full", "memory_budget", "none"};
  const std::string mode = keys.choice(kMode, kModes).value_or("selective");
  if (mode == "memory_budget") return keys.not_modelled(kMode, "what a compiler chooses within a budget");
  const std::string option = keys.word(kOption).value_or("2");
  if (mode != "selective") {
    keys.take_or_assume({kMode}, "training.recompute", {mode, {}}, reader.why());
    return keys.ignore(kOption, "counts with mode selective alone");
  }
  if (option == "op") {
    keys.take_or_assume({kMode, kOption}, "training.recompute", {"selective", {}}, reader.why());
    return;
  }
  const auto every = keys.has(kOption) ? keys.whole(kOption) : 2;
  if (!every) return;
  keys.take_or_assume({kMode}, "training.recompute", {"full", {}}, "of every second layer: " + reader.why());
  keys.take_or_assume({kOption}, "training.recompute_every", {*every, {}}, reader.why());
}

void titan_precision(TitanReader reader) {
  RecipeKeys& keys = reader.keys;
  static constexpr std::string_view kTypes[] = {"bfloat16", "float32"};
  const auto short_name = [](const std::string& type) { return type == "float32" ? "fp32" : "bf16"; };
  const std::string products = keys.choice("training.mixed_precision_param", kTypes).value_or("bfloat16");
  keys.take_or_assume({"training.mixed_precision_param"}, "model.dtype", {short_name(products), {}},
                      reader.why());
  const std::string parameters = keys.choice("training.dtype", kTypes).value_or("float32");
  keys.take_or_assume({"training.dtype"}, "framework.parameter_dtype", {short_name(parameters), {}},
                      reader.why());
  keys.take_or_assume({"training.mixed_precision_reduce"}, "framework.gradient_dtype", {"fp32", {}},
                      reader.why());
  const std::vector<std::string> converters = keys.words("model.converters");
  const auto has = [&](std::string_view part) {
    return std::ranges::any_of(converters,
                               [&](const std::string& one) { return one.find(part) != std::string::npos; });
  };
  constexpr std::string_view kFloat8 = "quantize.linear.float8.recipe_name",
                             kGather = "quantize.linear.float8.enable_fsdp_float8_all_gather",
                             kKey = "training.precision";
  static constexpr std::string_view kRecipes[] = {"tensorwise", "rowwise", "rowwise_with_gw_hp"};
  if (has("float8")) {
    const auto recipe = keys.choice(kFloat8, kRecipes).value_or("tensorwise");
    if (recipe != "tensorwise") keys.not_modelled(kFloat8, "scales of rows; taken as one scale a tensor");
    keys.take("model.converters", kKey, {"fp8_tensorwise", {}});
    keys.join(kFloat8, kKey);
    if (const auto gathers = keys.flag(kGather))
      keys.take(kGather, "training.quantized_parameters", {*gathers, {}});
  } else if (has("mx")) {
    keys.take("model.converters", kKey, {"mxfp8", {}});
    keys.join("quantize.linear.mx.recipe_name", kKey);
  }
  for (const std::string_view name : {kFloat8, kGather, std::string_view("quantize.linear.mx.recipe_name")})
    keys.ignore(name, "counts with model.converters alone");
  keys.ignore("model.converters", "none that runs products in 8 bits");
}

void titan_framework(TitanReader reader) {
  RecipeKeys& keys = reader.keys;
  const std::vector<std::string> parts = keys.words("compile.components");
  const bool has_model = parts.empty() || std::ranges::find(parts, "model") != parts.end();
  const bool compiles = keys.flag_or("compile.enable", false) && has_model;
  keys.take_or_assume({"compile.enable", "compile.components"}, "training.framework",
                      {compiles ? "torchtitan" : "pytorch-eager", {}}, reader.why());
  static constexpr std::string_view kKinds[] = {"for-loop", "foreach", "fused"};
  const auto kind = keys.choice("optimizer.implementation", kKinds).value_or("fused");
  keys.take_or_assume({"optimizer.implementation"}, "framework.fused_optimizer", {kind == "fused", {}},
                      reader.why());
  const std::string name = keys.word("optimizer.name").value_or("AdamW");
  if (name == "Adam" || name == "AdamW")
    keys.take_or_assume({"optimizer.name"}, "training.optimizer", {"adam", {}}, reader.why());
  else
    keys.not_modelled("optimizer.name", fmt::format("{}; taken as adam", name));
  keys.take_or_assume({"training.max_norm"}, "framework.clips_gradients",
                      {keys.number("training.max_norm").value_or(1.0) > 0, {}}, reader.why());
  if (keys.flag_or("training.enable_cpu_offload", false)) {
    keys.take("training.enable_cpu_offload", "training.offload_optimizer", {1.0, {}});
    keys.unmodelled({"parameters in the host's memory, copied before each use"});
  }
  keys.ignore("training.enable_cpu_offload", "off");
}

}  // namespace

bool is_torchtitan(std::string_view text) { return recipe_kind_of(text) == RecipeKind::torchtitan; }

FileReading read_torchtitan(const ForeignFile& file) {
  std::vector<RecipeKey> given = keys_of_toml(file);
  name_by_table(given, kTitanRows);
  RecipeKeys keys(file, kTorchtitanFile, std::move(given));
  take_rows(keys, kTitanRows, kTitanDefaults);
  const TitanReader reader{keys, titan_model(keys)};
  titan_batches(reader);
  titan_sharding(reader);
  titan_tensor(reader);
  titan_pipeline(reader);
  titan_context(reader);
  titan_experts(reader);
  titan_recompute(reader);
  titan_precision(reader);
  titan_framework(reader);
  leave_others(keys, kTitanRows, kTitanUnrelated);
  return keys.finish();
}

}}  // namespace c3::importers
