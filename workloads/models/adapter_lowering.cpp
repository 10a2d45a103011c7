// LoRA's adapters: two small products beside a frozen one.

#include <utility>

#include "workloads/models/training_lowering.hpp"

namespace c3 { inline namespace workloads {

/// One pair of weights, A of inputs x rank and B of rank x outputs, as NeMo's ParallelLinearAdapter has them
/// (nemo/collections/nlp/modules/common/megatron/adapters/parallel_adapters.py), in the layer's 16 bits
/// whatever the recipe. Beside a projection whose outputs are divided, both weights are divided by outputs and
/// the product with A is gathered; beside one whose inputs are divided, A is divided by inputs, its product is
/// summed, and B's outputs are gathered, of which with sequence parallelism each rank takes its tokens
/// (a2a_experimental: an all-to-all instead of both). What is added is scaled first, by a kernel of its own.
///
/// Backward the gradient of A's product is summed beside the gradient of B. The gradient of the input is summed
/// with the projection's where sequence parallelism scatters that (TransformerEngine's layernorm_linear.py, its
/// return_layernorm_output_gathered); else by itself, beside the gradient of A (disable_grad_reduce).
///
/// Wrong when: the first layer's input needs no gradient; a framework fuses adapters with projections; the
/// projection's input is gathered by user buffers (the adapter then gathers its own).
class TrainingLowering::AdapterPair {
 public:
  AdapterPair(TrainingLowering& lowering, const parts::Adapter& part, std::int64_t outputs)
      : lowering_(lowering),
        part_(part),
        outputs_(outputs),
        first_{.m = lowering.batch_.tokens(),
               .n = part.splits_outputs ? part.rank / part.ranks : part.rank,
               .k = part.splits_outputs ? part.inputs : part.inputs / part.ranks,
               .dtype = lowering.batch_.dtype},
        second_{.m = first_.m, .n = outputs / part.ranks, .k = part.rank, .dtype = first_.dtype} {}

  /// Both count transfers of the part in that pass.
  void write(int& forward_transfers, int& backward_transfers) {
    transfers_ = &forward_transfers;
    forward();
    transfers_ = &backward_transfers;
    backward();
  }

 private:
  using Way = PartTransfer::Way;
  bool is_shared() const { return part_.ranks > 1; }
  Bytes size(TensorShape tensor) const { return lowering_.size(tensor); }
  TensorShape inputs() const { return {first_.m, first_.k}; }
  TensorShape narrow() const { return {first_.m, part_.rank}; }  ///< the tokens' product with A
  TensorShape own_outputs() const { return {first_.m, second_.n}; }
  TensorShape all_outputs() const { return {first_.m, outputs_}; }
  bool divides_tokens() const { return lowering_.past_blocks(outputs_).rows < first_.m; }
  bool exchanges() const { return part_.exchanges && divides_tokens(); }
  /// What is added, of the tokens that this rank has there.
  TensorShape added() const { return part_.splits_outputs ? own_outputs() : lowering_.past_blocks(outputs_); }

  /// Starts before \p kernel, and is waited for by it.
  void exchange(PartKernel& kernel, Way way, TensorShape tensor) {
    start(kernel, way, tensor);
    kernel.needs = *transfers_;
  }
  void start(PartKernel& kernel, Way way, TensorShape tensor) {
    kernel.starts = PartTransfer{way, size(tensor), PartTransfer::Over::tensor};
    ++*transfers_;
  }

  void forward() {
    if (part_.drops)
      lowering_.forward(VectorOp::mul_scalar, inputs(),
                        size(inputs()) + Bytes{static_cast<double>(first_.m * first_.k)});
    lowering_.forward(first_, size(narrow()));
    PartKernel& product = lowering_.forward(second_);
    if (is_shared()) exchange(product, part_.splits_outputs ? Way::all_gather : Way::all_reduce, narrow());
    PartKernel& scaled = lowering_.forward(VectorOp::mul_scalar, added());
    if (is_shared() && !part_.splits_outputs) collect(scaled);
    lowering_.forward(VectorOp::add, added());
  }

  /// Turns each rank's outputs of all tokens into all outputs of its own tokens, or of all tokens.
  void collect(PartKernel& kernel) {
    if (exchanges())
      exchange(kernel, Way::all_to_all, own_outputs());
    else
      exchange(kernel, Way::all_gather, all_outputs());
  }

  void backward() {
    const auto [narrow_gradient, second_weight] = c3::backward(second_);
    const auto [input_gradient, first_weight] = c3::backward(first_);
    lowering_.backward(VectorOp::mul_scalar, added());
    PartKernel& product = lowering_.push_backward(narrow_gradient);
    if (is_shared() && !part_.splits_outputs && divides_tokens()) collect(product);
    PartKernel& of_second = lowering_.push_backward(second_weight);
    of_second.gradient = size({second_.n, second_.k});
    if (is_shared()) start(of_second, Way::all_reduce, narrow());
    lowering_.push_backward(input_gradient).needs = *transfers_;
    PartKernel& of_first = lowering_.push_backward(first_weight);
    of_first.gradient = size({first_.n, first_.k});
    if (is_shared() && part_.splits_outputs && !divides_tokens()) start(of_first, Way::all_reduce, inputs());
    add_input_gradient();
  }

  void add_input_gradient() {
    if (part_.drops) lowering_.backward(VectorOp::mul_scalar, inputs()).needs = *transfers_;
    lowering_.backward(VectorOp::add, inputs()).needs = *transfers_;
  }

  TrainingLowering& lowering_;
  const parts::Adapter& part_;
  std::int64_t outputs_;
  GemmShape first_, second_;
  int* transfers_ = nullptr;  ///< of the pass that is being written
};

void TrainingLowering::adapter(const parts::Adapter& part) {
  int forward_transfers = 0, backward_transfers = 0;
  for (const std::int64_t outputs : part.outputs)
    AdapterPair(*this, part, outputs).write(forward_transfers, backward_transfers);
}

}}  // namespace c3::workloads
