#include "workloads/training/expert_data_parallel.hpp"

#include <utility>

namespace c3 { inline namespace workloads {

ExpertDataParallel::ExpertDataParallel(const TrainingSetup& setup, std::vector<ParameterUnit> all,
                                       const std::vector<ParameterUnit>& of_experts,
                                       std::unique_ptr<DataParallel> others,
                                       std::unique_ptr<DataParallel> experts, StepProgram& program)
    : DataParallel(setup, std::move(all), {}, program),
      others_(std::move(others)),
      experts_(std::move(experts)) {
  for (const ParameterUnit& unit : of_experts)
    has_experts_.push_back(unit.parameters > 0);
}

void ExpertDataParallel::begin_step() {
  others_->begin_step();
  experts_->begin_step();
}

void ExpertDataParallel::begin_forward(std::size_t number) {
  others_->begin_forward(number);
  experts_->begin_forward(number);
}

void ExpertDataParallel::before_forward(std::size_t unit) {
  others_->before_forward(unit);
  if (has_experts_[unit]) experts_->before_forward(unit);
}

void ExpertDataParallel::after_forward(std::size_t unit) {
  others_->after_forward(unit);
  if (has_experts_[unit]) experts_->after_forward(unit);
}

void ExpertDataParallel::before_backward(std::size_t unit) {
  others_->before_backward(unit);
  if (has_experts_[unit]) experts_->before_backward(unit);
}

void ExpertDataParallel::after_backward(std::size_t unit) {
  if (has_experts_[unit]) experts_->after_backward(unit);
  others_->after_backward(unit);
}

void ExpertDataParallel::begin_micro_batch(int chunk, bool first, bool last) {
  others_->begin_micro_batch(chunk, first, last);
  experts_->begin_micro_batch(chunk, first, last);
}

void ExpertDataParallel::end_micro_batch() {
  others_->end_micro_batch();
  experts_->end_micro_batch();
}

void ExpertDataParallel::end_backward() {
  others_->end_backward();
  experts_->end_backward();
}

void ExpertDataParallel::after_optimizer() {
  others_->after_optimizer();
  experts_->after_optimizer();
}

std::int64_t ExpertDataParallel::updated(std::size_t unit) const {
  return others_->updated(unit) + experts_->updated(unit);
}

}}  // namespace c3::workloads
