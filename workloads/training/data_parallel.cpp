#include "workloads/training/data_parallel.hpp"

#include <utility>

#include "workloads/models/styles/style.hpp"

namespace c3 { inline namespace workloads {

VectorShape flat(VectorOp op, std::int64_t count, DType dtype) {
  constexpr std::int64_t kRow = 1024;
  return {.chain = op, .rows = (count + kRow - 1) / kRow, .cols = kRow, .dtype = dtype};
}

// A cast between \p dtype and fp32, written as the copy in fp32 that moves as many bytes.
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
  const bool is_flat = setup_.sharding == Sharding::parameters && setup_.framework.flat_parameters;
  return is_flat ? 1 : units_[unit].tensors;
}

std::int64_t DataParallel::updated_casts(std::size_t unit) const {
  const ParameterUnit& whole = units_[unit];
  if (whole.cast_parameters == 0) return 0;
  return updated(unit) * whole.cast_parameters / whole.parameters;
}

std::int64_t DataParallel::cast_parameters() const {
  std::int64_t sum = 0;
  for (const ParameterUnit& unit : units_)
    sum += unit.cast_parameters;
  return sum;
}

Bytes DataParallel::as_gathered(std::size_t unit, std::int64_t count) const {
  const FrozenParameters& frozen = units_[unit].frozen;
  const std::int64_t cast = units_[unit].cast_parameters + frozen.cast;
  const Bytes of_cast{gathered_bytes_of_weight(setup_.precision, element_size(setup_.dtype)) *
                      static_cast<double>(cast)};
  return of_parameters(count + frozen.all - cast) + of_cast;
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

// Allocates the moments that the optimizer makes in its first step for each tensor that it sees. The tensors of
// a unit are taken as equally large; moments have their type.
void DataParallel::hold_moments() {
  const Bytes moment = element_size(setup_.framework.parameter_dtype);
  const double on_gpu = 1.0 - setup_.offload.optimizer;
  for (std::size_t unit = 0; unit < units_.size(); ++unit) {
    const std::int64_t count = tensors(unit);
    for (std::int64_t tensor = 0; tensor < count; ++tensor) {
      const std::int64_t begin = updated(unit) * tensor / count, end = updated(unit) * (tensor + 1) / count;
      for (int state = 0; state < setup_.optimizer.kind->states; ++state)
        program_.memory().allocate_late(compute_, MemoryClass::optimizer, "moments",
                                        moment * (on_gpu * static_cast<double>(end - begin)));
    }
  }
}

DType DataParallel::held_dtype() const {
  return setup_.framework.master_copy ? setup_.dtype : setup_.framework.parameter_dtype;
}

// Frozen parameters have the computing type, beside the copies that products in the recipe's type read; FSDP's
// ranks have a share.
void DataParallel::hold_frozen() {
  FrozenParameters sum;
  for (const ParameterUnit& unit : units_) {
    sum.all += unit.frozen.all;
    sum.cast += unit.frozen.cast;
  }
  if (sum.all == 0) return;
  const PrecisionSetup& precision = setup_.precision;
  const bool shares = setup_.sharding == Sharding::parameters;
  const auto of_cast = [&](double bytes) { return Bytes{bytes * static_cast<double>(sum.cast)}; };
  Bytes held = of_parameters(precision.parameters ? sum.all - sum.cast : sum.all);
  if (shares && precision.parameters)
    held += of_cast(gathered_bytes_of_weight(precision, element_size(setup_.dtype)));
  else if (!shares && setup_.framework.kernels->keeps_casts)
    held += of_cast(copied_bytes_of_weight(precision));
  program_.memory().allocate(compute_, MemoryClass::weights, "frozen parameters",
                             shares ? held / group_.size : held);
}

// Moments, twice; what the optimizer updates, and what layers compute with where that is another copy.
void DataParallel::hold_states() {
  std::int64_t all = 0, own = 0;
  for (std::size_t unit = 0; unit < units_.size(); ++unit) {
    all += units_[unit].parameters;
    own += updated(unit);
  }
  const Framework& framework = setup_.framework;
  const auto count = [](std::int64_t numbers) { return static_cast<double>(numbers); };
  MemoryLedger& memory = program_.memory();
  hold_moments();
  hold_frozen();
  if (setup_.sharding == Sharding::parameters) {
    memory.allocate(compute_, MemoryClass::weights, "shards",
                    element_size(framework.parameter_dtype) * count(own));
    return;
  }
  const std::int64_t cast = framework.kernels->keeps_casts ? cast_parameters() : 0;
  memory.allocate(compute_, MemoryClass::weights, "parameters",
                  element_size(held_dtype()) * count(setup_.precision.parameters ? all - cast : all));
  if (cast > 0)
    memory.allocate(compute_, MemoryClass::weights, "weights cast",
                    Bytes{copied_bytes_of_weight(setup_.precision) * count(cast)});
  if (framework.master_copy)
    memory.allocate(compute_, MemoryClass::optimizer, "master copy",
                    element_size(framework.parameter_dtype) * ((1.0 - setup_.offload.optimizer) * count(own)));
}

}}  // namespace c3::workloads
