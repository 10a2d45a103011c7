// Convolutions by solver: times with memory as a whole and as channels, and what each phase of a call reaches.

#include <fmt/format.h>

#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "configs/jobs/experiment_reader.hpp"
#include "gpu/kernel_time.hpp"
#include "gpu/kernels/describe.hpp"
#include "studies/camping/sections.hpp"
#include "studies/cases/kernel_row.hpp"
#include "workloads/execute/buffer_reach.hpp"
#include "workloads/execute/run.hpp"
#include "workloads/program/written_streams.hpp"

namespace c3 { inline namespace studies {
namespace {

using namespace literals;

constexpr double kAllPercent = 100.0;

/// One call of \p op on each of four MI100, with 4 stacks of 8 channels.
Experiment one_convolution(const Operator& op, ChannelMapping mapping, MemoryGrain grain) {
  const std::vector<WrittenStream> streams = {{"compute", {{"convolution", op}}}};
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

/// Shares of the call's time alone that its phases take, in the order of phases_of(); launches and what their
/// seams cost belong to none.
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

/// Lines of the phases of \p op that reach less than 90 % with consecutive blocks.
void add_phases(StudySection& section, const std::string& label, const Operator& op,
                const PublishedFigure& figure) {
  const Experiment experiment = one_convolution(op, ChannelMapping::consecutive, MemoryGrain::channels);
  const GpuSpec& gpu = experiment.cluster.gpu;
  const AddressPlan plan(gpu, experiment.program);
  const std::vector<TouchedPhase> placed =
      plan.phases_of(experiment.program.scripts.front().streams.front().front());
  const std::vector<double> times = shares_of_time(describe("convolution", op, gpu), gpu);
  for (std::size_t i = 0; i < placed.size(); ++i) {
    std::array<double, kReachMappings.size()> reach{};
    for (std::size_t m = 0; m < reach.size(); ++m) {
      ChannelSpec channels = gpu.hbm.channels;
      channels.mapping = kReachMappings.at(m);
      reach.at(m) = kAllPercent * reach_of(placed[i], AddressMapping(channels), plan.channel_rate());
    }
    if (reach.front() >= 90.0) continue;
    section.lines.push_back(
        {.figure = {.reference = figure, .simulated = reach.front()},
         .label = fmt::format("{}, {}", label, placed[i].name.empty() ? "main kernel" : placed[i].name),
         .beside = {{"xor", reach[1]}, {"ipoly", reach[2]}, {"of time", kAllPercent * times.at(i)}}});
  }
}

}  // namespace

NumberSource convolution_row(const RowArguments& row) {
  return [op = operator_in(row)] {
    const auto time = [&](ChannelMapping mapping, MemoryGrain grain) {
      return time_of_run(one_convolution(op, mapping, grain)) / 1.0_us;
    };
    std::map<std::string, double> times{{"whole", time(ChannelMapping::random, MemoryGrain::whole)}};
    for (const ChannelMapping mapping : kReachMappings)
      times.emplace(name_of(mapping), time(mapping, MemoryGrain::channels));
    return times;
  };
}

StudySection phases(const PublishedFigures& published) {
  StudySection section{
      .heading = "Phases of convolutions: share of the bandwidth that the tensors of each reach together",
      .lines = {},
      .notes = {"Those below 90 % with consecutive blocks. of time: share of the call's time alone."},
      .value = "consecutive [%]"};
  const HeadedTable table(study_file("camping", "convolutions.csv"));
  for (const HeadedTable::Row& table_row : table.rows()) {
    const Cells cells(table, table_row);
    const RowArguments row(cells, {});
    add_phases(section, row.text("label"), operator_in(row), published.find("phases"));
  }
  return section;
}

}}  // namespace c3::studies
