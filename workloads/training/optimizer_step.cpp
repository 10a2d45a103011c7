#include "workloads/training/optimizer_step.hpp"

#include <cmath>
#include <utility>

#include "gpu/pim.hpp"

namespace c3 { inline namespace workloads {

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
  const bool clips_itself = framework.fused_optimizer && setup_.optimizer.kind->clips;
  if (framework.clips_gradients && !clips_itself) scale();
  list_tensors();
  update_on_host();
  update();
  if (setup_.offload.optimizer > 0.0) program_.order(program_.stream("reload"), compute_, "parameters back");
  if (setup_.precision.gathers_cast()) cast_weights();
  data_parallel_.after_optimizer();
}

void OptimizerStep::unscale() {
  for (const std::size_t unit : units_) {
    if (setup_.framework.gradient_dtype != DType::fp32) kernel("main gradients", cast(unit));
    if (setup_.dtype == DType::fp16) kernel("unscale", of_gradients(VectorOp::mul_scalar, unit));
  }
}

// Sums squares over all ranks. Those that have all gradients of a weight know its share of the norm.
void OptimizerStep::sum_squares() {
  for (const std::size_t unit : units_)
    kernel("clip", of_gradients(VectorOp::reduce, unit));
  const bool is_sharded = (setup_.sharding != Sharding::none && grid_.replicas().size > 1) ||
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
    kernel("clip", of_gradients(VectorOp::mul_scalar, unit));
}

// The host makes the lists over which kernels go, before it launches the first of them.
void OptimizerStep::list_tensors() {
  program_.host_work(program_.costs().optimizer * static_cast<double>(tensors()));
}

namespace {

/// The count of fp32 numbers that are as large as \p count numbers of \p dtype: the operator `adam` of 16-bit
/// numbers keeps fp32 moments beside them, which PyTorch's does not.
std::int64_t as_fp32(std::int64_t count, DType dtype) {
  return std::llround(
      std::ceil(static_cast<double>(count) * (element_size(dtype) / element_size(DType::fp32))));
}

}  // namespace

void OptimizerStep::update() {
  const OptimizerEntry& optimizer = *setup_.optimizer.kind.operator->();
  const OptimizerKernels& kernels = setup_.framework.fused_optimizer ? optimizer.fused : optimizer.loops;
  for (const std::size_t unit : units_) {
    run(kernels.first, unit);
    if (kernels.then.empty()) copy_parameters(unit);
  }
  if (kernels.then.empty()) return;
  sum_norms_of_tensors();
  for (const std::size_t unit : units_) {
    run(kernels.then, unit);
    copy_parameters(unit);
  }
}

void OptimizerStep::run(std::span<const OptimizerPass> passes, std::size_t unit) {
  const std::int64_t count = of_gpu(unit);
  if (count == 0) return;
  const DType dtype = setup_.framework.parameter_dtype;  // of what the optimizer keeps, too
  for (const OptimizerPass& pass : passes) {
    kernel(std::string(pass.name), setup_.framework.fused_optimizer
                                       ? flat(pass.op, as_fp32(count, dtype), DType::fp32)
                                       : flat(pass.op, count, dtype));
  }
}

std::int64_t OptimizerStep::of_host(std::size_t unit) const {
  return std::llround(setup_.offload.optimizer * static_cast<double>(data_parallel_.updated(unit)));
}

void OptimizerStep::update_on_host() {
  if (setup_.offload.optimizer <= 0.0) return;
  const auto out = program_.stream("offload"), host = program_.stream("host"), back = program_.stream("reload");
  const Bytes held =
      element_size(setup_.framework.master_copy ? setup_.dtype : setup_.framework.parameter_dtype);
  Bytes passes = held;  // of a number: what comes back is written, too
  for (const OptimizerPass& pass : setup_.optimizer.kind->fused.first)
    passes += element_size(DType::fp32) * (traits(pass.op).reads + traits(pass.op).writes);
  program_.order(compute_, out, "gradients for the host");
  for (const std::size_t unit : units_) {
    const auto count = static_cast<double>(of_host(unit));
    if (count <= 0.0) continue;
    program_.host_copy(out, "gradients to the host",
                       {element_size(gradient_dtype()) * count, HostWay::to_host});
    program_.order(out, host, "gradients at the host");
    program_.host_copy(host, "optimizer of the host", {passes * count, HostWay::within});
    program_.order(host, back, "parameters updated");
    program_.host_copy(back, "parameters from the host", {held * count, HostWay::from_host});
  }
}

void OptimizerStep::copy_parameters(std::size_t unit) {
  if (setup_.framework.master_copy && of_gpu(unit) > 0)
    kernel("parameters", cast(unit, 1.0 - setup_.offload.optimizer));
}

void OptimizerStep::sum_norms_of_tensors() {
  const CollectiveCall all{.kind = CollectiveKind::all_reduce,
                           .bytes = 2.0 * element_size(DType::fp32) * static_cast<double>(tensors()),
                           .dtype = DType::fp32};
  std::vector<CollectiveCall> sums;
  const RankGroups replicas = grid_.replicas();
  if (setup_.sharding != Sharding::none && replicas.size > 1) {
    sums.push_back(all);
    if (replicas.size < grid_.ranks()) sums.back().groups = replicas;
  }
  if (grid_.size(GridAxis::tensor) > 1) sums.push_back(grid_.along(GridAxis::tensor, all));
  if (sums.empty()) return;
  const auto stream = program_.stream("norm");
  program_.order(compute_, stream, "norms of tensors");
  for (CollectiveCall& sum : sums)
    program_.collective(stream, "norms of tensors", std::move(sum));
  program_.order(stream, compute_, "norms of tensors summed");
}

void OptimizerStep::kernel(const std::string& name, const VectorShape& shape) {
  if (setup_.optimizer.place == Place::gpu) return program_.kernel(compute_, name, shape);
  program_.timed(compute_, name, in_memory(shape, setup_.optimizer.hbm));
}

std::int64_t OptimizerStep::tensors() const {
  std::int64_t tensors = 0;
  for (const std::size_t unit : units_)
    tensors += data_parallel_.tensors(unit);
  return tensors;
}

// What is sharded whole is cast before it is gathered. A rank's part of a block of numbers that share a scale
// is not all of it (TransformerEngine @d0067d0d, pytorch/tensor/utils.py, cast_master_weights_to_fp8; torchao,
// precompute_float8_dynamic_scale_for_fsdp).
void OptimizerStep::cast_weights() {
  const RecipeEntry& recipe = *setup_.precision.recipe.operator->();
  const bool searches = recipe.weights.searches || recipe.scales_by_direction;
  const DType from = setup_.framework.parameter_dtype;
  std::int64_t tensors = 0;
  for (const std::size_t unit : units_) {
    const std::int64_t count = data_parallel_.updated_casts(unit);
    if (count > 0) tensors += data_parallel_.tensors(unit);
    if (count > 0 && searches) kernel("largest weights", flat(VectorOp::reduce, count, from));
  }
  if (tensors > 0 && grid_.size(GridAxis::data) > 1) {
    const auto stream = program_.stream("norm");
    program_.order(compute_, stream, "largest weights found");
    program_.collective(
        stream, "largest weights",
        grid_.along(GridAxis::data, {.kind = CollectiveKind::all_reduce,
                                     .bytes = element_size(DType::fp32) * static_cast<double>(tensors),
                                     .dtype = DType::fp32}));
    program_.order(stream, compute_, "scales known");
  }
  if (setup_.sharding == Sharding::parameters) return;
  for (const std::size_t unit : units_) {
    const auto count = static_cast<double>(data_parallel_.updated_casts(unit));
    const double read_and_written = element_size(from).value + bytes_of_number(recipe.weights.rows);
    const double as_copy = count * 0.5 * read_and_written / element_size(from).value;
    if (count > 0.0) kernel("weights cast", flat(VectorOp::copy, static_cast<std::int64_t>(as_copy), from));
  }
}

VectorShape OptimizerStep::of_gradients(VectorOp op, std::size_t unit) const {
  return flat(op, data_parallel_.updated(unit), gradient_dtype());
}

DType OptimizerStep::gradient_dtype() const {
  return setup_.framework.master_copy ? DType::fp32 : setup_.framework.gradient_dtype;
}

// Half of the copy has either size.
VectorShape OptimizerStep::cast(std::size_t unit, double share) const {
  const bool are_cast = setup_.precision.gathers_cast();
  const std::int64_t all = data_parallel_.updated(unit) - (are_cast ? data_parallel_.updated_casts(unit) : 0);
  return fp32_copy(std::llround(share * static_cast<double>(all)), setup_.dtype);
}

}}  // namespace c3::workloads
