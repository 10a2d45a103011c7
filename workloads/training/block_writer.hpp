#pragma once
/// Writes the lists of block_kernels.hpp: each part's kernels forward and, in reverse order of parts, backward.

#include <vector>

#include "gpu/kernels/vector/vector_shape.hpp"
#include "workloads/training/block_kernels.hpp"

namespace c3 {

class BlockWriter {
 public:
  explicit BlockWriter(const TrainingSetup& setup);

  void self_attention();
  void feed_forward();
  void embedding();
  void head();
  BlockKernels take();

 private:
  /// Rows of so many numbers.
  struct Rows {
    std::int64_t rows = 0;
    std::int64_t cols = 0;
  };
  struct Product {
    std::int64_t tokens = 0, outputs = 0, inputs = 0;
    bool bias = false;
    Bytes kept = {};
  };

  void part(const std::string& name);
  void forward(const Operator& op, Bytes kept = {});
  void backward(const Operator& op, Bytes gradient = {});
  void forward(VectorChain chain, Rows tensor, Bytes kept = {});
  void backward(VectorChain chain, Rows tensor, Pass pass = Pass::forward);
  /// The same in fp32, where a norm or a loss is computed so.
  void forward_wide(VectorChain chain, Rows tensor, Bytes kept = {});
  void backward_wide(VectorChain chain, Rows tensor, Pass pass = Pass::forward);
  /// From the layer's type to fp32, and from that to the layer's type.
  void widen(Rows tensor, Bytes kept = {});
  void narrow(Rows tensor, Bytes kept = {});
  void widen_back(Rows tensor);
  void narrow_back(Rows tensor);
  VectorShape cast_of(Rows tensor) const;
  /// The last of \p kernels writes over what it reads.
  static void in_place(std::vector<StepKernel>& kernels) { kernels.back().output = Bytes{}; }

  void add_parameters(std::int64_t count);  ///< in one tensor
  void linear(const Product& product);
  void projections();
  void norm(const std::string& name);
  void eager_rmsnorm();
  void rope();
  void attention_kernel();
  void scores_and_values();
  void residual(const std::string& name);
  void activation();
  void loss();
  void megatron_loss();

  Rows stream() const;        ///< what runs past the blocks: all tokens, or a rank's part of them
  Bytes norm_output() const;  ///< as a norm's product keeps it
  Rows heads() const { return {tokens_, width_}; }
  Rows scores() const;
  Rows wide() const { return {tokens_, ffn_}; }
  Bytes size(Rows tensor) const;       ///< in the layer's type
  Bytes wide_size(Rows tensor) const;  ///< in fp32
  bool is(KernelStyle style) const { return setup_.framework.kernels == style; }
  bool repeats_heads() const;
  bool joins_residual() const { return is(KernelStyle::compiled); }

  const TrainingSetup& setup_;
  const ModelDimensions& model_;
  std::int64_t tokens_, width_, kv_width_, ffn_, words_;
  std::string part_;
  bool after_residual_ = false;  ///< the sum before this norm is made by the norm's kernel
  int products_ = 0;             ///< of this layer so far
  Bytes unmade_;                 ///< to be kept by the next kernel: no cast made it
  BlockKernels block_;
  std::vector<StepKernel> part_backward_;  ///< of the part that is being written
};

}  // namespace c3
