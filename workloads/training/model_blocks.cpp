#include "workloads/training/model_blocks.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>
#include <variant>

#include "workloads/models/adapters.hpp"
#include "workloads/models/training_kernels.hpp"
#include "workloads/models/transformer.hpp"
#include "workloads/training/tensor_parallel.hpp"

namespace c3 { inline namespace workloads {
namespace {

/// Only the weights of products, those of experts as well.
std::vector<ModelPart> weights_of_products(const std::vector<ModelPart>& parts) {
  std::vector<ModelPart> weights;
  for (ModelPart part : parts) {
    if (auto* const product = std::get_if<parts::Projection>(&part.kind)) {
      product->has_bias = false;
    } else if (auto* const experts = std::get_if<parts::Experts>(&part.kind)) {
      experts->expert_parts = weights_of_products(experts->expert_parts);
    } else if (!std::holds_alternative<parts::Adapter>(part.kind)) {
      continue;
    }
    weights.push_back(std::move(part));
  }
  return weights;
}

std::vector<ModelPart> experts_among(const std::vector<ModelPart>& parts) {
  std::vector<ModelPart> experts;
  std::ranges::copy_if(parts, std::back_inserter(experts),
                       [](const ModelPart& part) { return std::holds_alternative<parts::Experts>(part.kind); });
  return experts;
}

/// Puts kernels of shared experts where tokens are on their way to experts, forward, and where gradients are on
/// their way back.
void run_beside_dispatch(std::vector<PartKernel>& kernels, Role before) {
  const auto is_shared = [](const PartKernel& kernel) { return kernel.part.block == BlockId::shared_experts; };
  std::vector<PartKernel> shared;
  std::ranges::copy_if(kernels, std::back_inserter(shared), is_shared);
  std::erase_if(kernels, is_shared);
  const auto at = std::ranges::find(kernels, PartId{BlockId::experts, before}, &PartKernel::part);
  kernels.insert(at, shared.begin(), shared.end());
}

/// Makes the blocks of a step.
class BlockMaker {
 public:
  explicit BlockMaker(const TrainingSetup& setup)
      : setup_(setup),
        batch_{.sequences = setup.micro_batch,
               .length = setup.sequence / setup.context.ranks,
               .between = setup.tokens_between(),
               .dtype = setup.dtype,
               .context = setup.context,
               .packed_keys = setup.packed_keys,
               .weights_stay = setup.sharding != Sharding::parameters} {
    if (setup.model.experts) batch_.routed = balanced_tokens(setup);
  }

  /// Sets the tokens that go to this rank's experts in layers that follow.
  void set_routed(const RoutedTokens& routed) { batch_.routed = routed; }

  /// \param precision of products of layers
  StepBlock block(const std::vector<ModelPart>& parts, const PrecisionSetup& precision = {}) const {
    const std::vector<ModelPart> all =
        setup_.lora.rank > 0 ? adapted(parts, setup_.lora, setup_.framework.separate_projections) : parts;
    const std::vector<ModelPart> share = share_of_experts(
        share_of(all, setup_.tensor_parallel), setup_.experts.ranks, setup_.expert_tensor_parallel());
    TokenBatch batch = batch_;
    batch.precision = precision;
    StepBlock block{lower(share, setup_.framework, batch)};
    count(block, share);
    if (setup_.lora.rank > 0) {
      freeze(block, share, precision);
    } else if (precision.recipe->dtype) {
      block.cast_parameters = block.product_parameters;
      block.experts.cast_parameters = block.experts.product_parameters;
    }
    if (setup_.experts.shared_overlap) {
      run_beside_dispatch(block.forward, Role::arrange);
      run_beside_dispatch(block.backward, Role::dispatch);
    }
    return block;
  }

 private:
  /// Leaves adapters as what is trained.
  void freeze(StepBlock& block, const std::vector<ModelPart>& share, const PrecisionSetup& precision) const {
    block.frozen = {.all = block.parameters, .cast = precision.recipe->dtype ? block.product_parameters : 0};
    count(block, adapters_of(share));
    block.frozen.all -= block.parameters;
    if (block.frozen.cast > 0) block.frozen.cast -= block.product_parameters;
  }

  void count(StepBlock& block, const std::vector<ModelPart>& share) const {
    const std::vector<ModelPart> products = weights_of_products(share);
    block.parameters = parameters(share);
    block.parameter_tensors = parameter_tensors(share, setup_.framework);
    block.product_parameters = parameters(products);
    block.product_tensors = parameter_tensors(products, setup_.framework);
    block.whole_parameters = whole_parameters(share);
    if (!setup_.has_expert_grid()) return;
    const std::vector<ModelPart> experts = experts_among(share), their_products = experts_among(products);
    block.experts = {.name = {},
                     .parameters = parameters(experts),
                     .tensors = parameter_tensors(experts, setup_.framework),
                     .product_parameters = parameters(their_products),
                     .product_tensors = parameter_tensors(their_products, setup_.framework)};
  }

  const TrainingSetup& setup_;
  TokenBatch batch_;
};

}  // namespace

ModelBlocks model_blocks(const TrainingSetup& setup, ExpertPosition at) {
  const Model model = transformer(setup.model, setup.head, setup.predictions);
  const Stack& stack = model.stacks.front();
  BlockMaker maker(setup);
  std::vector<ModelPart> head = stack.end;
  head.insert(head.end(), model.head.begin(), model.head.end());
  ModelBlocks blocks{
      .embedding = maker.block(stack.start), .kinds = {}, .kind_of = {}, .head = maker.block(head)};
  // Kinds of layers: by the blocks that a layer has, whether it is in 16 bits and, where experts are not
  // equally busy, how many rows this rank's experts get.
  std::map<std::pair<std::vector<bool>, std::int64_t>, std::size_t> known;
  for (std::int64_t layer = 0; layer < stack.layers; ++layer) {
    std::vector<bool> has;
    for (const Block& block : stack.blocks)
      has.push_back(std::ranges::binary_search(block.layers, layer));
    const bool is_narrow = setup.precision.casts_layer(layer, stack.layers);
    has.push_back(is_narrow);
    std::int64_t rows = 0;
    if (at.loads != nullptr) {
      const RoutedTokens routed = routed_tokens(setup, at, layer);
      rows = routed.rows;
      maker.set_routed(routed);
    }
    const auto [kind, is_new] = known.try_emplace({has, rows}, blocks.kinds.size());
    if (is_new)
      blocks.kinds.push_back(
          maker.block(layer_of(stack, layer), is_narrow ? setup.precision : PrecisionSetup{}));
    blocks.kind_of.push_back(kind->second);
  }
  return blocks;
}

}}  // namespace c3::workloads
