#pragma once
/// Transformers as layers of parts. Says what a model computes; a framework's lowering says by which kernels.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/enum_names.hpp"
#include "engine/units.hpp"
#include "workloads/models/model_dimensions.hpp"
#include "workloads/models/parts.hpp"

namespace c3 { inline namespace workloads {

/// What follows the last layer.
enum class ModelHead {
  language_model,  ///< logits of every token
  classifier,      ///< BERT's pooler and two classes of each sequence; without a loss
  pretraining,     ///< BERT's: masked language model, and next sentence prediction
};
constexpr auto enum_names(ModelHead) {
  return std::to_array<EnumName<ModelHead>>({{"language_model", ModelHead::language_model},
                                             {"classifier", ModelHead::classifier},
                                             {"pretraining", ModelHead::pretraining}});
}

/// Parts that follow one another, and the layers of a stack that have them.
struct Block {
  std::vector<ModelPart> parts;
  std::vector<std::int64_t> layers;  ///< numbers, from 0; with experts in every second layer 1, 3, ..
};

struct Stack {
  std::vector<ModelPart> start;  ///< before the first layer
  std::vector<Block> blocks;     ///< a layer is all blocks that name it, in this order
  std::vector<ModelPart> end;    ///< after the last layer
  std::int64_t layers = 0;
};

struct Model {
  std::string name;
  std::vector<Stack> stacks;    ///< encoder or decoder, or both in this order
  std::vector<ModelPart> head;  ///< behind the last stack; the loss is its last part
};

/// Layers of attention and feed-forward blocks, with rotated positions where the model has no table of
/// positions and no relative ones. A decoder behind an encoder also attends to that and shares its embedding.
/// \param predictions words of a sequence that the head predicts, whose tokens are picked before it; 0: all
Model transformer(const ModelDimensions& model, ModelHead head = ModelHead::language_model,
                  std::int64_t predictions = 0);

/// What stands in front of the feed-forward block of layer \p layer, counted from 0; nullopt where nothing
/// does.
std::optional<BlockDimensions> mixer_of(const ModelDimensions& model, std::int64_t layer);

/// What decoding keeps of a sequence of \p tokens in all layers, on however many ranks; 0 of an encoder. Wrong
/// when: a server keeps keys in other types than BlockCache's, or layers share their keys.
Bytes cached_bytes(const ModelDimensions& model, std::int64_t tokens);

/// The different ones of all layers.
std::vector<BlockDimensions> mixers_of(const ModelDimensions& model);

/// Layers after which the kinds of layers come again: the number of layers where they never do.
std::int64_t layer_period(const ModelDimensions& model);

/// All parts of one layer of \p stack.
std::vector<ModelPart> layer_of(const Stack& stack, std::int64_t layer);

/// Weights and biases, in numbers: the sum over parts.
std::int64_t parameters(const Model& model);
/// Parameters with which one token is computed.
std::int64_t active_parameters(const Model& model);

}}  // namespace c3::workloads
