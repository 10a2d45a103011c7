#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "importers/recipes/megatron/dialect.hpp"

namespace c3 { inline namespace importers {
namespace {

void sequence_rule(MegatronReader reader) {
  RecipeKeys& keys = reader.keys;
  const bool is_on = keys.flag_or("sequence_parallel", false);
  const bool is_known = reader.dialect.is_partial ? keys.has("tensor_model_parallel_size")
                                                  : !keys.is_in_doubt("tensor_model_parallel_size");
  const bool is_alone = is_on && reader.tensor() == 1 && is_known;
  if (is_alone && !reader.dialect.drops_sequence_parallel)
    keys.refuse("sequence_parallel", "requires tensor_model_parallel_size above 1");
  if (is_alone) return keys.ignore("sequence_parallel", "turned off without tensor parallelism");
  keys.take_or_assume({"sequence_parallel"}, "training.sequence_parallel", {is_on, {}}, reader.why());
}

void overlap_rule(MegatronReader reader) {
  RecipeKeys& keys = reader.keys;
  const bool is_on = keys.flag_or("tp_comm_overlap", false);
  if (!is_on) return keys.ignore("tp_comm_overlap", "off");
  if (reader.tensor() == 1 && !reader.dialect.drops_sequence_parallel)
    return keys.ignore("tp_comm_overlap", "there is no tensor parallelism");
  if (keys.given("training.sequence_parallel") != "true")
    return keys.refuse("tp_comm_overlap", "requires sequence_parallel and tensor_model_parallel_size above 1");
  keys.take("tp_comm_overlap", "training.tensor_overlap", {"user_buffers", {}});
}

void exchange_rule(MegatronReader reader) {
  RecipeKeys& keys = reader.keys;
  std::vector<std::string> types = keys.words("cp_comm_type");
  const bool is_mixed = std::ranges::any_of(types, [&](const std::string& one) { return one != types[0]; });
  if (reader.context() == 1) {
    keys.ignore("cp_comm_type", "there is no context parallelism");
    return keys.ignore("hierarchical_context_parallel_sizes", "there is no context parallelism");
  }
  if (is_mixed) return keys.not_modelled("cp_comm_type", "exchanges that differ between layers");
  const std::string type = types.empty() ? "p2p" : types[0];
  const std::array<std::pair<std::string_view, std::string_view>, 4> kTypes = {
      {{"p2p", "ring"}, {"a2a", "ulysses"}, {"allgather", "gather"}, {"a2a+p2p", "hierarchical"}}};
  const auto* const found =
      std::ranges::find(kTypes, type, &std::pair<std::string_view, std::string_view>::first);
  if (found == kTypes.end())
    return keys.refuse("cp_comm_type", fmt::format("must be p2p, a2a, allgather or a2a+p2p, not '{}'", type));
  keys.take_or_assume({"cp_comm_type"}, "training.context_exchange", {std::string(found->second), {}},
                      reader.why());
  const std::vector<std::string> sizes = keys.words("hierarchical_context_parallel_sizes");
  if (type != "a2a+p2p") return keys.ignore("hierarchical_context_parallel_sizes", "counts with a2a+p2p alone");
  const bool is_number = !sizes.empty() && !sizes[0].empty() && sizes[0].size() < 7 &&
                         std::ranges::all_of(sizes[0], [](char c) { return c >= '0' && c <= '9'; });
  if (!is_number)
    return keys.refuse("hierarchical_context_parallel_sizes",
                       "must give two sizes where cp_comm_type is a2a+p2p");
  keys.take("hierarchical_context_parallel_sizes", "training.context_inner",
            {std::int64_t{std::stol(sizes[0])}, {}});
}

/// With `block`, the first layers of a stage.
void recompute_layers(MegatronReader reader) {
  RecipeKeys& keys = reader.keys;
  static constexpr std::string_view kMethods[] = {"uniform", "block"};
  const auto method = keys.choice("recompute_method", kMethods);
  const auto count = keys.whole("recompute_num_layers");
  if (!method) return keys.ignore("recompute_num_layers", "counts with recompute_method alone");
  if (*method == "uniform") {
    keys.ignore("recompute_method", "every layer is recomputed");
    if (count && *count > 1)
      return keys.not_modelled("recompute_num_layers",
                               fmt::format("one kept input for {} layers; here each keeps its own", *count));
    return keys.ignore("recompute_num_layers", "each layer keeps its input");
  }
  const auto layers = keys.whole("num_layers");
  if (!layers || !count)
    return keys.not_modelled("recompute_method",
                             "the first layers of a stage, of a model that is not in this file; give "
                             "training.recompute_every yourself");
  const auto chunks = keys.given("training.virtual_stages");
  const std::int64_t parts = reader.pipeline() * (chunks.empty() || chunks.size() > 3 ? 1 : std::stol(chunks));
  const std::int64_t layers_per_chunk = std::max<std::int64_t>(*layers / std::max<std::int64_t>(parts, 1), 1);
  const std::int64_t every = std::max<std::int64_t>((layers_per_chunk + *count / 2) / *count, 1);
  keys.take("recompute_num_layers", "training.recompute_every", {std::min<std::int64_t>(every, 4096), {}});
  keys.join("recompute_method", "training.recompute_every");
  keys.fact(fmt::format("the first {} of {} layers of a chunk are recomputed: here one of {}",
                        std::min(*count, layers_per_chunk), layers_per_chunk, every));
}

void selective_parts(MegatronReader reader) {
  RecipeKeys& keys = reader.keys;
  const std::vector<std::string> parts = keys.words("recompute_modules");
  const bool has_attention = parts.empty() || std::ranges::find(parts, "core_attn") != parts.end();
  if (keys.has("recompute_method"))
    keys.refuse("recompute_method", "is not supported with selective recomputation");
  const std::string ours = has_attention ? "attention" : "none";
  keys.take_or_assume({"recompute_granularity", "recompute_activations"}, "training.recompute", {ours, {}}, "");
  const bool is_only = parts.size() == 1 && has_attention;
  if (is_only) return keys.join("recompute_modules", "training.recompute");
  keys.not_modelled("recompute_modules",
                    fmt::format("recomputation of parts of a layer: {}", fmt::join(parts, ", ")));
}

void recompute_rule(MegatronReader reader) {
  RecipeKeys& keys = reader.keys;
  static constexpr std::string_view kGrains[] = {"full", "selective"};
  std::string grain = keys.choice("recompute_granularity", kGrains).value_or("");
  if (keys.flag_or("recompute_activations", false)) grain = "selective";
  if (grain == "selective") return selective_parts(reader);
  if (grain == "full") {
    keys.take("recompute_granularity", "training.recompute", {"full", {}});
    recompute_layers(reader);
  } else if (!keys.is_in_doubt("recompute_granularity")) {
    keys.assume("training.recompute", {"none", {}}, reader.why());
  }
  for (const char* const name :
       {"recompute_activations", "recompute_method", "recompute_num_layers", "recompute_modules"})
    keys.ignore(name, grain.empty() ? "nothing is recomputed" : "all of a layer is recomputed");
}

void graphs_rule(MegatronReader reader) {
  RecipeKeys& keys = reader.keys;
  constexpr std::string_view kKey = "training.graphs";
  static constexpr std::string_view kKinds[] = {"none", "local", "transformer_engine", "full_iteration"};
  std::string kind = keys.choice("cuda_graph_impl", kKinds).value_or("none");
  const bool is_older = keys.flag_or("enable_cuda_graph", false);
  if (is_older && kind != "none") keys.refuse("enable_cuda_graph", "cannot be combined with cuda_graph_impl");
  if (is_older) kind = "local";
  const std::vector<std::string> parts = keys.words("cuda_graph_modules");
  const bool is_step = kind == "full_iteration" || (!parts.empty() && parts[0] == "full_iteration");
  const bool is_part = !parts.empty() && !is_step && parts[0] != "full";
  if (kind == "none") {
    keys.ignore("cuda_graph_impl", "off");
    keys.ignore("enable_cuda_graph", "off");
    return keys.ignore("cuda_graph_modules", "no graphs");
  }
  if (is_part)
    return keys.not_modelled("cuda_graph_modules",
                             fmt::format("graphs of parts of a layer: {}", fmt::join(parts, ", ")));
  keys.take_or_assume({"cuda_graph_impl", "enable_cuda_graph", "cuda_graph_modules"}, kKey,
                      {is_step ? "step" : "layers", {}}, "");
}

void optimizer_rule(MegatronReader reader) {
  RecipeKeys& keys = reader.keys;
  const std::string kind = keys.word("optimizer").value_or("adam");
  const bool is_adam = kind.ends_with("adam") || kind.ends_with("adamw");  // NeMo: distributed_fused_adam
  if (is_adam || kind == "sgd")
    keys.take_or_assume({"optimizer"}, "training.optimizer", {is_adam ? "adam" : kind, {}}, reader.why());
  else
    keys.not_modelled("optimizer", fmt::format("{}; taken as adam", kind));
  const bool is_offloaded = keys.flag_or("optimizer_cpu_offload", false);
  if (is_offloaded) {
    const double share = keys.number("optimizer_offload_fraction").value_or(1.0);
    keys.take("optimizer_cpu_offload", "training.offload_optimizer", {share, {}});
    keys.join("optimizer_offload_fraction", "training.offload_optimizer");
  }
  keys.ignore("optimizer_cpu_offload", "off");
  keys.ignore("optimizer_offload_fraction", "counts with optimizer_cpu_offload alone");
  if (const std::int64_t layers = keys.whole_or("cpu_offloading_num_layers", 0); layers > 0)
    keys.take("cpu_offloading_num_layers", "training.offload_layers", {layers, {}});
  keys.ignore("cpu_offloading_num_layers", "none");
}

void loss_rule(MegatronReader reader) {
  RecipeKeys& keys = reader.keys;
  const bool is_fused = keys.flag_or("cross_entropy_loss_fusion", false);
  static constexpr std::string_view kKinds[] = {"native", "te", "linear"};
  const auto kind = keys.choice("cross_entropy_fusion_impl", kKinds).value_or("native");
  const char* const ours = !is_fused ? "separate" : kind == "te" ? "in_place" : "fused";
  keys.take_or_assume({"cross_entropy_loss_fusion"}, "framework.cross_entropy", {ours, {}}, reader.why());
  if (is_fused)
    keys.join("cross_entropy_fusion_impl", "framework.cross_entropy");
  else
    keys.ignore("cross_entropy_fusion_impl", "counts with cross_entropy_loss_fusion alone");
}

void framework_rule(MegatronReader reader) {
  RecipeKeys& keys = reader.keys;
  const double attention = keys.number("attention_dropout").value_or(0.1),
               hidden = keys.number("hidden_dropout").value_or(0.1);
  keys.take_or_assume({"hidden_dropout", "attention_dropout"}, "framework.dropout",
                      {attention > 0 || hidden > 0, {}}, "0.1: " + reader.why());
  keys.take_or_assume({"clip_grad"}, "framework.clips_gradients",
                      {keys.number("clip_grad").value_or(1.0) > 0, {}}, "1.0: " + reader.why());
  if (const auto fuses = keys.flag("gradient_accumulation_fusion"))
    keys.take("gradient_accumulation_fusion", "framework.fused_accumulation", {*fuses, {}});
  if (const auto queues = keys.whole("CUDA_DEVICE_MAX_CONNECTIONS"))
    keys.take("CUDA_DEVICE_MAX_CONNECTIONS", "framework.hardware_queues", {*queues, {}});
  static constexpr std::string_view kBackends[] = {"auto", "flash", "fused", "unfused", "local"};
  const auto backend = keys.choice("attention_backend", kBackends);
  if (backend == "unfused" || backend == "local")
    keys.take("attention_backend", "framework.attention", {"products", {}});
  if (backend == "fused") keys.take("attention_backend", "framework.attention", {"cudnn", {}});
  keys.ignore("attention_backend", "the newest kernel that there is, as the framework's preset has it");
}

}  // namespace

void megatron_step(MegatronReader reader) {
  sequence_rule(reader);
  overlap_rule(reader);
  exchange_rule(reader);
  recompute_rule(reader);
  graphs_rule(reader);
  optimizer_rule(reader);
  loss_rule(reader);
  framework_rule(reader);
}

}}  // namespace c3::importers
