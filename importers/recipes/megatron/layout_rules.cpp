#include <fmt/format.h>

#include "importers/recipes/megatron/dialect.hpp"

namespace c3 { inline namespace importers {
namespace {

void layout_facts(MegatronReader reader, std::int64_t gpus, std::int64_t data) {
  reader.keys.fact(fmt::format("{} GPUs: {} tensor x {} context x {} data x {} pipeline parallel", gpus,
                               reader.tensor(), reader.context(), data, reader.pipeline()));
}

void check_batches(MegatronReader reader, std::int64_t data) {
  RecipeKeys& keys = reader.keys;
  const auto micro = keys.whole("micro_batch_size"), global = keys.whole("global_batch_size");
  if (!micro || !global) return;
  const std::int64_t sequences_per_pass = bounded_product({*micro, data});
  if (*global % sequences_per_pass != 0)
    return keys.refuse(
        "global_batch_size",
        fmt::format("{} is no multiple of {} sequences of a micro-batch times {} data-parallel ranks", *global,
                    *micro, data));
  keys.fact(fmt::format("{} micro-batches of {} sequences on each data-parallel rank",
                        *global / sequences_per_pass, *micro));
}

void nodes_rule(MegatronReader reader) {
  RecipeKeys& keys = reader.keys;
  if (const auto nodes = keys.whole("nnodes")) keys.take("nnodes", "nodes", {*nodes, {}});
  for (const char* const name : {"nproc_per_node", "world_size"})
    keys.ignore(name, "the system says how many GPUs a node has");
}

void batch_rule(MegatronReader reader) {
  RecipeKeys& keys = reader.keys;
  if (const auto global = keys.whole("global_batch_size"))
    keys.take("global_batch_size", "training.global_batch", {*global, {}});
  else if (!keys.is_in_doubt("global_batch_size") && keys.has("micro_batch_size"))
    keys.assume("training.micro_batches", {std::int64_t{1}, {}},
                "without global_batch_size, one micro-batch a data-parallel rank: " + reader.why());
}

void context_rule(MegatronReader reader) {
  RecipeKeys& keys = reader.keys;
  const auto sequence = keys.whole("seq_length");
  const std::int64_t ranks = reader.context();
  if (ranks > 1 && sequence && *sequence % (2 * ranks) != 0)
    keys.refuse("seq_length", fmt::format("{} tokens are no multiple of twice the {} context-parallel ranks",
                                          *sequence, ranks));
}

}  // namespace

std::optional<std::int64_t> megatron_gpus(MegatronReader reader) {
  RecipeKeys& keys = reader.keys;
  if (const auto all = keys.whole("world_size")) return all;
  const auto nodes = keys.whole("nnodes"), ranks_per_node = keys.whole("nproc_per_node");
  if (!ranks_per_node || keys.is_in_doubt("nnodes")) return std::nullopt;
  return bounded_product({nodes.value_or(1), *ranks_per_node});
}

void megatron_layout(MegatronReader reader) {
  nodes_rule(reader);
  batch_rule(reader);
  context_rule(reader);
  const auto gpus = megatron_gpus(reader);
  if (!gpus) return;
  const std::int64_t model = bounded_product({reader.tensor(), reader.pipeline(), reader.context()});
  if (*gpus % model != 0)
    return reader.keys.refuse(
        reader.keys.has("tensor_model_parallel_size") ? "tensor_model_parallel_size"
                                                      : "pipeline_model_parallel_size",
        fmt::format("{} tensor x {} pipeline x {} context parallel ranks do not divide {} GPUs",
                    reader.tensor(), reader.pipeline(), reader.context(), *gpus));
  layout_facts(reader, *gpus, *gpus / model);
  check_batches(reader, *gpus / model);
}

}}  // namespace c3::importers
