#pragma once
/// What the cost model makes of a shape, and of a kernel that a library would take for it.

#include <optional>
#include <string_view>
#include <variant>

#include "app/kernel/kernel_request.hpp"
#include "engine/units.hpp"
#include "gpu/kernels/convolution/convolution_shape.hpp"
#include "gpu/library_kernels.hpp"

namespace c3 { inline namespace app {

/// A kernel as the cost model has it.
struct ModelledKernel {
  std::variant<ConvolutionSolver, LibraryGemm> kernel;
  /// The time between launch and the last store, like that of `c3sim kernel`; absent: the model has no such
  /// kernel, or the shape does not fit the GPU.
  std::optional<Seconds> time;
};

/// What the cost model would choose for \p asked, a convolution or product, by its times: the fastest solver,
/// or the fastest of the GPU's tiles and splits, whatever its GemmChoice. Absent: it can run none.
std::optional<ModelledKernel> fastest_of_model(const KernelCase& asked);

/// MIOpen's solver \p name as the model has it. Absent: the model has no solver like it.
std::optional<ModelledKernel> modelled_solver(const KernelCase& asked, std::string_view name);

/// rocBLAS's \p kernel, for vector units or (not \p on_vectors) for matrix units. Without a time where the
/// model computes products of this type on the others.
ModelledKernel modelled_product(const KernelCase& asked, const LibraryGemm& kernel, bool on_vectors);

}}  // namespace c3::app
