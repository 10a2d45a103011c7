// Calls of several kernels: phases before and after the main one move their own bytes, and take what the closed
// form says where nothing is beside them.

#include <doctest/doctest.h>

#include <numeric>
#include <string>
#include <vector>

#include "configs/presets/preset_store.hpp"
#include "gpu/kernel_time.hpp"
#include "gpu/kernels/convolution/solver.hpp"
#include "gpu/kernels/describe.hpp"
#include "tests/support/gpu_bench.hpp"
#include "tests/support/near.hpp"

namespace c3::gpu_kernel_phases_test {

using namespace literals;
using namespace test;

namespace {

KernelDescription with_phases() {
  KernelDescription kernel = plain_kernel("main", 8, 9.0_us);
  kernel.before = {{.name = "first", .read = 10.0_MB, .written = 10.0_MB, .time = 40.0_us}};
  kernel.after = {{.name = "last", .read = 5.0_MB, .written = {}, .time = 10.0_us}};
  return kernel;
}

KernelLaunch of_grain(KernelGrain grain) {
  KernelLaunch launch;
  launch.grain = grain;
  return launch;
}

/// All phases of \p kernel.
std::vector<KernelPhase> phases_of(const KernelDescription& kernel) {
  std::vector<KernelPhase> phases = kernel.before;
  phases.insert(phases.end(), kernel.after.begin(), kernel.after.end());
  return phases;
}

double elements(std::initializer_list<double> extents) {
  return std::accumulate(extents.begin(), extents.end(), 1.0, std::multiplies<>());
}

/// LeNet's second convolution, with the padding that FFTs require.
constexpr ConvolutionShape kSmall = {.batch = 64,
                                     .channels = 20,
                                     .filters = 50,
                                     .image = {12, 12},
                                     .filter = {5, 5},
                                     .pad = {2, 2},
                                     .dtype = DType::fp32};

/// kSmall by every solver and pass that can run it.
std::vector<ConvolutionShape> of_all_solvers() {
  std::vector<ConvolutionShape> shapes;
  for (const ConvolutionSolver solver : enum_values<ConvolutionSolver>()) {
    for (const ConvolutionPass pass : enum_values<ConvolutionPass>()) {
      ConvolutionShape shape = kSmall;
      shape.solver = solver;
      shape.pass = pass;
      if (can_run(solver, shape)) shapes.push_back(shape);
    }
  }
  return shapes;
}

}  // namespace

TEST_CASE("phases of a call run one after another around its main kernel, for their own times") {
  // 40 us, then 1 us of latency, 9 us and 1 us of last stores, then 10 us.
  for (const KernelGrain grain : enum_values<KernelGrain>()) {
    CAPTURE(name_of(grain));
    GpuBench bench(round_gpu());
    const auto& ran = bench.launch(0.0_s, with_phases(), of_grain(grain));
    bench.run();
    CHECK(ran.span() == near(61e-6));
  }
  CHECK(time_alone(with_phases(), round_gpu(), {.launch = LaunchCost::device}).time.value == near(61e-6));
}

TEST_CASE("a phase moves its bytes through memory: another stream's reads make it late") {
  // The phase reads 30 MB in 40 us alone. Beside a stream that takes nine tenths of 1 TB/s it takes 300 us.
  GpuBench bench(round_gpu());
  KernelDescription kernel = plain_kernel("main", 8, 9.0_us);
  kernel.before = {{.name = "first", .read = 30.0_MB, .written = {}, .time = 40.0_us}};
  const auto& ran = bench.launch(0.0_s, kernel, of_grain(KernelGrain::fluid));
  std::vector<Demand> demands;
  bench.gpu.memory().add_hbm_read(demands, 1, 1.0_GB);
  FlowSpec reading;
  reading.demands = demands;
  reading.bound = 900.0;
  reading.weight = 1e9;
  bench.simulation.fluid().start(reading, nullptr);
  bench.run();
  CHECK(ran.span() == near(300e-6 + 11e-6, 0.01));
}

TEST_CASE("contract: every solver's phases take in the simulator what the closed form says") {
  const GpuSpec gpu = load_gpu("mi100");
  for (const ConvolutionShape& shape : of_all_solvers()) {
    CAPTURE(name_of(shape.solver));
    CAPTURE(name_of(shape.pass));
    const KernelDescription kernel = describe("convolution", shape, gpu);
    GpuBench bench(gpu);
    const auto& ran = bench.launch(0.0_s, kernel, of_grain(KernelGrain::fluid));
    bench.run();
    const KernelTime alone = time_alone(kernel, gpu, {.launch = LaunchCost::device});
    CHECK(ran.span() == near((alone.time - alone.launch).value, 0.01));
  }
}

TEST_CASE("an FFT has six phases, which read and write each spectrum twice") {
  // 12 pixels and 4 beside them, whose factors are 2, 3 and 5: 16 x 9 complex numbers of 8 B of every image,
  // filter and result; each is read and written by its transform and by its transpose.
  ConvolutionShape shape = kSmall;
  shape.solver = ConvolutionSolver::fft;
  const KernelDescription kernel = plan_convolution(shape, load_gpu("mi100")).kernel;
  CHECK(kernel.before.size() == 4);
  CHECK(kernel.after.size() == 2);
  double moved = 0.0;
  for (const KernelPhase& phase : phases_of(kernel))
    moved += (phase.read + phase.written).value;
  CHECK(moved == near(4 * 8 * 16 * 9 * (elements({64, 20}) + elements({50, 20}) + elements({64, 50}))));
}

TEST_CASE("what is touched of a phase's tensors is what it moves") {
  const GpuSpec gpu = load_gpu("mi100");
  for (const ConvolutionShape& shape : of_all_solvers()) {
    CAPTURE(name_of(shape.solver));
    CAPTURE(name_of(shape.pass));
    const KernelDescription kernel = plan_convolution(shape, gpu).kernel;
    CHECK(kernel.touches.size() == 3);
    for (const KernelPhase& phase : phases_of(kernel)) {
      Bytes touched;
      for (const TouchedTensor& tensor : phase.touches) {
        touched += tensor.bytes;
        CHECK(tensor.footprint.bytes() > 0);
      }
      CHECK(touched.value == near((phase.read + phase.written).value));
    }
  }
}

}  // namespace c3::gpu_kernel_phases_test
