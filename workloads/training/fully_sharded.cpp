#include "workloads/training/fully_sharded.hpp"

#include <algorithm>
#include <utility>

#include "gpu/kernels/vector/vector_shape.hpp"

namespace c3::inline workloads {

FullyShardedParameters::FullyShardedParameters(const TrainingSetup& setup, std::vector<ParameterUnit> units,
                                               DataParallelGroup group, StepProgram& program)
    : DataParallel(setup, std::move(units), group, program),
      gathers_(program.stream("all_gather")),
      reductions_(program.stream("reduce_scatter")),
      state_(units_.size()),
      has_gradient_shard_(units_.size()) {}

void FullyShardedParameters::begin_step() { hold_states(); }

bool FullyShardedParameters::stays(std::size_t unit) const {
  return unit == 0 || unit + 1 == units_.size() || !setup_.reshard_after_forward;
}

void FullyShardedParameters::gather(std::size_t unit) {
  if (state_[unit].parameters || state_[unit].gathered) return;
  if (const auto room = std::exchange(room_, std::nullopt)) {
    if (setup_.framework.gathers_wait_on_host) program_.host_wait(*room);
    program_.wait(gathers_, *room);
  }
  const std::string& name = units_[unit].name;
  const Bytes bytes = of_parameters(padded(unit));
  state_[unit].buffer = program_.memory().allocate(gathers_, MemoryClass::communication, "gathered", bytes);
  if (setup_.framework.parameter_dtype != setup_.dtype) {
    program_.kernel(gathers_, name + " cast", cast(shard(unit), setup_.framework.parameter_dtype));
  }
  follow(gathers_);
  program_.collective(gathers_, name + " all_gather", call(CollectiveKind::all_gather, bytes));
  state_[unit].gathered = program_.record(gathers_, name + " gathered");
  last_collective_ = {gathers_, *state_[unit].gathered};
}

// One communicator runs its collectives one after another, whatever their streams.
void FullyShardedParameters::follow(StepProgram::Stream stream) {
  if (!setup_.framework.one_communicator || !last_collective_ || last_collective_->first == stream) return;
  program_.wait(stream, last_collective_->second);
}

void FullyShardedParameters::release(std::optional<Tensor>& tensor) {
  if (tensor) program_.memory().release(*std::exchange(tensor, std::nullopt));
}

// Whatever is gathered into them from now on waits until they have been read.
void FullyShardedParameters::release_buffers(int but) {
  for (; copied_out_.size() > static_cast<std::size_t>(but); copied_out_.pop_front()) {
    program_.memory().release(copied_out_.front().buffer);
    room_ = copied_out_.front().done;
  }
}

void FullyShardedParameters::copy_out(std::size_t unit, int buffers) {
  if (!state_[unit].gathered) return;
  const std::string& name = units_[unit].name;
  program_.wait(compute_, *std::exchange(state_[unit].gathered, std::nullopt));
  release_buffers(std::max(buffers - 1, 0));
  state_[unit].parameters = program_.memory().allocate(compute_, MemoryClass::weights, "gathered parameters",
                                                       of_parameters(units_[unit].parameters));
  program_.kernel(compute_, name + " copy out", flat(VectorOp::copy, units_[unit].parameters, setup_.dtype));
  copied_out_.push_back({program_.record(compute_, name + " copied out"), *state_[unit].buffer});
  state_[unit].buffer.reset();
  release_buffers(buffers);
}

void FullyShardedParameters::reshard(std::size_t unit) { release(state_[unit].parameters); }

void FullyShardedParameters::before_forward(std::size_t unit) {
  gather(unit);
  copy_out(unit, setup_.framework.prefetch);
}

void FullyShardedParameters::after_forward(std::size_t unit) {
  if (!stays(unit)) reshard(unit);
}

void FullyShardedParameters::before_backward(std::size_t unit) {
  gather(unit);
  copy_out(unit, 0);
  release_buffers(0);
  for (std::size_t ahead = 1; ahead <= static_cast<std::size_t>(setup_.framework.prefetch); ++ahead) {
    if (unit > ahead) gather(unit - ahead);
  }
  state_[unit].gradients = program_.memory().allocate(compute_, MemoryClass::gradients, "of layers",
                                                      of_parameters(units_[unit].parameters));
}

void FullyShardedParameters::after_backward(std::size_t unit) {
  finish_reduction();
  const std::string& name = units_[unit].name;
  const Bytes bytes = of_gradients(padded(unit));
  const Tensor input =
      program_.memory().allocate(compute_, MemoryClass::communication, "to be scattered", bytes);
  cast_gradients(compute_, name + " copy in", padded(unit));
  release(state_[unit].gradients);
  if (unit > 0) reshard(unit);
  program_.order(compute_, reductions_, name + " gradients");
  follow(reductions_);
  program_.collective(reductions_, name + " reduce_scatter", call(CollectiveKind::reduce_scatter, bytes));
  if (!has_gradient_shard_[unit]) {
    program_.memory().allocate(reductions_, MemoryClass::gradients, "shards", of_gradients(shard(unit)));
    has_gradient_shard_[unit] = true;
  } else {
    gradient_kernel(reductions_, name + " accumulate", VectorOp::add, shard(unit));
  }
  reduction_ = Reduction{program_.record(reductions_, name + " reduced"), input};
  last_collective_ = {reductions_, reduction_->done};
}

void FullyShardedParameters::finish_reduction() {
  if (!reduction_) return;
  program_.wait(compute_, reduction_->done);
  program_.memory().release(reduction_->input);
  reduction_.reset();
}

void FullyShardedParameters::end_backward() {
  finish_reduction();
  if (is_last_) reshard(0);
}

}  // namespace c3::workloads
