#pragma once
/// Fully sharded parameters of a model whose experts are divided among other ranks than all else.

#include <memory>
#include <optional>
#include <vector>

#include "workloads/training/fully_sharded.hpp"

namespace c3 { inline namespace workloads {

/// Units of experts, or all others, and the ranks among which each is divided.
struct ShardedUnits {
  std::vector<ParameterUnit> units;
  DataParallelGroup group;
};

/// Works like torchtitan: a layer's experts are a unit of their own, sharded over the ranks that have the same
/// experts; its router, shared experts and attention are another one, sharded over all data-parallel ranks.
/// Both are gathered a layer ahead, forward and backward, by orders of their own: the host, which waits for
/// numbers of tokens, would come too late for gathers in the order of computation. Experts are copied out
/// before tokens leave for them, and resharded or reduced when what they made is back, backward likewise. Only
/// the first layer's experts are gathered when they are needed. Where nobody has the same experts nothing is
/// gathered, but cast and copied. Source: pytorch/torchtitan @05a6cb38, models/llama4/infra/parallelize.py,
/// apply_fsdp. Wrong when: the word table, the head and the last layer are resharded between their passes.
class FullyShardedExperts final : public DataParallel {
 public:
  /// \param all what both together have of each unit
  FullyShardedExperts(const TrainingSetup& setup, std::vector<ParameterUnit> all,
                      const std::vector<ChunkUnits>& chunks, ShardedUnits others, ShardedUnits experts,
                      StepProgram& program);

  void begin_step() override;
  void before_forward(std::size_t unit) override;
  void after_forward(std::size_t unit) override { others_.after_forward(unit); }
  void before_backward(std::size_t unit) override;
  void after_backward(std::size_t unit) override { others_.after_backward(unit); }
  void before_experts(std::size_t unit, Pass pass) override;
  void after_experts(std::size_t unit, Pass pass) override;
  void begin_micro_batch(int chunk, bool first, bool last) override;
  void end_backward() override;
  std::int64_t updated(std::size_t unit) const override;

 private:
  FullyShardedExperts(const TrainingSetup& setup, std::vector<ParameterUnit> all,
                      const std::vector<ChunkUnits>& chunks, ShardedUnits others, ShardedUnits experts,
                      StepProgram& program, const std::shared_ptr<ShardedInFlight>& in_flight);

  /// One unit of the same chunk for each unit; nullopt: there is none.
  using Neighbours = std::vector<std::optional<std::size_t>>;

  /// Gathers units that follow \p unit among \p neighbours.
  void gather_ahead(std::size_t unit, const Neighbours& neighbours);

  std::vector<bool> has_experts_;  ///< by unit
  Neighbours next_, previous_;     ///< in the order of a forward pass
  FullyShardedParameters others_, experts_;
};

}}  // namespace c3::workloads
