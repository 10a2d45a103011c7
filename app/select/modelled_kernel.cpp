#include "app/select/modelled_kernel.hpp"

#include <memory>

#include "engine/errors.hpp"
#include "gpu/kernels/convolution/miopen_solver.hpp"
#include "gpu/kernels/convolution/solver.hpp"
#include "gpu/kernels/describe.hpp"
#include "gpu/kernels/gemm/gemm_choice.hpp"
#include "gpu/kernels/gemm/gemm_plan.hpp"

namespace c3 { inline namespace app {
namespace {

/// A library that has one kernel.
class OneKernel final : public LibraryChoice {
 public:
  explicit OneKernel(const LibraryGemm& kernel) : kernel_(kernel) {}
  std::optional<LibraryGemm> kernel_for(const GemmShape&, const GpuSpec&) const override { return kernel_; }

 private:
  LibraryGemm kernel_;
};

std::optional<Seconds> time_if_possible(const Operator& op, const GpuSpec& gpu, const KernelSlice& slice) {
  try {
    return time_of(op, gpu, slice).time;
  } catch (const InfeasibleError&) {
    return std::nullopt;
  }
}

std::optional<Seconds> time_by(const KernelCase& asked, std::shared_ptr<const LibraryChoice> choice) {
  GpuSpec gpu = *asked.gpu;
  gpu.library_choice = std::move(choice);
  return time_if_possible(asked.op, gpu, asked.slice);
}

}  // namespace

std::optional<ModelledKernel> fastest_of_model(const KernelCase& asked) {
  if (const auto* shape = asked.op.as<ConvolutionShape>()) {
    const std::optional<Seconds> time = time_if_possible(asked.op, *asked.gpu, asked.slice);
    if (!time) return std::nullopt;
    return ModelledKernel{plan_convolution(*shape, *asked.gpu).solver, time};
  }
  const std::optional<Seconds> time = time_by(asked, nullptr);
  if (!time) return std::nullopt;
  const GemmPlan plan = fastest_plan(*asked.op.as<GemmShape>(), *asked.gpu);
  return ModelledKernel{LibraryGemm{plan.tile.m, plan.tile.n, plan.tile.k, plan.split}, time};
}

std::optional<ModelledKernel> modelled_solver(const KernelCase& asked, std::string_view name) {
  const std::optional<ConvolutionSolver> solver = solver_like_miopens(name);
  if (!solver) return std::nullopt;
  ConvolutionShape shape = *asked.op.as<ConvolutionShape>();
  shape.solver = *solver;
  return ModelledKernel{*solver, time_if_possible(shape, *asked.gpu, asked.slice)};
}

ModelledKernel modelled_product(const KernelCase& asked, const LibraryGemm& kernel, bool on_vectors) {
  if (on_vectors != on_vector_units(asked.op.as<GemmShape>()->dtype, *asked.gpu)) return {kernel, std::nullopt};
  return {kernel, time_by(asked, std::make_shared<OneKernel>(kernel))};
}

}}  // namespace c3::app
