#include "workloads/training/fully_sharded_experts.hpp"

#include <utility>

namespace c3 { inline namespace workloads {

FullyShardedExperts::FullyShardedExperts(const TrainingSetup& setup, std::vector<ParameterUnit> all,
                                         const std::vector<ChunkUnits>& chunks, ShardedUnits others,
                                         ShardedUnits experts, StepProgram& program)
    : FullyShardedExperts(setup, std::move(all), chunks, std::move(others), std::move(experts), program,
                          std::make_shared<ShardedInFlight>()) {}

FullyShardedExperts::FullyShardedExperts(const TrainingSetup& setup, std::vector<ParameterUnit> all,
                                         const std::vector<ChunkUnits>& chunks, ShardedUnits others,
                                         ShardedUnits experts, StepProgram& program,
                                         const std::shared_ptr<ShardedInFlight>& in_flight)
    : DataParallel(setup, std::move(all), {}, program),
      next_(units_.size()),
      previous_(units_.size()),
      others_(setup, std::move(others.units), std::move(others.group), program, in_flight),
      experts_(setup, experts.units, std::move(experts.group), program, in_flight) {
  for (const ParameterUnit& unit : experts.units)
    has_experts_.push_back(unit.parameters > 0);
  for (const ChunkUnits& chunk : chunks) {
    for (std::size_t i = 1; i < chunk.units.size(); ++i) {
      next_[chunk.units[i - 1]] = chunk.units[i];
      previous_[chunk.units[i]] = chunk.units[i - 1];
    }
  }
}

void FullyShardedExperts::begin_step() {
  others_.begin_step();
  experts_.begin_step();
}

// Before the first layer only the word table runs, which does not gather that layer's experts ahead.
void FullyShardedExperts::gather_ahead(std::size_t unit, const Neighbours& neighbours) {
  std::optional<std::size_t> ahead = unit;
  for (int count = 0; count < setup_.framework.prefetch && (ahead = neighbours[*ahead]); ++count) {
    others_.gather(*ahead);
    if (unit > 0 && has_experts_[*ahead]) experts_.gather(*ahead);
  }
}

void FullyShardedExperts::before_forward(std::size_t unit) {
  others_.before_forward(unit);
  gather_ahead(unit, next_);
}

void FullyShardedExperts::before_backward(std::size_t unit) {
  others_.unshard_backward(unit);
  if (unit > 0) gather_ahead(unit, previous_);
  others_.hold_gradients(unit);
}

void FullyShardedExperts::before_experts(std::size_t unit, Pass pass) {
  if (pass == Pass::forward) return experts_.before_forward(unit);
  experts_.unshard_backward(unit);
  experts_.hold_gradients(unit);
}

void FullyShardedExperts::after_experts(std::size_t unit, Pass pass) {
  pass == Pass::forward ? experts_.after_forward(unit) : experts_.after_backward(unit);
}

void FullyShardedExperts::begin_micro_batch(int chunk, bool first, bool last) {
  others_.begin_micro_batch(chunk, first, last);
  experts_.begin_micro_batch(chunk, first, last);
}

void FullyShardedExperts::end_backward() {
  others_.end_backward();
  experts_.end_backward();
}

std::int64_t FullyShardedExperts::updated(std::size_t unit) const {
  return others_.updated(unit) + experts_.updated(unit);
}

}}  // namespace c3::workloads
