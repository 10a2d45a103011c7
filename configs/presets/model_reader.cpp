#include "configs/presets/model_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <span>
#include <utility>

#include "base/nearest_name.hpp"
#include "configs/fields/model_fields.hpp"
#include "workloads/models/transformer.hpp"
#include "workloads/training/tensor_parallel.hpp"

namespace c3 { inline namespace configs {
namespace {

void check(Section& section, const ExpertDimensions& experts, std::int64_t layers) {
  if (layers % experts.interval != 0)
    section.fail("interval", fmt::format("must divide layers, which is {}", layers));
  if (experts.per_token > experts.experts)
    section.fail("per_token",
                 fmt::format("must not exceed the {} experts (it is {})", experts.experts, experts.per_token));
  if (experts.dense_layers >= layers)
    section.fail("dense_layers",
                 fmt::format("must be below the model's {} layers (it is {})", layers, experts.dense_layers));
  if (experts.experts % experts.groups != 0)
    section.fail("groups",
                 fmt::format("must divide count, which is {} (it is {})", experts.experts, experts.groups));
  if (experts.groups_per_token > experts.groups)
    section.fail("groups_per_token", fmt::format("must not exceed groups, which is {} (it is {})",
                                                 experts.groups, experts.groups_per_token));
}

ExpertDimensions read_experts(Section section, std::int64_t layers) {
  ExpertDimensions experts;
  read_fields(section, experts, kExpertFields);
  // Examples of a rehearsal need not fit together.
  if (!section.is_rehearsal()) check(section, experts, layers);
  section.finish();
  return experts;
}

LatentDimensions read_latent(Section section) {
  LatentDimensions latent;
  read_fields(section, latent, kLatentFields);
  section.finish();
  return latent;
}

/// What \p name means in each kind that has a key of that name.
std::string meaning_in_kinds(std::string_view name) {
  std::string text;
  for (const BlockKind kind : kBlockKinds) {
    const auto key = std::ranges::find(kind->keys, name, &BlockKey::name);
    if (key != kind->keys.end())
      text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", name_of(kind), key->meaning);
  }
  return text;
}

/// Keys of \p kind that \p section has.
BlockSizes read_sizes(Section& section, BlockKind kind) {
  BlockSizes sizes;
  for (const BlockKey& key : kind->keys) {
    const bool is_there = section.has(key.name);
    if (section.is_rehearsal()) section.explain(key.name, meaning_in_kinds(key.name));
    if (!is_there && key.usual)
      sizes.push_back(*key.usual);
    else if (key.is_flag)
      sizes.push_back(section.flag(key.name) ? 1 : 0);
    else
      sizes.push_back(section.integer(key.name, 1, key.most));
  }
  return sizes;
}

std::string kinds_and_meanings() {
  std::string text;
  for (const BlockKind kind : kBlockKinds)
    text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", name_of(kind), kind->meaning);
  return text;
}

BlockKind read_kind(Section& section) {
  std::vector<std::string> names;
  for (const BlockKind kind : kBlockKinds)
    names.emplace_back(name_of(kind));
  const std::string name = section.text("kind", Rule{ChoiceRule{names}});
  if (section.is_rehearsal()) return BlockKind::attention;
  const auto found =
      std::ranges::find(kBlockKinds, std::string_view(name), [](BlockKind kind) { return name_of(kind); });
  if (found == kBlockKinds.end()) section.fail("kind", unknown_name("kind of block", name, names));
  return *found;
}

BlockDimensions read_block(Section section, std::string name, const ModelDimensions& model) {
  BlockDimensions block{.name = std::move(name), .kind = read_kind(section), .sizes = {}};
  if (section.is_rehearsal()) section.explain("kind", kinds_and_meanings());
  if (section.is_rehearsal())  // the keys of each kind, which files have in any table
    for (const BlockKind kind : kBlockKinds)
      read_sizes(section, kind);
  block.sizes = read_sizes(section, block.kind);
  section.finish();
  if (section.is_rehearsal()) return block;
  if (const auto conflict = block.kind->conflict(model, block.sizes))
    section.fail(conflict->key, conflict->what);
  return block;
}

/// The most blocks in one model. Models that people train have three kinds at most.
constexpr std::size_t kMostBlocks = 64;

void read_blocks(Section& section, ModelDimensions& model) {
  const bool has_blocks = section.has("blocks");
  section.explain("blocks",
                  "blocks that layers may have in place of the model's attention, by names of your own");
  if (!has_blocks) return;
  Section blocks = section.table("blocks");
  for (const ChosenKey& key : blocks.chosen_keys()) {
    model.blocks.push_back(read_block(blocks.table(key.name), key.name, model));
    blocks.explain(key.name, "a block, by a name that layer_pattern has");
    if (model.blocks.size() > kMostBlocks) section.fail("blocks", fmt::format("at most {}", kMostBlocks));
    if (key.name == kOwnAttention || key.name == kDenseBlock || key.name == kExpertsBlock)
      blocks.refuse(key.name, "is a block that every model has; take another name");
  }
}

/// Names of blocks that every pattern may have.
std::vector<std::string> names_of_blocks(const ModelDimensions& model) {
  std::vector<std::string> names = {std::string(kOwnAttention)};
  for (const BlockDimensions& block : model.blocks)
    names.push_back(block.name);
  if (!model.blocks_apart) return names;
  names.emplace_back(kDenseBlock);
  if (model.experts) names.emplace_back(kExpertsBlock);
  return names;
}

void read_pattern(Section& section, ModelDimensions& model) {
  const bool is_there = section.has("layer_pattern");
  section.explain("layer_pattern",
                  "the block of each layer, by name, from the first one on again where layers are more; "
                  "default: all have the model's attention");
  if (is_there) {
    const std::vector<std::string> names = names_of_blocks(model);
    std::vector<ConfigError> unknown;
    for (const PlacedText& text : section.sourced_texts("layer_pattern", {"[A-Za-z0-9_.-]+", "attention"})) {
      if (std::ranges::find(names, text.name) == names.end())
        unknown.emplace_back(text.origin, "model.layer_pattern", unknown_name("block", text.name, names));
      model.layer_pattern.push_back(text.name);
    }
    if (!unknown.empty()) throw ConfigError(unknown);
  }
  if (section.is_rehearsal()) return;
  if (std::ssize(model.layer_pattern) > model.layers)
    section.refuse("layer_pattern", fmt::format("has {} names, and the model {} layers",
                                                model.layer_pattern.size(), model.layers));
  if (model.blocks_apart && model.layer_pattern.empty())
    section.refuse("blocks_apart", "requires layer_pattern, which names the block of each layer");
  if (!model.layer_pattern.empty() && model.structure == Structure::encoder_decoder)
    section.refuse("layer_pattern", "is of models of one stack, and structure is \"encoder-decoder\"");
  for (const BlockDimensions& block : model.blocks)
    if (std::ranges::find(model.layer_pattern, block.name) == model.layer_pattern.end())
      section.refuse("blocks", fmt::format("has '{}', which no layer of layer_pattern is", block.name));
}

}  // namespace

ModelDimensions read_model(Section& section) {
  ModelDimensions model{.name = section.preset_name()};
  read_fields(section, model, kModelFields);
  const bool has_experts = section.has("experts");
  section.explain("experts", "a mixture of experts in place of feed-forward layers; default: none");
  if (has_experts) model.experts = read_experts(section.table("experts"), model.layers);
  const bool has_latent = section.has("latent");
  section.explain("latent", "attention whose queries, keys and values come from short vectors (MLA)");
  if (has_latent) model.latent = read_latent(section.table("latent"));
  read_blocks(section, model);
  read_pattern(section, model);
  if (model.own_head_dim == 0 && !model.latent && model.hidden % model.heads != 0) {
    section.fail("heads", fmt::format("must divide hidden, which is {}, or head_dim be given", model.hidden));
  }
  if (model.heads % model.kv_heads != 0) {
    section.fail("kv_heads", fmt::format("must divide heads, which is {}", model.heads));
  }
  section.finish();
  return model;
}

namespace {

/// Products of a layer that an experiment can name.
constexpr std::array kProducts = {
    PartId{BlockId::self_attention, Role::qkv}, PartId{BlockId::self_attention, Role::out},
    PartId{BlockId::feed_forward, Role::gate_up}, PartId{BlockId::feed_forward, Role::down}};

const PartId* product_named(std::string_view operation) {
  const auto* const found = std::ranges::find(kProducts, operation, [](PartId part) { return name_of(part); });
  return found == kProducts.end() ? nullptr : found;
}

/// Also of one expert; nullptr where \p parts have no such product.
const parts::Projection* find_product(std::span<const ModelPart> parts, PartId id) {
  for (const ModelPart& part : parts) {
    if (const auto* const experts = std::get_if<parts::Experts>(&part.kind)) {
      if (const parts::Projection* const found = find_product(experts->expert_parts, id)) return found;
    }
    if (part.id == id) return std::get_if<parts::Projection>(&part.kind);
  }
  return nullptr;
}

}  // namespace

const std::vector<std::string>& layer_operations() {
  static const std::vector<std::string> kNames = [] {
    std::vector<std::string> names;
    for (const PartId part : kProducts)
      names.push_back(name_of(part));
    return names;
  }();
  return kNames;
}

bool by_outputs(std::string_view operation) {
  const PartId* const part = product_named(operation);
  return part != nullptr && splits_outputs(*part);
}

std::optional<WeightShape> weight_of(const ModelDimensions& model, std::string_view operation) {
  const PartId* const part = product_named(operation);
  if (part == nullptr) return std::nullopt;
  const std::vector<ModelPart> layer = layer_of(transformer(model).stacks.front(), 0);
  const parts::Projection* const product = find_product(layer, *part);
  if (product == nullptr) return std::nullopt;  // latent attention has others
  return WeightShape{std::accumulate(product->outputs.begin(), product->outputs.end(), std::int64_t{0}),
                     product->inputs};
}

}}  // namespace c3::configs
