#pragma once
/// What data parallelism adds to a step: collectives on parameters and gradients, and the memory for them.

#include <cstdint>
#include <vector>

#include "gpu/kernels/operator.hpp"
#include "gpu/kernels/vector/vector_shape.hpp"
#include "workloads/training/step_program.hpp"

namespace c3 { inline namespace workloads {

/// Numbers that get no gradients, beside those that a unit trains; in the computing type.
struct FrozenParameters {
  std::int64_t all = 0;
  std::int64_t cast = 0;  ///< of those, what products in the recipe's type multiply with
};

/// Parameters that are gathered and reduced together: unit 0 is what is before and after the layers, unit i
/// is layer i - 1.
struct ParameterUnit {
  std::string name;                     ///< "root", "layer 3"
  std::int64_t parameters = 0;          ///< of this rank of a tensor-parallel group
  int tensors = 1;                      ///< that they are in
  std::int64_t product_parameters = 0;  ///< of those, weights whose gradients are products
  int product_tensors = 0;
  std::int64_t cast_parameters = 0;  ///< of those, what products in the recipe's type multiply with
  FrozenParameters frozen = {};
};

/// The ranks among which a collective of data parallelism takes place.
struct DataParallelGroup {
  int size = 1;              ///< ranks that share what is sharded
  int stride = 1;            ///< between their numbers
  bool is_all = true;        ///< of the ranks that there are
  int stage = 0;             ///< of the pipeline, of which they are
  int replicas = 1;          ///< such groups, which sum their shards of gradients
  int bucket_ranks = 1;      ///< data-parallel ranks of the model, by which buckets of experts are sized, too
  std::string streams = {};  ///< before the names of the streams of its collectives
};

/// A chunk of a stage's layers.
struct ChunkUnits {
  std::vector<std::size_t> units;  ///< in the order in which its forward pass uses them
  std::size_t first_pass = 0;      ///< of the stage's forward passes, the first through this chunk
};

/// Told of a step's course, in the order in which the host launches it.
class DataParallel {
 public:
  virtual ~DataParallel() = default;
  DataParallel(const DataParallel&) = delete;
  DataParallel& operator=(const DataParallel&) = delete;

  virtual void begin_step() {}
  /// A stage's forward pass \p number, of all its chunks, is next.
  virtual void begin_forward(std::size_t /*number*/) {}
  virtual void before_forward(std::size_t /*unit*/) {}
  virtual void after_forward(std::size_t /*unit*/) {}
  virtual void before_backward(std::size_t /*unit*/) {}
  /// Its backward kernels have been launched.
  virtual void after_backward(std::size_t unit) = 0;
  /// Kernels of \p unit's experts, or of their tokens on their way, are next in \p pass. Called before each of
  /// them.
  virtual void before_experts(std::size_t /*unit*/, Pass /*pass*/) {}
  /// The last of them has been launched.
  virtual void after_experts(std::size_t /*unit*/, Pass /*pass*/) {}
  /// A micro-batch's backward pass through \p chunk of the stage begins. \p first, \p last: of the step's.
  virtual void begin_micro_batch(int chunk, bool first, bool last) {
    chunk_ = chunk;
    is_first_ = first;
    is_last_ = last;
  }
  /// Its kernels have been launched.
  virtual void end_micro_batch() {}
  /// Gradients are complete when this has passed on the compute stream.
  virtual void end_backward() = 0;
  /// Called when the optimizer has updated this rank's parameters.
  virtual void after_optimizer() {}
  /// Parameters that this rank updates, of \p unit, in numbers.
  virtual std::int64_t updated(std::size_t unit) const = 0;
  /// How many of updated() are weights of products in the recipe's type.
  std::int64_t updated_casts(std::size_t unit) const;
  /// Tensors of \p unit, as the optimizer sees them: this rank updates a share of each.
  std::int64_t tensors(std::size_t unit) const;

 protected:
  DataParallel(const TrainingSetup& setup, std::vector<ParameterUnit> units, DataParallelGroup group,
               StepProgram& program);

  std::int64_t shard(std::size_t unit) const;  ///< of one rank, padded
  CollectiveCall call(CollectiveKind kind, Bytes bytes) const;
  bool has_replicas() const { return group_.replicas > 1; }
  CollectiveCall sum_over_replicas(std::int64_t count) const;  ///< of gradients
  Bytes of_parameters(std::int64_t count) const;               ///< in the type in which layers compute
  /// Bytes of \p unit as it is gathered: \p count numbers that are trained, all that are cast among them, and
  /// those that are frozen.
  Bytes as_gathered(std::size_t unit, std::int64_t count) const;
  std::int64_t cast_parameters() const;          ///< of all units
  Bytes of_gradients(std::int64_t count) const;  ///< as they are kept and reduced
  /// A kernel that goes through \p count numbers of gradients.
  void gradient_kernel(StepProgram::Stream stream, const std::string& name, VectorOp op, std::int64_t count);
  /// A kernel that reads \p count numbers in the type in which layers compute and writes them in \p other, or
  /// the reverse order.
  VectorShape cast(std::int64_t count, DType other) const;
  DType held_dtype() const;  ///< of parameters that every rank has
  /// One that reads gradients as layers make them and writes them as they are reduced.
  void cast_gradients(StepProgram::Stream stream, const std::string& name, std::int64_t count);
  void hold_states();
  void hold_frozen();
  void hold_moments();

  const TrainingSetup& setup_;
  std::vector<ParameterUnit> units_;
  DataParallelGroup group_;
  StepProgram& program_;
  StepProgram::Stream compute_;
  int chunk_ = 0;
  bool is_first_ = true, is_last_ = true;
};

/// Elements as a tensor of rows that kernels without rows take.
VectorShape flat(VectorOp op, std::int64_t count, DType dtype);
/// The kernel that copies elements of \p dtype to fp32 or back.
VectorShape fp32_copy(std::int64_t count, DType dtype);

}}  // namespace c3::workloads
