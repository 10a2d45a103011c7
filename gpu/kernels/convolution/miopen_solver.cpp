#include "gpu/kernels/convolution/miopen_solver.hpp"

#include <algorithm>
#include <array>

namespace c3 { inline namespace gpu {
namespace {

/// Names that contain `part` are of `solver`, unless an earlier row has them.
struct NamedLike {
  std::string_view part;
  std::optional<ConvolutionSolver> solver;
};
constexpr auto kNames = std::to_array<NamedLike>({{"Naive", std::nullopt},
                                                  {"ImplicitGemm", ConvolutionSolver::implicit_gemm},
                                                  {"Igemm", ConvolutionSolver::implicit_gemm},
                                                  {"Winograd", ConvolutionSolver::winograd},
                                                  {"Gemm", ConvolutionSolver::gemm},
                                                  {"fft", ConvolutionSolver::fft},
                                                  {"ConvAsm", ConvolutionSolver::direct},
                                                  {"ConvOcl", ConvolutionSolver::direct}});

}  // namespace

std::optional<ConvolutionSolver> solver_like_miopens(std::string_view name) {
  const auto known = std::ranges::find_if(
      kNames, [&](const NamedLike& each) { return name.find(each.part) != std::string_view::npos; });
  return known == kNames.end() ? std::nullopt : known->solver;
}

}}  // namespace c3::gpu
