#pragma once
/// Convolutions of images with filters, and the two gradients of one.

#include <cstdint>

#include "base/enum_names.hpp"
#include "gpu/kernels/operator.hpp"
#include "gpu/kernels/windows.hpp"
#include "gpu/spec.hpp"

namespace c3 { inline namespace gpu {

/// Which of a convolution's three products is computed.
enum class ConvolutionPass : std::uint8_t {
  forward,  ///< output, from input and filters
  data,     ///< gradient of the input, from that of the output and the filters
  weight,   ///< gradient of the filters, from the input and the output's gradient
};
constexpr auto enum_names(ConvolutionPass) {
  return std::to_array<EnumName<ConvolutionPass>>({{"forward", ConvolutionPass::forward},
                                                   {"data", ConvolutionPass::data},
                                                   {"weight", ConvolutionPass::weight}});
}

/// How a convolution is computed. One entry each in solver_table.cpp.
enum class ConvolutionSolver : std::uint8_t {
  fastest,        ///< the fastest of those below that can
  implicit_gemm,  ///< one product whose operand is gathered from the image as it is loaded
  gemm,           ///< products of a BLAS library; unless 1 x 1, on a matrix of patches made for each image
  direct,         ///< multiply-adds on vector units
  winograd,       ///< fewer multiplications, on small tiles that are transformed before and after
  fft,            ///< products of Fourier transforms
};
constexpr auto enum_names(ConvolutionSolver) {
  return std::to_array<EnumName<ConvolutionSolver>>({{"fastest", ConvolutionSolver::fastest},
                                                     {"implicit_gemm", ConvolutionSolver::implicit_gemm},
                                                     {"gemm", ConvolutionSolver::gemm},
                                                     {"direct", ConvolutionSolver::direct},
                                                     {"winograd", ConvolutionSolver::winograd},
                                                     {"fft", ConvolutionSolver::fft}});
}

/// Sizes are those of the forward convolution, whatever the pass.
struct ConvolutionShape {
  std::int64_t batch = 1;
  std::int64_t channels = 1;  ///< of the input, all groups together
  std::int64_t filters = 1;   ///< channels of the output, all groups together
  std::int64_t groups = 1;    ///< each takes its share of the channels to its share of the filters
  Extent2 image = {};
  Extent2 filter = {};
  Extent2 pad = {0, 0};  ///< zeros on each side
  Extent2 stride = {};
  Extent2 dilation = {};
  DType dtype = DType::fp16;
  ConvolutionPass pass = ConvolutionPass::forward;
  ImageLayout layout = ImageLayout::nchw;
  ConvolutionSolver solver = ConvolutionSolver::fastest;

  bool operator==(const ConvolutionShape&) const = default;
};

const OperatorClass& operator_class(const ConvolutionShape& shape);

/// Height and width of the output; not positive where the filter does not fit the padded image.
Extent2 output_extent(const ConvolutionShape& shape);

inline std::int64_t channels_of_group(const ConvolutionShape& shape) { return shape.channels / shape.groups; }
inline std::int64_t filters_of_group(const ConvolutionShape& shape) { return shape.filters / shape.groups; }

/// Multiplications of the definition, zeros of the padding among them: the same for all three passes.
double direct_multiplications(const ConvolutionShape& shape);

/// Elements of the three tensors.
struct ConvolutionTensors {
  double input, filters, output;

  double all() const { return input + filters + output; }
};
ConvolutionTensors tensors_of(const ConvolutionShape& shape);

/// Elements that \p shape's pass writes.
double written_elements(const ConvolutionShape& shape);

/// The product C[m,n] = A[m,k] B[k,n] that the pass is, `count` of them: of each group, and, where the data
/// pass has a stride, of each phase of the pixels that see the same taps. m is filters (channels in the data
/// pass).
struct ConvolutionProduct {
  std::int64_t m, n, k, count;
};
ConvolutionProduct product_of(const ConvolutionShape& shape);

}}  // namespace c3::gpu
