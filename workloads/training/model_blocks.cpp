#include "workloads/training/model_blocks.hpp"

#include <utility>
#include <variant>
#include <vector>

#include "workloads/models/training_kernels.hpp"
#include "workloads/models/transformer.hpp"
#include "workloads/training/tensor_parallel.hpp"

namespace c3::inline workloads {
namespace {

std::vector<ModelPart> weights_of_products(const std::vector<ModelPart>& parts) {
  std::vector<ModelPart> weights;
  for (ModelPart part : parts) {
    auto* const product = std::get_if<parts::Projection>(&part.kind);
    if (product == nullptr) continue;
    product->has_bias = false;
    weights.push_back(std::move(part));
  }
  return weights;
}

}  // namespace

ModelBlocks model_blocks(const TrainingSetup& setup) {
  const Model model = transformer(setup.model);
  const Stack& stack = model.stacks.front();
  const std::int64_t tokens = setup.tokens();
  const TokenBatch batch{.sequences = setup.micro_batch,
                         .length = setup.sequence / setup.context.ranks,
                         .between = setup.sequence_parallel ? tokens / setup.tensor_parallel : tokens,
                         .dtype = setup.dtype,
                         .context = setup.context,
                         .precision = setup.precision,
                         .weights_stay = setup.sharding != Sharding::parameters};
  TokenBatch in_16_bits = batch;
  in_16_bits.precision = {};
  const auto block_of = [&](const std::vector<ModelPart>& parts, const TokenBatch& tokens_of_it) {
    const std::vector<ModelPart> share = share_of(parts, setup.tensor_parallel);
    const std::vector<ModelPart> products = weights_of_products(share);
    return StepBlock{lower(share, setup.framework, tokens_of_it), parameters(share),
                     parameter_tensors(share, setup.framework), parameters(products),
                     parameter_tensors(products, setup.framework)};
  };
  std::vector<ModelPart> head = stack.end;
  head.insert(head.end(), model.head.begin(), model.head.end());
  const std::vector<ModelPart> layer = layer_of(stack, 0);
  ModelBlocks blocks{.embedding = block_of(stack.start, batch),
                     .layer = block_of(layer, batch),
                     .layer_16bit = block_of(layer, in_16_bits),
                     .head = block_of(head, batch)};
  if (setup.precision.recipe->dtype) blocks.layer.cast_parameters = blocks.layer.product_parameters;
  return blocks;
}

}  // namespace c3::workloads
