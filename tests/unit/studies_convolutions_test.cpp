// A find-db: reading it, and scoring it by hand. Networks: their layers' multiplications.

#include <doctest/doctest.h>

#include <string>

#include "configs/presets/preset_store.hpp"
#include "gpu/kernels/convolution/solver.hpp"
#include "gpu/kernels/describe.hpp"
#include "studies/convolutions/parts.hpp"
#include "tests/support/near.hpp"
#include "tests/unit/config_files.hpp"

namespace c3::studies_convolutions_test { namespace {

constexpr const char* kHeader =
    "direction,dtype,layout,N,C,H,W,K,P,Q,R,S,pad_h,pad_w,stride_h,stride_w,dilation_h,dilation_w,groups,"
    "solver,"
    "algorithm,ms,workspace_bytes\n";
constexpr const char* kShape = "FP16,NCHW,64,64,56,56,64,56,56,3,3,1,1,1,1,1,1,1,";

std::string row(const char* direction, const std::string& solver_and_rest) {
  return std::string(direction) + "," + kShape + solver_and_rest + "\n";
}

FindDb read(const std::string& rows) {
  const ScratchFolder folder;
  return read_find_db(folder.write("db.csv", kHeader + rows));
}

const PublishedFigures& published() {
  static const PublishedFigures kPublished(study_file("convolutions", "published.csv"));
  return kPublished;
}

TEST_CASE("of a convolution's rows the least of each solver counts, and of all of them") {
  const FindDb db = read(
      row("F", "ConvAsm3x3U,FwdAlgoDirect,0.3,0") + row("F", "ConvOclDirectFwd,FwdAlgoDirect,0.25,7") +
      row("F", "ConvDirectNaiveConvFwd,FwdAlgoDirect,0.1,0") + row("F", "GemmFwdRest,FwdAlgoGEMM,0.4,3612672") +
      row("F", "ConvMlirIgemmFwdXdlops,FwdAlgoImplicitGEMM,0.2,0") +
      row("W", "GemmWrwUniversal,WrWeightsAlgoGEMM,0.5,3612672"));
  REQUIRE(db.convolutions.size() == 2);
  CHECK(db.broken.empty());
  const FoundConvolution& forward = db.convolutions.front();
  CHECK(forward.best.value == near(0.1e-3));  // the naive one, which is no kernel of a solver
  CHECK(forward.by_solver.at(ConvolutionSolver::direct).value == near(0.25e-3));
  CHECK(forward.by_solver.at(ConvolutionSolver::implicit_gemm).value == near(0.2e-3));
  CHECK(forward.workspaces.at(ConvolutionSolver::direct).value == 7);
  CHECK(db.convolutions.back().shape.pass == ConvolutionPass::weight);
  // 64 channels x 9 taps x 56 x 56 pixels in fp16: what our plan keeps, too.
  ConvolutionShape shape = forward.shape;
  shape.solver = ConvolutionSolver::gemm;
  CHECK(plan_convolution(shape, load_gpu("mi100")).workspace == forward.workspaces.at(ConvolutionSolver::gemm));
}

TEST_CASE("rows that are no convolution are named with their place") {
  const FindDb db = read(
      "F,FP16,NCHW,1,3,10,10,8,9,8,3,3,0,0,1,1,1,1,1,GemmFwdRest,FwdAlgoGEMM,0.1,0\n"
      "F,FP16,NCHW,1,3,10,10,8,8,8,3,3,0,0,1,1,1,1,2,GemmFwdRest,FwdAlgoGEMM,0.1,0\n"
      "F,FP16,NCHW,1,3,10,10,8,8,8,3,3,0,0,1,1,1,1,1,GemmFwdRest,FwdAlgoSlow,0.1,0\n");
  CHECK(db.convolutions.empty());
  REQUIRE(db.broken.size() == 3);
  CHECK(db.broken[0].find("db.csv:2") != std::string::npos);
  CHECK(db.broken[0].find("the output of this convolution is 8 x 8") != std::string::npos);
  CHECK(db.broken[1].find("must divide channels and filters") != std::string::npos);
  CHECK(db.broken[2].find("is none of Direct, FFT, GEMM") != std::string::npos);
}

TEST_CASE("a find-db's times are of kernels, without what launches them") {
  const GpuSpec gpu = load_gpu("mi100");
  const FindDb db = read(row("F", "GemmFwdRest,FwdAlgoGEMM,0.4,0"));
  ConvolutionShape shape = db.convolutions.front().shape;
  shape.solver = ConvolutionSolver::gemm;
  const double launches = time_of(shape, gpu).time.value - time_of(shape, as_in_find_db(gpu)).time.value;
  CHECK(launches == near(128 * gpu.dispatch.launch_latency.value, 1e-6));  // 64 images, two kernels each
}

TEST_CASE("solvers are scored by the error of their times, and a choice by what it costs") {
  const GpuSpec gpu = as_in_find_db(load_gpu("mi100"));
  MeasuredGpu measured{.name = "MI100",
                       .words = "mi100",
                       .gpu = gpu,
                       .db = read(row("F", "A,FwdAlgoDirect,0.3,0") + row("F", "B,FwdAlgoImplicitGEMM,0.2,0"))};
  // Direct is 0.15 ms here, half of what it is there, and so the choice: 0.3 ms for 0.2.
  const SolverTimes times = {
      {{ConvolutionSolver::direct, Seconds{0.15e-3}}, {ConvolutionSolver::implicit_gemm, Seconds{0.16e-3}}}};
  const StudyReport report = compared(measured, times, published(), "fitted", FigureKind::fitted);
  REQUIRE(report.size() == 3);
  CHECK(*report[0].lines.front().figure.simulated == near(25.0));  // 0.15 for 0.2
  CHECK(report[0].lines.front().beside.front().second == near(-25.0));
  REQUIRE(report[1].lines.size() == 2);
  CHECK(*report[1].lines[0].figure.simulated == near(20.0));  // implicit products: 0.16 for 0.2
  CHECK(*report[1].lines[1].figure.simulated == near(50.0));
  CHECK(*report[2].lines.front().figure.simulated == near(50.0));
  CHECK(report[2].lines.front().beside.front().second == 0.0);
}

TEST_CASE("layers of the networks make the multiplications that are published of them") {
  // An image of 224 x 224 takes ResNet-50 4.1 and VGG-16 15.3 thousand million multiply-adds in convolutions,
  // one of 299 x 299 Inception-V3 5.7: 53, 13 and 94 layers.
  struct Expected {
    std::string network;
    std::int64_t layers;
    double billions;
  };
  const auto layers = read_networks(study_file("convolutions", "networks.csv"));
  for (const Expected& expected : {Expected{"resnet50", 53, 4.09}, Expected{"vgg16", 13, 15.35},
                                   Expected{"inception_v3", 94, 5.71}, Expected{"lenet5", 2, 0.000358}}) {
    CAPTURE(expected.network);
    std::int64_t count = 0;
    double multiplications = 0.0;
    for (const NetworkLayer& layer : layers) {
      if (layer.network != expected.network) continue;
      count += layer.count;
      multiplications += static_cast<double>(layer.count) * direct_multiplications(layer.shape);
    }
    CHECK(count == expected.layers);
    CHECK(multiplications == near(1e9 * expected.billions, 2e-3));
  }
}

}}  // namespace c3::studies_convolutions_test
