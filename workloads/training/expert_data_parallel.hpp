#pragma once
/// Data parallelism of a model whose experts have other replicas than all else.

#include <memory>
#include <vector>

#include "workloads/training/data_parallel.hpp"

namespace c3 { inline namespace workloads {

/// Passes a step's course on to both: buckets, gathers and shards of experts are their own. Wrong when: a
/// framework reduces the gradients of both in one order.
class ExpertDataParallel final : public DataParallel {
 public:
  /// \param all what both together have of each unit
  ExpertDataParallel(const TrainingSetup& setup, std::vector<ParameterUnit> all,
                     const std::vector<ParameterUnit>& of_experts, std::unique_ptr<DataParallel> others,
                     std::unique_ptr<DataParallel> experts, StepProgram& program);

  void begin_step() override;
  void begin_forward(std::size_t number) override;
  void before_forward(std::size_t unit) override;
  void after_forward(std::size_t unit) override;
  void before_backward(std::size_t unit) override;
  void after_backward(std::size_t unit) override;
  void begin_micro_batch(int chunk, bool first, bool last) override;
  void end_micro_batch() override;
  void end_backward() override;
  void after_optimizer() override;
  std::int64_t updated(std::size_t unit) const override;

 private:
  std::vector<bool> has_experts_;  ///< by unit
  std::unique_ptr<DataParallel> others_, experts_;
};

}}  // namespace c3::workloads
