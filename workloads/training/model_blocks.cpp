#include "workloads/training/model_blocks.hpp"

#include <utility>
#include <variant>
#include <vector>

#include "workloads/models/adapters.hpp"
#include "workloads/models/training_kernels.hpp"
#include "workloads/models/transformer.hpp"
#include "workloads/training/tensor_parallel.hpp"

namespace c3::inline workloads {
namespace {

std::vector<ModelPart> weights_of_products(const std::vector<ModelPart>& parts) {
  std::vector<ModelPart> weights;
  for (ModelPart part : parts) {
    auto* const product = std::get_if<parts::Projection>(&part.kind);
    if (product == nullptr && !std::holds_alternative<parts::Adapter>(part.kind)) continue;
    if (product != nullptr) product->has_bias = false;
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
                         .packed_keys = setup.packed_keys};
  const auto block_of = [&](const std::vector<ModelPart>& parts) {
    const bool adapts = setup.lora.rank > 0;
    const std::vector<ModelPart> all =
        adapts ? adapted(parts, setup.lora, setup.framework.separate_projections) : parts;
    const std::vector<ModelPart> share = share_of(all, setup.tensor_parallel);
    const std::vector<ModelPart> trained = adapts ? adapters_of(share) : share;
    const std::vector<ModelPart> products = weights_of_products(trained);
    return StepBlock{lower(share, setup.framework, batch),         parameters(trained),
                     parameter_tensors(trained, setup.framework),  parameters(products),
                     parameter_tensors(products, setup.framework), parameters(share) - parameters(trained)};
  };
  std::vector<ModelPart> head = stack.end;
  head.insert(head.end(), model.head.begin(), model.head.end());
  return {.embedding = block_of(stack.start), .layer = block_of(layer_of(stack, 0)), .head = block_of(head)};
}

}  // namespace c3::workloads
