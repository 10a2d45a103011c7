#include "studies/one_gpu/bare_gpu.hpp"

#include <cstddef>
#include <cstdint>

#include "gpu/kernel_run.hpp"

namespace c3 { inline namespace studies {
namespace {

Task run_stream(Gpu& gpu, const BareStream& stream, int number, Seconds& ended) {
  std::uint64_t kernels = 0;
  for (const KernelDescription& kernel : stream.kernels) {
    KernelLaunch how;
    how.stream = number;
    how.order = number;
    how.draw = static_cast<std::uint64_t>(number) << 32U | kernels;
    how.range = stream.sms.size() > 0 ? stream.sms : CuRange{0, gpu.spec().compute.cus_per_xcd};
    how.delay = kernels > 0 ? gpu.spec().dispatch.dependent_gap : gpu.spec().dispatch.launch_latency;
    co_await run_kernel(gpu, kernel, how);
    ++kernels;
  }
  ended = gpu.simulation().now();
}

}  // namespace

std::vector<Seconds> run_bare(const GpuSpec& gpu, const std::vector<BareStream>& streams) {
  GpuSetup setup{.streams = {}, .isolation = {}, .seed = 1};
  for (const BareStream& stream : streams)
    setup.streams.push_back(stream.name);
  Simulation simulation;
  Gpu runs(simulation, gpu, setup, /*rank=*/0);
  std::vector<Seconds> ended(streams.size());
  for (std::size_t i = 0; i < streams.size(); ++i)
    simulation.spawn(streams[i].name, run_stream(runs, streams[i], static_cast<int>(i), ended[i]));
  simulation.run_without_simgrid();
  return ended;
}

}}  // namespace c3::studies
