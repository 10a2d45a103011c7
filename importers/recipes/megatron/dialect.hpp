#pragma once
/// Megatron's arguments, read from whichever file gives them.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "importers/recipes/recipe_keys.hpp"

namespace c3 { inline namespace importers {

/// How frameworks that run Megatron-Core differ.
struct MegatronDialect {
  std::string_view what;       ///< "arguments of Megatron-LM"
  std::string_view framework;  ///< preset
  std::string_view defaults;   ///< "Megatron-LM's default (..)": where what the file leaves out comes from
  bool drops_sequence_parallel = false;  ///< without tensor parallelism, in place of refusing it
  bool overlaps_pipeline = true;         ///< overlap_p2p_comm unless the file says otherwise
  bool groups_queries_by_flag = false;   ///< num_query_groups counts with group_query_attention alone
  bool has_preset_defaults = false;      ///< what the file leaves out of [framework], the preset says
  bool is_partial = false;  ///< the file lies on a recipe in Python, which may say what it leaves out
  std::int64_t latent_kv_rank = 512;
  std::int64_t latent_query_rank = 512;  ///< 0: none
};

/// Keys of an experiment. \param keys by any spelling of Megatron's tables
/// \throws ConfigError for what the framework itself refuses
FileReading read_megatron(const ForeignFile& file, std::vector<RecipeKey> keys, const MegatronDialect& dialect);

/// One reader's work in progress.
struct MegatronReader {
  RecipeKeys& keys;
  const MegatronDialect& dialect;

  std::int64_t tensor() { return degree("tensor_model_parallel_size"); }
  std::int64_t pipeline() { return degree("pipeline_model_parallel_size"); }
  std::int64_t context() { return degree("context_parallel_size"); }
  std::int64_t degree(std::string_view name) { return keys.whole(name).value_or(1); }
  std::string why() const { return std::string(dialect.defaults); }
};

// Rules, by what they give. Each takes the keys that the tables call As::rule.
void megatron_layout(MegatronReader reader);     ///< nodes, batches, and whether GPUs divide
void megatron_pipeline(MegatronReader reader);   ///< chunks of stages, and their messages
void megatron_model(MegatronReader reader);      ///< [model]
void megatron_experts(MegatronReader reader);    ///< [model.experts], and how tokens come to experts
void megatron_precision(MegatronReader reader);  ///< types of layers, products and gradients
void megatron_sharding(MegatronReader reader);   ///< what data-parallel ranks divide
void megatron_step(MegatronReader reader);       ///< recomputation, overlap, offloading, graphs

/// Whether the file describes a model, and not only how one is trained.
bool describes_megatron_model(const RecipeKeys& keys);

/// GPUs of all nodes; absent where the file does not say.
std::optional<std::int64_t> megatron_gpus(MegatronReader reader);

}}  // namespace c3::importers
