// LoRA's adapters: two small products beside a frozen one.

#include <optional>
#include <utility>

#include "workloads/models/training_lowering.hpp"

namespace c3::inline workloads {

/// One pair of weights, A of inputs x rank and B of rank x outputs, as NeMo's ParallelLinearAdapter has them
/// (nemo/collections/nlp/modules/common/megatron/adapters/parallel_adapters.py): beside a projection whose
/// outputs are divided, both weights are divided by outputs and the product with A is gathered; beside one
/// whose inputs are divided, A is divided by inputs, its product is summed, and B's outputs are gathered.
/// Backward the gradient of A's product is summed. What is added is scaled first, by a kernel of its own.
/// Gradients of the input are added to the projection's before these are summed over ranks. Wrong when:
/// adapters drop inputs; the first layer's input needs no gradient.
class TrainingLowering::AdapterPair {
 public:
  AdapterPair(TrainingLowering& lowering, const parts::Adapter& part, std::int64_t outputs)
      : lowering_(lowering),
        ranks_(part.ranks),
        splits_outputs_(part.splits_outputs),
        rank_(part.rank),
        outputs_(outputs),
        first_{.m = lowering.batch_.tokens(),
               .n = splits_outputs_ ? part.rank / part.ranks : part.rank,
               .k = splits_outputs_ ? part.inputs : part.inputs / part.ranks,
               .dtype = lowering.batch_.dtype},
        second_{.m = first_.m, .n = outputs / part.ranks, .k = part.rank, .dtype = first_.dtype} {}

  void write() {
    forward();
    backward();
  }

 private:
  using Way = PartTransfer::Way;
  bool is_shared() const { return ranks_ > 1; }
  Bytes size(TensorShape tensor) const { return lowering_.size(tensor); }
  TensorShape narrow() const { return {first_.m, rank_}; }  ///< the tokens' product with A
  /// What is added, of the tokens that this rank has there.
  TensorShape added() const {
    return splits_outputs_ ? TensorShape{first_.m, second_.n} : lowering_.past_blocks(outputs_);
  }
  TensorShape all_outputs() const { return {first_.m, outputs_}; }

  void exchange(PartKernel& before, Way way, TensorShape tensor) {
    before.starts = PartTransfer{way, size(tensor), PartTransfer::Over::tensor};
    before.needs = ++transfers_;
  }

  void forward() {
    transfers_ = 0;
    lowering_.forward(first_, size(narrow()));
    PartKernel& product = lowering_.forward(second_);
    if (is_shared()) exchange(product, splits_outputs_ ? Way::all_gather : Way::all_reduce, narrow());
    PartKernel& scaled = lowering_.forward(VectorOp::mul_scalar, added());
    if (is_shared() && !splits_outputs_) exchange(scaled, Way::all_gather, all_outputs());
    lowering_.forward(VectorOp::add, added());
  }

  void backward() {
    transfers_ = 0;
    lowering_.backward(VectorOp::mul_scalar, added());
    const auto [narrow_gradient, second_weight] = c3::backward(second_);
    const bool gathers_tokens = is_shared() && !splits_outputs_ && added().rows < first_.m;
    PartKernel& product = lowering_.push_backward(narrow_gradient);
    if (gathers_tokens) exchange(product, Way::all_gather, all_outputs());
    const auto [input_gradient, first_weight] = c3::backward(first_);
    PartKernel& input = lowering_.push_backward(input_gradient);
    if (is_shared()) exchange(input, Way::all_reduce, narrow());
    lowering_.backward(VectorOp::add, {first_.m, first_.k});
    lowering_.push_backward(second_weight).gradient = size({second_.n, second_.k});
    lowering_.push_backward(first_weight).gradient = size({first_.n, first_.k});
  }

  TrainingLowering& lowering_;
  int ranks_;
  bool splits_outputs_;
  std::int64_t rank_, outputs_;
  GemmShape first_, second_;
  int transfers_ = 0;  ///< of this pass
};

void TrainingLowering::adapter(const parts::Adapter& part) {
  for (const std::int64_t outputs : part.outputs)
    AdapterPair(*this, part, outputs).write();
}

}  // namespace c3::workloads
