#include "workloads/training/fully_sharded.hpp"

#include <algorithm>

#include "gpu/kernels/vector/vector_shape.hpp"

namespace c3 { inline namespace workloads {

FullyShardedParameters::FullyShardedParameters(const TrainingSetup& setup, std::vector<ParameterUnit> units,
                                               DataParallelGroup group, StepProgram& program,
                                               std::shared_ptr<ShardedInFlight> in_flight)
    : DataParallel(setup, std::move(units), group, program),
      gathers_(program.stream("all_gather")),
      reductions_(program.stream("reduce_scatter")),
      replicas_(group.replicas > 1 ? program.stream("replicas") : reductions_),
      state_(units_.size()),
      in_flight_(std::move(in_flight)),
      has_gradient_shard_(units_.size()) {}

void FullyShardedParameters::begin_step() { hold_states(); }

bool FullyShardedParameters::stays(std::size_t unit) const {
  const bool is_last = unit + 1 == units_.size() && !is_flat();
  return unit == 0 || is_last || !setup_.reshard_after_forward;
}

void FullyShardedParameters::wait_for_room() {
  release_freed();
  const auto room = std::exchange(in_flight_->room, std::nullopt);
  if (!room) return;
  if (setup_.framework.gathers_wait_on_host) program_.host_wait(*room);
  program_.wait(gathers_, *room);
}

void FullyShardedParameters::gather(std::size_t unit) {
  if (state_[unit].parameters || state_[unit].gathered) return;
  wait_for_room();
  const std::string& name = units_[unit].name;
  const Bytes bytes = as_gathered(unit, padded(unit));
  MemoryLedger& memory = program_.memory();
  state_[unit].buffer = is_flat()
                            ? memory.allocate(gathers_, MemoryClass::weights, "gathered parameters", bytes)
                            : memory.allocate(gathers_, MemoryClass::communication, "gathered", bytes);
  std::optional<Tensor> narrow_shard;  // FSDP 2 casts into the buffer
  if (setup_.framework.parameter_dtype != setup_.dtype) {
    if (is_flat())
      narrow_shard =
          memory.allocate(gathers_, MemoryClass::communication, "shard to be gathered", bytes / group_.size);
    if (shard(unit) > 0) program_.kernel(gathers_, name + " cast", cast_of_shard(unit));
  }
  follow(gathers_);
  if (group_.size > 1)
    program_.collective(gathers_, name + " all_gather", call(CollectiveKind::all_gather, bytes));
  release(narrow_shard);
  state_[unit].gathered = program_.record(gathers_, name + " gathered");
  last_collective_ = {gathers_, *state_[unit].gathered};
}

// Numbers of the optimizer's type are read, those of the gathered types written.
VectorShape FullyShardedParameters::cast_of_shard(std::size_t unit) const {
  const DType from = setup_.framework.parameter_dtype;
  if (units_[unit].cast_parameters == 0) return cast(shard(unit), from);
  const Bytes read = element_size(from) * static_cast<double>(shard(unit));
  const Bytes written = as_gathered(unit, padded(unit)) / group_.size;
  return flat(VectorOp::copy, static_cast<std::int64_t>(0.5 * ((read + written) / element_size(from))), from);
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
  for (; in_flight_->copied_out.size() > static_cast<std::size_t>(but); in_flight_->copied_out.pop_front()) {
    program_.memory().release(in_flight_->copied_out.front().buffer);
    in_flight_->room = in_flight_->copied_out.front().done;
  }
}

// FSDP 1's host waits for the oldest of two units that may still be read; without that, what it has launched
// since is more than can wait for the GPU.
void FullyShardedParameters::release_freed() {
  constexpr std::size_t kInFlight = 2;
  const Framework& framework = setup_.framework;
  const auto queue = static_cast<std::size_t>(framework.launch_queue);
  while (!freed_.empty()) {
    const ReadBuffer& oldest = freed_.front();
    const bool is_due = framework.gathers_wait_on_host ? freed_.size() >= kInFlight
                                                       : program_.launched(compute_) - oldest.launched >= queue;
    if (!is_due) return;
    if (framework.gathers_wait_on_host) in_flight_->room = oldest.done;
    program_.memory().release(oldest.buffer);
    freed_.pop_front();
  }
}

void FullyShardedParameters::copy_out(std::size_t unit, int buffers) {
  if (!state_[unit].gathered) return;
  const std::string& name = units_[unit].name;
  program_.wait(compute_, *std::exchange(state_[unit].gathered, std::nullopt));
  if (is_flat()) {
    state_[unit].parameters = std::exchange(state_[unit].buffer, std::nullopt);
    return;
  }
  release_buffers(std::max(buffers - 1, 0));
  state_[unit].parameters = program_.memory().allocate(compute_, MemoryClass::weights, "gathered parameters",
                                                       as_gathered(unit, units_[unit].parameters));
  const double numbers = as_gathered(unit, units_[unit].parameters) / element_size(setup_.dtype);
  program_.kernel(compute_, name + " copy out",
                  flat(VectorOp::copy, static_cast<std::int64_t>(numbers), setup_.dtype));
  in_flight_->copied_out.push_back({program_.record(compute_, name + " copied out"), *state_[unit].buffer});
  state_[unit].buffer.reset();
  release_buffers(buffers);
}

void FullyShardedParameters::reshard(std::size_t unit) {
  if (!is_flat()) return release(state_[unit].parameters);
  if (!state_[unit].parameters) return;
  program_.memory().let_go(*state_[unit].parameters);
  freed_.push_back({.done = program_.record(compute_, units_[unit].name + " freed"),
                    .buffer = *std::exchange(state_[unit].parameters, std::nullopt),
                    .launched = program_.launched(compute_)});
}

void FullyShardedParameters::before_forward(std::size_t unit) {
  gather(unit);
  copy_out(unit, setup_.framework.prefetch);
}

void FullyShardedParameters::after_forward(std::size_t unit) {
  if (!stays(unit)) reshard(unit);
}

void FullyShardedParameters::before_backward(std::size_t unit) {
  unshard_backward(unit);
  for (std::size_t ahead = 1; ahead <= static_cast<std::size_t>(setup_.framework.prefetch); ++ahead) {
    if (unit > ahead) gather(unit - ahead);
  }
  hold_gradients(unit);
}

void FullyShardedParameters::unshard_backward(std::size_t unit) {
  gather(unit);
  copy_out(unit, 0);
  release_buffers(0);
}

void FullyShardedParameters::hold_gradients(std::size_t unit) {
  if (units_[unit].parameters == 0 || state_[unit].gradients) return;
  state_[unit].gradients = program_.memory().allocate(compute_, MemoryClass::gradients, "of layers",
                                                      of_parameters(units_[unit].parameters));
}

void FullyShardedParameters::after_backward(std::size_t unit) {
  finish_reduction(!is_flat());
  if (units_[unit].parameters == 0) return;  // all frozen
  const std::string& name = units_[unit].name;
  const Bytes bytes = of_gradients(padded(unit));
  std::vector<Tensor> inputs = is_flat() ? flat_inputs(unit) : copied_inputs(unit);
  if (unit > 0) reshard(unit);
  follow(reductions_);
  if (group_.size > 1)
    program_.collective(reductions_, name + " reduce_scatter", call(CollectiveKind::reduce_scatter, bytes));
  if (is_flat())
    for (const Tensor input : inputs)
      program_.memory().let_go(input);
  if (!has_replicas()) keep_shard(reductions_, unit);
  in_flight_->reduction =
      ShardedInFlight::Reduction{program_.record(reductions_, name + " reduced"), std::move(inputs)};
  last_collective_ = {reductions_, in_flight_->reduction->done};
  if (has_replicas()) sum_shards(unit);
}

void FullyShardedParameters::sum_shards(std::size_t unit) {
  const std::string& name = units_[unit].name;
  program_.wait(replicas_, in_flight_->reduction->done);
  program_.collective(replicas_, name + " all_reduce", sum_over_replicas(shard(unit)));
  keep_shard(replicas_, unit);
  shards_summed_ = program_.record(replicas_, name + " summed");
}

void FullyShardedParameters::keep_shard(StepProgram::Stream stream, std::size_t unit) {
  if (has_gradient_shard_[unit])
    return gradient_kernel(stream, units_[unit].name + " accumulate", VectorOp::add, shard(unit));
  program_.memory().allocate(stream, MemoryClass::gradients, "shards", of_gradients(shard(unit)));
  has_gradient_shard_[unit] = true;
}

// A unit's gradients are one tensor, which is scattered as it is where it has the type for that.
std::vector<FullyShardedParameters::Tensor> FullyShardedParameters::flat_inputs(std::size_t unit) {
  std::vector<Tensor> inputs{*std::exchange(state_[unit].gradients, std::nullopt)};
  program_.order(compute_, reductions_, units_[unit].name + " gradients");
  if (setup_.framework.gradient_dtype == setup_.dtype) return inputs;
  inputs.push_back(program_.memory().allocate(reductions_, MemoryClass::communication, "to be scattered",
                                              of_gradients(padded(unit))));
  cast_gradients(reductions_, units_[unit].name + " cast gradients", padded(unit));
  return inputs;
}

std::vector<FullyShardedParameters::Tensor> FullyShardedParameters::copied_inputs(std::size_t unit) {
  const Tensor input = program_.memory().allocate(compute_, MemoryClass::communication, "to be scattered",
                                                  of_gradients(padded(unit)));
  cast_gradients(compute_, units_[unit].name + " copy in", padded(unit));
  release(state_[unit].gradients);
  program_.order(compute_, reductions_, units_[unit].name + " gradients");
  return {input};
}

void FullyShardedParameters::finish_reduction(bool waits) {
  if (!in_flight_->reduction) return;
  if (waits) program_.wait(compute_, in_flight_->reduction->done);
  for (const Tensor input : in_flight_->reduction->inputs)
    program_.memory().release(input);
  in_flight_->reduction.reset();
}

void FullyShardedParameters::end_backward() {
  finish_reduction(true);
  if (const auto summed = std::exchange(shards_summed_, std::nullopt)) program_.wait(compute_, *summed);
  if (is_last_ || is_flat()) reshard(0);
  if (!is_last_) return;
  for (; !freed_.empty(); freed_.pop_front())
    program_.memory().release(freed_.front().buffer);
}

}}  // namespace c3::workloads
