#include "workloads/training/optimizer_step.hpp"

#include <array>
#include <cmath>
#include <utility>

namespace c3::inline workloads {

OptimizerStep::OptimizerStep(const TrainingSetup& setup, const RankGrid& grid, std::vector<std::size_t> units,
                             DataParallel& data_parallel, StepProgram& program)
    : setup_(setup),
      grid_(grid),
      units_(std::move(units)),
      data_parallel_(data_parallel),
      program_(program),
      compute_(program.stream("compute")) {}

void OptimizerStep::write() {
  const Framework& framework = setup_.framework;
  if (framework.master_copy) unscale();
  if (framework.clips_gradients) sum_squares();
  if (framework.syncs) program_.host_wait(program_.record(compute_, "gradients checked"));
  if (framework.clips_gradients) scale();
  list_tensors();
  for (const std::size_t unit : units_)
    update(unit);
  data_parallel_.after_optimizer();
}

void OptimizerStep::unscale() {
  for (const std::size_t unit : units_) {
    if (setup_.framework.gradient_dtype != DType::fp32) program_.kernel(compute_, "main gradients", cast(unit));
    if (setup_.dtype == DType::fp16)
      program_.kernel(compute_, "unscale", of_gradients(VectorOp::mul_scalar, unit));
  }
}

// Over all ranks. Those that have all gradients of a weight know its share of the norm.
void OptimizerStep::sum_squares() {
  for (const std::size_t unit : units_)
    program_.kernel(compute_, "clip", of_gradients(VectorOp::reduce, unit));
  const bool is_sharded = (setup_.sharding != Sharding::none && grid_.size(GridAxis::data) > 1) ||
                          (setup_.has_expert_grid() && setup_.experts.ranks > 1);
  const CollectiveCall all{.kind = CollectiveKind::all_reduce, .bytes = Bytes{8}, .dtype = DType::fp32};
  std::vector<CollectiveCall> sums;
  if (is_sharded) sums.push_back(all);
  for (const GridAxis axis : {GridAxis::tensor, GridAxis::pipeline}) {
    if (!is_sharded && grid_.size(axis) > 1) sums.push_back(grid_.along(axis, all));
  }
  if (sums.empty()) return;
  const auto stream = program_.stream("norm");
  program_.order(compute_, stream, "squares summed");
  for (CollectiveCall& sum : sums)
    program_.collective(stream, "gradients' norm", std::move(sum));
  program_.order(stream, compute_, "norm known");
}

// Times what makes the norm small enough.
void OptimizerStep::scale() {
  for (const std::size_t unit : units_)
    program_.kernel(compute_, "clip", of_gradients(VectorOp::mul_scalar, unit));
}

// The host makes the lists over which kernels go, before it launches the first of them.
void OptimizerStep::list_tensors() {
  std::int64_t tensors = 0;
  for (const std::size_t unit : units_)
    tensors += data_parallel_.tensors(unit);
  program_.host_work(program_.costs().optimizer * static_cast<double>(tensors));
}

namespace {

/// As many numbers in fp32 as have the size of \p count: the operator `adam` of 16-bit numbers keeps fp32
/// moments beside them, which PyTorch's does not.
std::int64_t as_fp32(std::int64_t count, DType dtype) {
  return std::llround(
      std::ceil(static_cast<double>(count) * (element_size(dtype) / element_size(DType::fp32))));
}

}  // namespace

void OptimizerStep::update(std::size_t unit) {
  // PyTorch's loops over lists of tensors where one kernel does not do it all: decay, first moment, second
  // moment (two), root, correction, epsilon, update.
  constexpr std::array kLoops = {VectorOp::mul_scalar, VectorOp::add,        VectorOp::mul_scalar,
                                 VectorOp::add,        VectorOp::pow_scalar, VectorOp::mul_scalar,
                                 VectorOp::add_scalar, VectorOp::add};
  const std::int64_t count = data_parallel_.updated(unit);
  const DType dtype = setup_.framework.parameter_dtype;  // of the moments, too
  if (setup_.framework.fused_optimizer) {
    program_.kernel(compute_, "adam", flat(VectorOp::adam, as_fp32(count, dtype), DType::fp32));
  } else {
    for (const VectorOp op : kLoops)
      program_.kernel(compute_, "adam", flat(op, count, dtype));
  }
  if (setup_.framework.master_copy) program_.kernel(compute_, "parameters", cast(unit));
}

VectorShape OptimizerStep::of_gradients(VectorOp op, std::size_t unit) const {
  return flat(op, data_parallel_.updated(unit), gradient_dtype());
}

DType OptimizerStep::gradient_dtype() const {
  return setup_.framework.master_copy ? DType::fp32 : setup_.framework.gradient_dtype;
}

// Half of the copy has either size.
VectorShape OptimizerStep::cast(std::size_t unit) const {
  return fp32_copy(data_parallel_.updated(unit), setup_.dtype);
}

}  // namespace c3::workloads
