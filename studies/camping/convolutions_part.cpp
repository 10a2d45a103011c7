// Convolutions by solver: times with memory as a whole and as channels, and what each phase of a call reaches.

#include <fmt/format.h>

#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "configs/jobs/experiment_reader.hpp"
#include "engine/errors.hpp"
#include "gpu/kernel_time.hpp"
#include "gpu/kernels/convolution/solver.hpp"
#include "gpu/kernels/describe.hpp"
#include "studies/camping/parts.hpp"
#include "workloads/execute/buffer_reach.hpp"
#include "workloads/execute/run.hpp"
#include "workloads/program/written_streams.hpp"

namespace c3 { inline namespace studies {
namespace {

constexpr double kAllPercent = 100.0;

struct Layer {
  const char* name;
  ConvolutionShape shape;
};

Layer layer(const char* name, std::int64_t channels, std::int64_t filters, std::int64_t image,
            std::int64_t filter, std::int64_t pad) {
  return {name,
          {.batch = 64,
           .channels = channels,
           .filters = filters,
           .image = {image, image},
           .filter = {filter, filter},
           .pad = {pad, pad},
           .dtype = DType::fp32}};
}

std::vector<Layer> layers() {
  return {layer("LeNet conv1, 1 x 28 x 28, 20 of 5 x 5", 1, 20, 28, 5, 0),
          layer("LeNet conv2, 20 x 12 x 12, 50 of 5 x 5", 20, 50, 12, 5, 0),
          layer("MNIST, 32 x 14 x 14, 64 of 5 x 5, padded", 32, 64, 14, 5, 2),
          layer("ResNet, 64 x 56 x 56, 64 of 3 x 3", 64, 64, 56, 3, 1),
          layer("ResNet, 256 x 14 x 14, 256 of 3 x 3", 256, 256, 14, 3, 1),
          layer("ResNet, 64 x 56 x 56, 256 of 1 x 1", 64, 256, 56, 1, 0)};
}

/// One call of \p shape on each of four MI100, with 4 stacks of 8 channels.
Experiment one_convolution(const ConvolutionShape& shape, ChannelMapping mapping, MemoryGrain grain) {
  const std::vector<WrittenStream> streams = {{"compute", {{"convolution", shape}}}};
  Experiment experiment;
  experiment.name = "convolution";
  experiment.cluster = load_cluster("mi100-4");
  experiment.cluster.gpu.hbm.channels = {.count = 32, .row_cycle = {}, .mapping = mapping};
  experiment.program = program_of(streams, experiment.cluster.ranks());
  experiment.strategies = {{.name = "default", .order = {}, .streams = {}}};
  experiment.measure.kernel_grain = experiment.measure.vector_grain = KernelGrain::fluid;
  experiment.measure.memory_grain = grain;
  return experiment;
}

Seconds time_of_run(const Experiment& experiment) {
  return run_once(experiment, experiment.strategies.front(), {}).time;
}

/// Of the call's time alone, the part that its phases take, by phase in the order of phases_of(); launches and
/// what their seams cost are none's.
std::vector<double> shares_of_time(const KernelDescription& kernel, const GpuSpec& gpu) {
  const KernelTime whole = time_alone(kernel, gpu, {.launch = LaunchCost::device});
  const Seconds time = whole.time - whole.launch;
  Seconds main = time - kernel.overhead;
  for (const auto* phases : {&kernel.before, &kernel.after})
    for (const KernelPhase& phase : *phases)
      main = main - phase.time;
  std::vector<double> shares;
  for (const KernelPhase& phase : kernel.before)
    shares.push_back(phase.time / time);
  shares.push_back(main / time);
  for (const KernelPhase& phase : kernel.after)
    shares.push_back(phase.time / time);
  return shares;
}

}  // namespace

ConvolutionsPart::ConvolutionsPart() {
  for (const Layer& each : layers()) {
    for (const ConvolutionSolver solver : enum_values<ConvolutionSolver>()) {
      for (const ImageLayout layout : enum_values<ImageLayout>()) {
        ConvolutionShape shape = each.shape;
        shape.solver = solver;
        shape.layout = layout;
        if (solver == ConvolutionSolver::fastest || !can_run(solver, shape)) continue;
        runs_.push_back({each.name, shape, {}});
      }
    }
  }
}

void ConvolutionsPart::plan(SimulationJobs& jobs) {
  for (Run& run : runs_) {
    jobs.push_back({.run =
                        [&run] {
                          SimulatedTime found;
                          const auto add = [&](ChannelMapping mapping, MemoryGrain grain) {
                            found.values.push_back(
                                time_of_run(one_convolution(run.shape, mapping, grain)).value);
                          };
                          add(ChannelMapping::random, MemoryGrain::whole);
                          for (const ChannelMapping mapping : kReachMappings)
                            add(mapping, MemoryGrain::channels);
                          return found;
                        },
                    .take = [&run](const SimulatedTime& found) { run.times = found.values; }});
  }
}

StudySection ConvolutionsPart::times(const PublishedFigures& published) const {
  StudySection section{
      .heading = "Convolutions by solver on MI100, 64 images, FP32: time, and how much longer with channels",
      .lines = {},
      .notes = {"32 channels. No times by algorithm were published to compare."},
      .value = "whole [us]",
      .decimals = 2};
  for (const Run& run : runs_) {
    StudyLine line{.figure = {.of = published.find("convolutions"), .simulated = 1e6 * run.times.front()},
                   .label = fmt::format("{}: {}{}", run.layer, name_of(run.shape.solver),
                                        run.shape.layout == ImageLayout::nhwc ? ", NHWC" : "")};
    for (std::size_t i = 0; i < kReachMappings.size(); ++i)
      line.beside.emplace_back(fmt::format("{} [%]", name_of(kReachMappings[i])),
                               kAllPercent * (run.times.at(i + 1) / run.times.front() - 1.0));
    section.lines.push_back(std::move(line));
  }
  return section;
}

StudySection ConvolutionsPart::phases(const PublishedFigures& published) const {
  StudySection section{
      .heading = "Their phases: share of the bandwidth that the tensors of each reach together",
      .lines = {},
      .notes = {"Those below 90 % with consecutive blocks. of time: share of the call's time alone."},
      .value = "consecutive [%]"};
  for (const Run& run : runs_) {
    const Experiment experiment =
        one_convolution(run.shape, ChannelMapping::consecutive, MemoryGrain::channels);
    const GpuSpec& gpu = experiment.cluster.gpu;
    const AddressPlan plan(gpu, experiment.program);
    const std::vector<TouchedPhase> placed =
        plan.phases_of(experiment.program.scripts.front().streams.front().front());
    const std::vector<double> times = shares_of_time(describe("convolution", run.shape, gpu), gpu);
    for (std::size_t i = 0; i < placed.size(); ++i) {
      std::array<double, kReachMappings.size()> reach{};
      for (std::size_t m = 0; m < reach.size(); ++m) {
        ChannelSpec channels = gpu.hbm.channels;
        channels.mapping = kReachMappings.at(m);
        reach.at(m) = kAllPercent * reach_of(placed[i], AddressMapping(channels), plan.channel_rate());
      }
      if (reach.front() >= 90.0) continue;
      StudyLine line{.figure = {.of = published.find("phases"), .simulated = reach.front()},
                     .label = fmt::format("{}: {}{}, {}", run.layer, name_of(run.shape.solver),
                                          run.shape.layout == ImageLayout::nhwc ? ", NHWC" : "",
                                          placed[i].name.empty() ? "main kernel" : placed[i].name)};
      line.beside = {{"xor", reach[1]}, {"ipoly", reach[2]}, {"of time", kAllPercent * times.at(i)}};
      section.lines.push_back(std::move(line));
    }
  }
  return section;
}

StudyReport ConvolutionsPart::sections(const PublishedFigures& published) const {
  return {times(published), phases(published)};
}

}}  // namespace c3::studies
