#include <fmt/format.h>

#include <algorithm>

#include "importers/recipes/megatron/dialect.hpp"
#include "importers/recipes/megatron/stage_layout.hpp"

namespace c3 { inline namespace importers {
namespace {

constexpr std::string_view kOfPipelines[] = {
    "virtual_pipeline_model_parallel_size", "num_layers_per_virtual_pipeline_stage",
    "pipeline_model_parallel_layout",       "decoder_first_pipeline_num_layers",
    "decoder_last_pipeline_num_layers",     "account_for_embedding_in_pipeline_split",
    "account_for_loss_in_pipeline_split",   "overlap_p2p_comm",
    "overlap_p2p_comm_warmup_flush",        "microbatch_group_size_per_vp_stage",
    "defer_embedding_wgrad_compute",        "wgrad_deferral_limit"};

std::int64_t counted_layers(RecipeKeys& keys) {
  return keys.whole_or("num_layers", 0) +
         (keys.flag_or("account_for_embedding_in_pipeline_split", false) ? 1 : 0) +
         (keys.flag_or("account_for_loss_in_pipeline_split", false) ? 1 : 0);
}

std::int64_t layout_rule(MegatronReader reader) {
  RecipeKeys& keys = reader.keys;
  constexpr std::string_view kLayout = "pipeline_model_parallel_layout";
  const auto written = keys.word(kLayout);
  if (!written) return 1;
  const auto layout = stage_layout(*written);
  const std::int64_t stages = reader.pipeline();
  if (!layout) {
    keys.refuse(kLayout,
                fmt::format("'{}' is no layout that c3sim reads: E, t, L, |, (..) and a repetition such as t*3",
                            *written));
    return 1;
  }
  const auto layers = keys.whole("num_layers");
  if (layers && *layers != layout->layers)
    keys.refuse(kLayout, fmt::format("has {} layers, and num_layers is {}", layout->layers, *layers));
  if (layout->chunks % stages != 0) {
    keys.refuse(kLayout,
                fmt::format("has {} chunks, which do not divide among {} stages", layout->chunks, stages));
    return 1;
  }
  const std::int64_t chunks = layout->chunks / stages;
  keys.take(kLayout, "training.pipeline_layout", {*written, {}});
  if (chunks > 1)
    keys.assume("training.virtual_stages", {chunks, {}}, "the chunks that pipeline_model_parallel_layout has");
  return chunks;
}

/// \returns chunks of a stage
std::int64_t chunks_rule(MegatronReader reader) {
  RecipeKeys& keys = reader.keys;
  const std::int64_t stages = reader.pipeline();
  if (const auto chunks = keys.whole("virtual_pipeline_model_parallel_size")) {
    keys.take("virtual_pipeline_model_parallel_size", "training.virtual_stages", {*chunks, {}});
    return *chunks;
  }
  const auto layers_per_chunk = keys.whole("num_layers_per_virtual_pipeline_stage");
  if (!layers_per_chunk) return layout_rule(reader);
  const std::int64_t layers = counted_layers(keys);
  if (!keys.has("num_layers")) {
    keys.ignore("num_layers_per_virtual_pipeline_stage",
                "how many layers the model has is not in this file; give training.virtual_stages yourself");
    return 1;
  }
  if (layers % stages != 0 || layers / stages % *layers_per_chunk != 0) {
    keys.refuse("num_layers_per_virtual_pipeline_stage",
                fmt::format("chunks of {} layers do not divide the {} layers of {} stages", *layers_per_chunk,
                            layers, stages));
    return 1;
  }
  keys.take("num_layers_per_virtual_pipeline_stage", "training.virtual_stages",
            {layers / stages / *layers_per_chunk, {}});
  return layers / stages / *layers_per_chunk;
}

void split_rule(MegatronReader reader, std::int64_t chunks) {
  RecipeKeys& keys = reader.keys;
  const auto first = keys.whole("decoder_first_pipeline_num_layers"),
             last = keys.whole("decoder_last_pipeline_num_layers");
  if (first) keys.take("decoder_first_pipeline_num_layers", "training.first_stage_layers", {*first, {}});
  if (last) keys.take("decoder_last_pipeline_num_layers", "training.last_stage_layers", {*last, {}});
  for (const auto& [name, key] :
       {std::pair{"account_for_embedding_in_pipeline_split", "training.embedding_in_split"},
        std::pair{"account_for_loss_in_pipeline_split", "training.loss_in_split"}})
    if (const auto flag = keys.flag(name)) keys.take(name, key, {*flag, {}});
  const bool is_even = !first && !last && chunks == 1 && !keys.has("pipeline_model_parallel_layout");
  if (is_even && keys.has("num_layers") && counted_layers(keys) % reader.pipeline() != 0)
    keys.refuse("num_layers", fmt::format("{} layers do not divide among {} stages", counted_layers(keys),
                                          reader.pipeline()));
}

void messages_rule(MegatronReader reader, std::int64_t chunks) {
  RecipeKeys& keys = reader.keys;
  constexpr std::string_view kKey = "training.pipeline_messages";
  if (chunks == 1) {
    for (const char* const name : {"overlap_p2p_comm", "overlap_p2p_comm_warmup_flush"})
      keys.ignore(name, "without virtual stages messages do not overlap");
    return;
  }
  const bool overlaps = keys.flag_or("overlap_p2p_comm", reader.dialect.overlaps_pipeline);
  const bool always = keys.flag_or("overlap_p2p_comm_warmup_flush", false);
  if (!overlaps && reader.pipeline() < 3)
    keys.refuse("overlap_p2p_comm",
                fmt::format("without it virtual stages require more than 2 stages, not {}", reader.pipeline()));
  if (always)
    return keys.take_or_assume({"overlap_p2p_comm_warmup_flush", "overlap_p2p_comm"}, kKey, {"overlapped", {}},
                               "");
  keys.take_or_assume({"overlap_p2p_comm"}, kKey, {overlaps ? "steady" : "batched", {}}, reader.why());
  keys.ignore("overlap_p2p_comm_warmup_flush", "off");
}

void deferral_rule(MegatronReader reader) {
  RecipeKeys& keys = reader.keys;
  if (!keys.flag_or("defer_embedding_wgrad_compute", false)) {
    keys.ignore("defer_embedding_wgrad_compute", "off");
    return keys.ignore("wgrad_deferral_limit", "defer_embedding_wgrad_compute is off");
  }
  const std::int64_t limit = keys.whole_or("wgrad_deferral_limit", 0);
  constexpr std::int64_t kAll = 65'536;  // more micro-batches than there are
  keys.take("defer_embedding_wgrad_compute", "training.deferred_head_gradients",
            {limit > 0 ? std::min(limit, kAll) : kAll, {}});
  keys.join("wgrad_deferral_limit", "training.deferred_head_gradients");
}

}  // namespace

void megatron_pipeline(MegatronReader reader) {
  RecipeKeys& keys = reader.keys;
  const std::string_view given[] = {"virtual_pipeline_model_parallel_size",
                                    "num_layers_per_virtual_pipeline_stage", "pipeline_model_parallel_layout"};
  if (std::ranges::count_if(given, [&](std::string_view name) { return keys.has(name); }) > 1)
    keys.refuse(
        "virtual_pipeline_model_parallel_size",
        "at most one of num_virtual_stages_per_pipeline_rank, num_layers_per_virtual_pipeline_stage and "
        "pipeline_model_parallel_layout may be given");
  if (reader.pipeline() < 2) {
    for (const std::string_view name : kOfPipelines)
      keys.ignore(name, "there is one stage");
    return;
  }
  const std::int64_t chunks = chunks_rule(reader);
  split_rule(reader, chunks);
  messages_rule(reader, chunks);
  deferral_rule(reader);
  if (const auto group = keys.whole("microbatch_group_size_per_vp_stage")) {
    if (chunks > 1)
      keys.take("microbatch_group_size_per_vp_stage", "training.micro_batch_group", {*group, {}});
    else
      keys.ignore("microbatch_group_size_per_vp_stage", "there are no virtual stages");
  }
}

}}  // namespace c3::importers
