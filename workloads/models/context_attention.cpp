// Attention of ranks that have a part of every sequence each (context parallelism).

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <utility>

#include "gpu/kernels/attention/attention_shape.hpp"
#include "workloads/models/training_lowering.hpp"

namespace c3 { inline namespace workloads {

/// Kernels and exchanges as TransformerEngine has them (pytorch/attention/dot_product_attention/
/// context_parallel.py @015d2257). All-to-alls pack a tensor by ranks before and put its pieces in order after;
/// those of queries, keys and values follow each other. A ring passes keys and values on beside each step's
/// attention, and adds what the steps have made once all are there; backward it passes the gradients of keys
/// and values on as well, a step behind. A gather is made again by the backward pass, whose gradients are
/// reduced and scattered. Of steps under a causal mask, the first is half masked, the others are half of the
/// whole product: of all queries with half of the keys, or of half of the queries with all keys. All ranks have
/// the shapes of the one that takes longest, for which the others wait: with a ring the last one, whose steps
/// all are of the first kind, with a gather the first one, whose queries see fewest and most keys.
/// With attention in 8 bits (fp8_dpa) a ring passes keys and values on as they are cast, each step's output is
/// widened to fp32 before it is added, and the sum is cast for the backward pass. There keys and values go
/// round in 8 bits, gradients of every step are put aside in 8 bits, those of keys and values are exchanged by
/// one all-to-all beside the last step, and all are widened and added at the end (AttnFuncWithCPAndKVP2P).
/// Wrong when: kernels want halves of tensors in one piece, which are copied first; parts of the ring's steps
/// run on two streams at once.
class TrainingLowering::ContextAttention {
 public:
  ContextAttention(TrainingLowering& lowering, const parts::Attention& part)
      : lowering_(lowering),
        split_(lowering.batch_.context),
        part_(part),
        all_(lowering.shape_of(part)),
        own_(shape_of_rank()) {
    if (is_narrow()) own_.dtype = *lowering.batch_.precision.recipe->dtype;
  }

  void write() {
    to_heads_forward();
    if (own_.kv_heads * split_.head_ranks() > all_.kv_heads) keep_repeated_keys();
    switch (kind()) {
      case Kind::whole:
        whole_forward();
        break;
      case Kind::ring:
        is_narrow() ? narrow_ring_forward() : ring_forward();
        break;
      case Kind::gather:
        gather_forward();
        break;
    }
    to_tokens_forward();
    write_backward();
  }

 private:
  using Way = PartTransfer::Way;
  enum class Kind { whole, ring, gather };
  Kind kind() const {
    if (split_.key_ranks() == 1) return Kind::whole;
    return split_.exchange == ContextExchange::gather ? Kind::gather : Kind::ring;
  }

  /// Heads that are left, and tokens that came for them. Where there are more ranks than heads of keys, these
  /// are repeated.
  AttentionShape shape_of_rank() const {
    AttentionShape shape = all_;
    const int ranks = split_.head_ranks();
    shape.heads /= ranks;
    shape.kv_heads = std::max<std::int64_t>(1, shape.kv_heads / ranks);
    shape.queries = all_.queries * ranks;
    if (lowering_.batch_.packed_keys == 0) shape.keys = shape.queries;
    return shape;
  }
  std::int64_t steps() const { return split_.key_ranks(); }
  bool divides_heads() const { return split_.head_ranks() > 1; }

  TensorShape of_heads(std::int64_t heads, std::int64_t tokens) const {
    return {all_.batch * tokens, heads * all_.head_dim};
  }
  TensorShape queries() const { return of_heads(own_.heads, own_.queries); }
  /// Keys and values side by side.
  TensorShape keys_and_values() const { return of_heads(2 * own_.kv_heads, own_.keys); }
  TensorShape half_of(TensorShape tensor) const { return {tensor.rows, tensor.cols / 2}; }
  Bytes size(TensorShape tensor) const { return lowering_.size(tensor); }
  Bytes sums() const { return lowering_.wide_size({all_.batch * own_.queries, own_.heads}); }
  Bytes output() const { return size(queries()); }

  PartKernel& forward(const Operator& op) {
    PartKernel& kernel = lowering_.forward(op);
    kernel.output = Bytes{};
    kernel.survives = true;
    kernel.starts = std::exchange(pending_, std::nullopt);
    return kernel;
  }
  PartKernel& forward(VectorOp op, TensorShape tensor) { return forward(vector_shape(op, tensor, all_.dtype)); }
  PartKernel& backward(const Operator& op) {
    PartKernel& kernel = lowering_.push_backward(op);
    kernel.starts = std::exchange(pending_, std::nullopt);
    return kernel;
  }
  PartKernel& backward(VectorOp op, TensorShape tensor) {
    PartKernel& kernel = backward(vector_shape(op, tensor, all_.dtype));
    kernel.output = Bytes{};
    return kernel;
  }
  /// Starts a transfer before the next kernel.
  void start(Way way, Bytes bytes) {
    pending_ = PartTransfer{way, bytes};
    ++started_;
  }

  /// A tensor as it is packed for an exchange and as it is put in order behind it.
  struct Moved {
    TensorShape before, after;
  };
  static Moved alike(TensorShape tensor) { return {tensor, tensor}; }
  // One tensor is packed while the one before it is under way.
  template <class Push>
  void exchange(Way way, std::initializer_list<Moved> tensors, Push push) {
    int arrived = started_;
    for (const auto& [before, after] : tensors) {
      push(VectorOp::copy, before).held = size(before);
      start(way, std::max(size(before), size(after)));
    }
    for (const auto& [before, after] : tensors) {
      PartKernel& ordered = push(VectorOp::copy, after);
      ordered.needs = ++arrived;
      ordered.output = size(after);  // as it was received
      ordered.held = size(after);
    }
  }
  auto push_forward() {
    return [this](VectorOp op, TensorShape tensor) -> PartKernel& { return forward(op, tensor); };
  }
  auto push_backward() {
    return [this](VectorOp op, TensorShape tensor) -> PartKernel& { return backward(op, tensor); };
  }
  TensorShape local_queries() const { return of_heads(all_.heads, all_.queries); }
  TensorShape local_keys() const { return of_heads(own_.kv_heads * split_.head_ranks(), all_.queries); }
  bool repeats_keys() const { return local_keys().cols > all_.kv_heads * all_.head_dim; }

  void to_heads_forward() {
    if (!divides_heads()) return;
    if (repeats_keys())
      for (int tensor = 0; tensor < 2; ++tensor)
        forward(VectorOp::copy, local_keys()).held = size(local_keys());
    exchange(Way::all_to_all, {alike(local_queries()), alike(local_keys()), alike(local_keys())},
             push_forward());
  }
  // Keeps the repeated keys and values, beside what the rotation keeps of them.
  void keep_repeated_keys() {
    const Bytes once = size(of_heads(all_.kv_heads, all_.queries));
    lowering_.last_forward().kept += (size(local_keys()) - once) * 2.0;
  }
  // The product behind attention keeps its input by tokens, attention its output by heads.
  void to_tokens_forward() {
    if (!divides_heads()) return;
    exchange(Way::all_to_all, {alike(local_queries())}, push_forward());
    lowering_.last_forward().kept += output();
  }

  AttentionShape whole() const { return in_chunks(own_, part_); }
  void whole_forward() { forward(whole()).kept = output() + sums(); }

  /// Attention in the ring's step \p number; step 0 is that of the own keys.
  AttentionShape step_shape(std::int64_t number) const {
    AttentionShape shape = own_;
    if (number == 0 || !own_.causal) return shape;
    shape.causal = false;
    shape.keys = own_.keys / 2;
    return shape;
  }

  void ring_forward() {
    const Bytes keys = size(keys_and_values());
    forward(VectorOp::copy, keys_and_values()).held = keys;
    for (std::int64_t step = 0; step < steps(); ++step) {
      const bool passes_on = step + 1 < steps();
      const int arrived = started_;
      if (passes_on) start(Way::ring, keys);
      PartKernel& kernel = forward(step_shape(step));
      kernel.needs = step > 0 ? arrived : 0;
      kernel.held = output() + sums() + (passes_on ? keys : Bytes{});
      if (step > 0) add_sums();
    }
    forward(VectorOp::mul_scalar, queries());
    for (std::int64_t step = 1; step < steps(); ++step)
      forward(VectorOp::add, queries());
    lowering_.last_forward().kept += output() + sums();
  }
  // Adds up sums of exponentials, one number for each row.
  void add_sums() {
    forward(vector_shape(VectorOp::add, {all_.batch * own_.queries, own_.heads}, DType::fp32));
  }

  /// Whether what goes round has 8 bits.
  bool is_narrow() const { return kind() == Kind::ring && lowering_.quantizes_attention(); }
  const RecipeEntry& recipe() const { return *lowering_.batch_.precision.recipe.operator->(); }
  /// Bytes of \p tensor in 8 bits, a byte a number: the library casts with one scale for a tensor.
  Bytes narrow_size(TensorShape tensor) const {
    return element_size(own_.dtype) * static_cast<double>(tensor.rows * tensor.cols);
  }
  VectorShape narrow_copy(TensorShape tensor) const { return vector_shape(VectorOp::copy, tensor, own_.dtype); }
  /// A cast of 8 bits to fp32 moves five bytes a number; a copy in 16 bits moves four.
  VectorShape widened(TensorShape tensor) const {
    return vector_shape(VectorOp::copy, {tensor.rows, tensor.cols * 5 / 4}, all_.dtype);
  }

  void narrow_ring_forward() {
    const TensorShape operands{queries().rows, queries().cols + keys_and_values().cols};
    for (const VectorShape& kernel : lowering_.casts_of(recipe().inputs, false, operands))
      forward(kernel);
    lowering_.last_forward().kept += narrow_size(operands);
    const Bytes keys = narrow_size(keys_and_values());
    forward(narrow_copy(keys_and_values())).held = keys;
    for (std::int64_t step = 0; step < steps(); ++step) {
      const bool passes_on = step + 1 < steps();
      const int arrived = started_;
      if (passes_on) start(Way::ring, keys);
      PartKernel& kernel = forward(step_shape(step));
      kernel.needs = step > 0 ? arrived : 0;
      kernel.held = narrow_size(queries()) + sums() + (passes_on ? keys : Bytes{});
      forward(widened(queries())).held = lowering_.wide_size(queries());
      if (step > 0) add_sums();
    }
    forward(vector_shape(VectorOp::mul_scalar, queries(), DType::fp32));
    for (std::int64_t step = 1; step < steps(); ++step)
      forward(vector_shape(VectorOp::add, queries(), DType::fp32));
    forward(lowering_.cast_of(queries()));
    for (const VectorShape& kernel : lowering_.casts_of(recipe().inputs, false, queries()))
      forward(kernel);
    lowering_.last_forward().kept += narrow_size(queries()) + sums();
  }

  void narrow_ring_backward() {
    for (const VectorShape& kernel : lowering_.casts_of(recipe().gradients, false, queries()))
      backward(kernel);
    const Bytes keys = narrow_size(keys_and_values());
    const auto slots = static_cast<double>(steps());
    // Two buffers of keys and values; gradients of each step, which those of keys and values leave and reach.
    backward(narrow_copy(keys_and_values())).held = keys * (2.0 + 2.0 * slots) + narrow_size(queries()) * slots;
    for (std::int64_t step = 0; step < steps(); ++step) {
      const bool passes_keys = step + 1 < steps();
      passes_keys ? start(Way::ring, keys) : start(Way::all_to_all, keys * slots);
      backward(backward_of(step_shape(steps() - 1 - step)));
      backward(narrow_copy(queries()));
      const bool is_half = own_.causal && passes_keys;
      PartKernel& last = backward(narrow_copy(is_half ? half_of(keys_and_values()) : keys_and_values()));
      if (passes_keys) last.needs = started_;
    }
    sum_steps(queries());
    sum_steps(keys_and_values());
  }

  // Sums the tensors of all steps, which have arrived by then.
  void sum_steps(TensorShape tensor) {
    backward(widened({tensor.rows * steps(), tensor.cols})).needs = started_;
    backward(vector_shape(VectorOp::reduce, {tensor.rows * tensor.cols, steps()}, DType::fp32));
    backward(lowering_.cast_of(tensor)).output = size(tensor);
  }

  // Queries of the first piece see its keys, those of the last piece all.
  AttentionShape piece_shape(bool is_last) const {
    AttentionShape shape = own_;
    shape.queries = own_.queries / 2;
    shape.keys = is_last || !own_.causal ? own_.keys * steps() : shape.queries;
    return shape;
  }
  TensorShape gathered() const { return of_heads(own_.kv_heads, own_.keys * steps()); }
  Moved gather_of_keys() const { return {of_heads(own_.kv_heads, own_.keys), gathered()}; }
  Moved scatter_of_keys() const { return {gathered(), of_heads(own_.kv_heads, own_.keys)}; }

  void gather_forward() {
    exchange(Way::all_gather, {gather_of_keys(), gather_of_keys()}, push_forward());
    for (const bool is_last : {false, true})
      forward(piece_shape(is_last)).held = (output() + sums()) / 2.0;
    forward(VectorOp::copy, queries()).kept = output() + sums();
  }

  static AttentionShape backward_of(AttentionShape shape) {
    shape.pass = Pass::backward;
    return shape;
  }

  void write_backward() {
    started_ = 0;
    if (divides_heads()) exchange(Way::all_to_all, {alike(local_queries())}, push_backward());
    switch (kind()) {
      case Kind::whole:
        backward(backward_of(whole()));
        break;
      case Kind::ring:
        is_narrow() ? narrow_ring_backward() : ring_backward();
        break;
      case Kind::gather:
        gather_backward();
        break;
    }
    if (!divides_heads()) return;
    exchange(Way::all_to_all, {alike(local_queries()), alike(local_keys()), alike(local_keys())},
             push_backward());
    if (!repeats_keys()) return;
    for (int tensor = 0; tensor < 2; ++tensor)  // sums over what was repeated
      backward(VectorOp::copy, local_keys());
  }

  // Runs the ring in reverse order: the own keys come last, and their gradients have been round.
  void ring_backward() {
    const Bytes keys = size(keys_and_values());
    backward(VectorOp::copy, keys_and_values()).held =
        keys * 4.0 + output();  // two buffers of both; of queries
    for (std::int64_t step = 0; step < steps(); ++step) {
      const bool passes_keys = step + 1 < steps(), passes_gradients = step > 0;
      start(Way::ring, keys * ((passes_keys ? 1.0 : 0.0) + (passes_gradients ? 1.0 : 0.0)));
      backward(backward_of(step_shape(steps() - 1 - step)));
      backward(passes_gradients ? VectorOp::add : VectorOp::copy, queries());
      const bool is_half = own_.causal && passes_keys;
      const TensorShape gradients = is_half ? half_of(keys_and_values()) : keys_and_values();
      backward(passes_gradients ? VectorOp::add : VectorOp::copy, gradients).needs = started_;
    }
  }

  void gather_backward() {
    exchange(Way::all_gather, {gather_of_keys(), gather_of_keys()}, push_backward());
    for (const bool is_last : {false, true}) {
      const AttentionShape shape = piece_shape(is_last);
      backward(backward_of(shape)).held = is_last ? Bytes{} : output() + size(gathered()) * 2.0;
      backward(VectorOp::copy, of_heads(own_.heads, shape.queries));
      for (int tensor = 0; tensor < 2; ++tensor)
        backward(is_last ? VectorOp::add : VectorOp::copy, of_heads(own_.kv_heads, shape.keys));
    }
    exchange(Way::reduce_scatter, {scatter_of_keys(), scatter_of_keys()}, push_backward());
  }

  TrainingLowering& lowering_;
  ContextSplit split_;
  const parts::Attention& part_;
  AttentionShape all_;  ///< of this rank's tokens and all heads
  AttentionShape own_;  ///< after all-to-alls
  std::optional<PartTransfer> pending_ = {};
  int started_ = 0;  ///< transfers of this pass
};

void TrainingLowering::context_attention(const parts::Attention& part) {
  begin(Role::kernel);
  ContextAttention(*this, part).write();
}

}}  // namespace c3::workloads
