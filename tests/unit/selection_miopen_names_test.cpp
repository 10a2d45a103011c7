// Which of our solvers computes as a solver of MIOpen does.

#include <doctest/doctest.h>

#include <optional>
#include <string>

#include "configs/presets/selector_file.hpp"
#include "gpu/kernels/convolution/miopen_solver.hpp"

namespace c3::selection_miopen_names_test {

TEST_CASE("MIOpen's solvers have the algorithm of one of ours, and naive kernels of none") {
  using enum ConvolutionSolver;
  CHECK(solver_like_miopens("ConvHipImplicitGemmForwardV4R4Xdlops") == implicit_gemm);
  CHECK(solver_like_miopens("ConvAsmImplicitGemmGTCDynamicFwdXdlopsNHWC") == implicit_gemm);  // not direct
  CHECK(solver_like_miopens("ConvMlirIgemmWrWXdlops") == implicit_gemm);
  CHECK(solver_like_miopens("GemmFwd1x1_0_1") == gemm);
  CHECK(solver_like_miopens("ConvAsm1x1U") == direct);
  CHECK(solver_like_miopens("ConvOclBwdWrW2<4>") == direct);
  CHECK(solver_like_miopens("ConvWinograd3x3MultipassWrW<3-2>") == winograd);
  CHECK(solver_like_miopens("fft") == fft);
  CHECK(solver_like_miopens("ConvDirectNaiveConvFwd") == std::nullopt);
  CHECK(solver_like_miopens("Winnow") == std::nullopt);
}

TEST_CASE("every solver of the shipped weights is like one of ours, but for naive kernels") {
  for (const auto& [name, selector] : load_selectors(shipped_selectors("miopen"))) {
    for (const std::string& solver : selector.steps.at(0).tokens) {
      CAPTURE(solver);
      CHECK(solver_like_miopens(solver).has_value() == (solver.find("Naive") == std::string::npos));
    }
  }
}

}  // namespace c3::selection_miopen_names_test
