#include "workloads/training/data_parallel.hpp"

#include <utility>

#include "gpu/kernels/vector/vector_shape.hpp"

namespace c3::inline workloads {

VectorShape flat(VectorOp op, std::int64_t count, DType dtype) {
  constexpr std::int64_t kRow = 1024;
  return {.chain = op, .rows = (count + kRow - 1) / kRow, .cols = kRow, .dtype = dtype};
}

// Of as many bytes, as a copy of fp32.
VectorShape fp32_copy(std::int64_t count, DType dtype) {
  const double share = 0.5 * (1.0 + element_size(dtype) / element_size(DType::fp32));
  return flat(VectorOp::copy, static_cast<std::int64_t>(static_cast<double>(count) * share), DType::fp32);
}

DataParallel::DataParallel(const TrainingSetup& setup, std::vector<ParameterUnit> units,
                           DataParallelGroup group, StepProgram& program)
    : setup_(setup),
      units_(std::move(units)),
      group_(group),
      program_(program),
      compute_(program.stream("compute")) {}

std::int64_t DataParallel::shard(std::size_t unit) const {
  return (units_[unit].parameters + group_.size - 1) / group_.size;
}

std::int64_t DataParallel::tensors(std::size_t unit) const {
  return setup_.framework.flat_parameters ? 1 : units_[unit].tensors;
}

CollectiveCall DataParallel::call(CollectiveKind kind, Bytes bytes) const {
  const DType dtype = reduces(kind) ? setup_.framework.gradient_dtype : setup_.dtype;
  CollectiveCall call{.kind = kind, .bytes = bytes, .dtype = dtype};
  if (!group_.is_all) call.groups = RankGroups{.size = group_.size, .stride = group_.stride};
  return call;
}

CollectiveCall DataParallel::sum_over_replicas(std::int64_t count) const {
  return {.kind = CollectiveKind::all_reduce,
          .bytes = of_gradients(count),
          .dtype = setup_.framework.gradient_dtype,
          .groups = RankGroups{.size = group_.replicas, .stride = group_.stride * group_.size}};
}

// What all have of FSDP's is a part of each unit.
std::int64_t DataParallel::frozen_here(std::size_t unit) const {
  const std::int64_t all = units_[unit].frozen;
  return setup_.sharding == Sharding::parameters ? (all + group_.size - 1) / group_.size : all;
}

Bytes DataParallel::of_parameters(std::int64_t count) const {
  return element_size(setup_.dtype) * static_cast<double>(count);
}

Bytes DataParallel::of_gradients(std::int64_t count) const {
  return element_size(setup_.framework.gradient_dtype) * static_cast<double>(count);
}

void DataParallel::gradient_kernel(StepProgram::Stream stream, const std::string& name, VectorOp op,
                                   std::int64_t count) {
  program_.kernel(stream, name, flat(op, count, setup_.framework.gradient_dtype));
}

void DataParallel::cast_gradients(StepProgram::Stream stream, const std::string& name, std::int64_t count) {
  program_.kernel(stream, name, cast(count, setup_.framework.gradient_dtype));
}

// Half of the copy has either size.
VectorShape DataParallel::cast(std::int64_t count, DType other) const {
  const double both =
      0.5 * (element_size(setup_.dtype) + element_size(other)).value / element_size(other).value;
  return flat(VectorOp::copy, static_cast<std::int64_t>(static_cast<double>(count) * both), other);
}

// Two for each tensor that the optimizer sees, of equal sizes and of its type, made in its first step.
void DataParallel::hold_moments() {
  const Bytes moment = element_size(setup_.framework.parameter_dtype);
  for (std::size_t unit = 0; unit < units_.size(); ++unit) {
    const std::int64_t count = tensors(unit);
    for (std::int64_t tensor = 0; tensor < count; ++tensor) {
      const std::int64_t begin = updated(unit) * tensor / count, end = updated(unit) * (tensor + 1) / count;
      for (int times = 0; times < 2; ++times)
        program_.memory().allocate_late(compute_, MemoryClass::optimizer, "moments",
                                        moment * static_cast<double>(end - begin));
    }
  }
}

DType DataParallel::held_dtype() const {
  return setup_.framework.master_copy ? setup_.dtype : setup_.framework.parameter_dtype;
}

// Moments, twice; what the optimizer updates, and what layers compute with where that is another copy.
void DataParallel::hold_states() {
  std::int64_t all = 0, own = 0, frozen = 0;
  for (std::size_t unit = 0; unit < units_.size(); ++unit) {
    all += units_[unit].parameters;
    own += updated(unit);
    frozen += frozen_here(unit);
  }
  const Framework& framework = setup_.framework;
  const auto count = [](std::int64_t numbers) { return static_cast<double>(numbers); };
  MemoryLedger& memory = program_.memory();
  hold_moments();
  if (frozen > 0) memory.allocate(compute_, MemoryClass::weights, "frozen parameters", of_parameters(frozen));
  if (setup_.sharding == Sharding::parameters) {
    memory.allocate(compute_, MemoryClass::weights, "shards",
                    element_size(framework.parameter_dtype) * count(own));
    return;
  }
  memory.allocate(compute_, MemoryClass::weights, "parameters", element_size(held_dtype()) * count(all));
  if (framework.master_copy)
    memory.allocate(compute_, MemoryClass::optimizer, "master copy",
                    element_size(framework.parameter_dtype) * count(own));
}

}  // namespace c3::workloads
