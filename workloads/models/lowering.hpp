#pragma once
/// Lowers the parts of a model to the kernels that a framework launches for them, forward and backward.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "gpu/kernels/operator.hpp"
#include "gpu/kernels/vector/vector_shape.hpp"
#include "workloads/models/part_transfer.hpp"
#include "workloads/models/parts.hpp"

namespace c3 { inline namespace workloads {

/// One kernel of a part. What the backward pass needs of a forward kernel depends on the framework's code,
/// so that kernels say it and not parts.
struct PartKernel {
  PartId part;
  Operator op;
  std::int64_t count = 1;                   ///< how often it runs, one after another
  Bytes kept = {};                          ///< forward: that the backward pass of the part needs
  Bytes kept_input = {};                    ///< of that, what is there before the layer runs
  bool survives = false;                    ///< Recompute::selective keeps its output and does not run it again
  Bytes gradient = {};                      ///< backward: of weights that it makes
  std::optional<Bytes> output = {};         ///< for which it needs memory; absent: all that the operator writes
  std::optional<PartTransfer> starts = {};  ///< before it runs, beside it and what follows
  int needs = 0;      ///< transfers of its part, from the first one on, that must have ended before it runs
  Bytes held = {};    ///< memory that is there from it on until its part ends
  bool once = false;  ///< runs forward in a step's first micro-batch only, as casts of weights do
  int launches = 1;   ///< that it costs the host, where it stands for several kernels at once
  bool is_frozen = false;  ///< its product's weight gets no gradient

  bool operator==(const PartKernel&) const = default;
};

/// Kernels in the order of launch. What a part's kernels keep is released when its last backward kernel has
/// ended.
struct BlockKernels {
  std::vector<PartKernel> forward;
  std::vector<PartKernel> backward;
};

/// A tensor's shape, as operators see it.
struct TensorShape {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
};

/// Base of the frameworks: goes through the parts of a model and gathers the kernels that a framework launches
/// for each. In the backward pass, parts come in reverse order.
class Lowering {
 public:
  virtual ~Lowering() = default;
  Lowering(const Lowering&) = delete;
  Lowering& operator=(const Lowering&) = delete;

  /// Kernels of \p parts, which run one after another on one GPU. Can be called once.
  /// \throws std::invalid_argument naming a part for which the framework has no kernels.
  BlockKernels lower(std::span<const ModelPart> parts) &&;

 protected:
  Lowering() = default;

  /// Writes down the kernels of a part, and refuses kinds for which the framework has none.
  virtual void write_part(const ModelPart& part) = 0;
  /// \throws std::invalid_argument naming the part that is being written.
  [[noreturn]] void refuse() const;

  /// Writes down the kernels of \p parts in turn, such as those of one expert.
  void write(std::span<const ModelPart> parts);

  bool part_is(Role role) const { return part_.role == role; }
  bool part_is(PartId part) const { return part_ == part; }
  /// The part behind the one that is being written; nullptr at the end.
  const ModelPart* next_part() const { return following_.empty() ? nullptr : following_.data(); }
  const ModelPart* part_after_next() const { return following_.size() < 2 ? nullptr : &following_[1]; }
  BlockId block() const { return part_.block; }
  /// Whether a norm is right behind the part that is being written.
  bool is_before_norm() const {
    return !following_.empty() && std::holds_alternative<parts::Norm>(following_.front().kind);
  }

  /// What follows belongs to \p part.
  void begin(PartId part);
  void begin(Role role) { begin({part_.block, role}); }
  PartKernel& push_forward(const Operator& op);
  /// Behind, or in front of, the backward kernels that the part has.
  PartKernel& push_backward(const Operator& op);
  PartKernel& push_backward_first(const Operator& op);
  PartKernel& last_forward() { return block_.forward.back(); }

 private:
  PartId part_;
  std::span<const ModelPart> following_;  ///< the part that is being written
  BlockKernels block_;
  std::vector<PartKernel> part_backward_;  ///< of the part that is being written
};

/// A visitor made of function objects, one for each kind of part.
template <typename... Each>
struct ByKind : Each... {
  using Each::operator()...;
};
template <typename... Each>
ByKind(Each...) -> ByKind<Each...>;

/// \p op on a tensor.
VectorShape vector_shape(VectorChain chain, TensorShape tensor, DType dtype, Pass pass = Pass::forward);

}}  // namespace c3::workloads
