#include "studies/kernels/eager/step_operators.hpp"

#include <fmt/format.h>

#include <span>
#include <stdexcept>
#include <utility>

namespace c3 { inline namespace studies {
namespace {

void check(const ModelDimensions& model, const StepSetup& setup) {
  const auto fail = [&](const std::string& what) { throw std::invalid_argument(model.name + ": " + what); };
  if (!model.family) fail("has no 'family', which decides which kernels its layers launch");
  if (model.vocabulary == 0) fail("has no 'vocabulary', so its head and embedding have no size");
  if (setup.fused && setup.training) fail("fused operators are supported only in inference");
  if (model.experts && (model.experts->per_token > 1 || model.experts->shared_width > 0))
    fail("sends tokens to several experts, for which its family has no kernels");
  const std::int64_t experts = model.experts ? model.experts->experts : 1;
  if (setup.busy_experts.value_or(1) < 1 || setup.busy_experts.value_or(1) > experts)
    fail(fmt::format("has {} experts, of which at least one is busy", experts));
}

/// The lists of a step, to which blocks are added in the order of the forward pass.
class StepList {
 public:
  StepList(EagerFamily family, const StepSetup& setup) : family_(family), setup_(setup) {}

  /// \p times in a row.
  void add(std::span<const ModelPart> parts, std::size_t times = 1) {
    BlockKernels block = EagerHuggingFace(family_, setup_).lower(parts);
    for (OperatorList* const list : {&block.forward, &block.backward}) {
      for (PartKernel& kernel : *list)
        kernel.count *= static_cast<std::int64_t>(times);
    }
    for (PartKernel& kernel : block.forward)
      (kernel.part.block == BlockId::loss ? step_.loss : step_.forward).push_back(std::move(kernel));
    step_.backward.insert(step_.backward.begin(), block.backward.begin(), block.backward.end());
  }

  StepOperators take() { return std::move(step_); }

 private:
  EagerFamily family_;
  const StepSetup& setup_;
  StepOperators step_;
};

}  // namespace

StepOperators step_operators(const ModelDimensions& model, const StepSetup& setup) {
  check(model, setup);
  const Model whole = transformer(model, setup.head);
  StepList list(*model.family, setup);
  for (const Stack& stack : whole.stacks) {
    list.add(stack.start);
    for (const Block& block : stack.blocks)
      list.add(block.parts, block.layers.size());
    list.add(stack.end);
  }
  list.add(whole.head);
  return list.take();
}

}}  // namespace c3::studies
