// A product beside an all-gather, and a training step, at channel grain with each mapping.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <string_view>
#include <utility>

#include "configs/jobs/experiment_reader.hpp"
#include "gpu/kernels/gemm/gemm_shape.hpp"
#include "studies/camping/parts.hpp"
#include "workloads/execute/buffer_reach.hpp"
#include "workloads/execute/run.hpp"
#include "workloads/program/written_streams.hpp"

namespace c3 { inline namespace studies {
namespace {

constexpr double kPercent = 100.0;
constexpr int kPairChannels = 128, kStepChannels = 32;
constexpr std::array kMappings = {ChannelMapping::random, ChannelMapping::consecutive,
                                  ChannelMapping::exclusive_or, ChannelMapping::ipoly,
                                  ChannelMapping::page_entropy};

/// A product with few columns, which reads its weight once, beside the all-gather of the next one: MI300X, 8
/// stacks of 16 channels.
Experiment pair() {
  const std::vector<WrittenStream> streams = {
      {"product", {{"product", GemmShape{.m = 8192, .n = 64, .k = 8192, .dtype = DType::bf16}}}},
      {"gather",
       {{"gather", CollectiveCall{.kind = CollectiveKind::all_gather, .bytes = Bytes{128.0 * (1 << 20)}}}}}};
  Experiment experiment;
  experiment.name = "pair";
  experiment.cluster = load_cluster("mi300x-8");
  experiment.program = program_of(streams, experiment.cluster.ranks());
  experiment.strategies = {{.name = "default", .order = {}, .streams = {}}};
  experiment.measure.kernel_grain = experiment.measure.vector_grain = KernelGrain::fluid;
  return experiment;
}

/// Two layers of BERT-Large on an MI100, 4 stacks of 8 channels.
Experiment step() {
  const std::vector<std::string> sets = {"+model.layers=2"};
  return ExperimentFile::load(experiment_of_study("bert", "bert_large_mi100.toml"), sets).make(std::nullopt);
}

/// Two layers of LLaMA 3 8B on eight MI300X.
Experiment sharded_step() {
  return ExperimentFile::load(experiment_of_study("camping", "channel_step.toml"), {}).make(std::nullopt);
}

/// Mean load of each channel of GPU 0 in equal times, over what it can give.
class ChannelRecorder final : public Observer {
 public:
  ChannelRecorder(Seconds end, std::size_t bins)
      : bin_(end / static_cast<double>(bins)),
        bins_(bins),
        loads_(kPairChannels, std::vector<double>(bins, 0.0)) {}

  void resource_added(ResourceId id, const ResourceInfo& info, double capacity) override {
    constexpr std::string_view kName = "gpu0.hbm.channel";
    if (!info.name.starts_with(kName)) return;
    std::size_t channel = 0;
    std::from_chars(info.name.data() + kName.size(), info.name.data() + info.name.size(), channel);
    meters_[id] = {.channel = channel, .capacity = capacity};
  }
  void utilisation(ResourceId id, Seconds at, double used) override {
    const auto found = meters_.find(id);
    if (found == meters_.end()) return;
    add(found->second, at);
    found->second.used = used;
  }
  void capacity_changed(ResourceId, Seconds, double) override {}
  void activity_started(ActivityId, const ActivityInfo&, Seconds) override {}
  void activity_finished(ActivityId, Seconds) override {}
  void depends(ActivityId, ActivityId, DependencyKind) override {}
  void rate_changed(ActivityId, Seconds, double) override {}

  /// Rows "mapping,time_us,channel,load".
  std::string rows(std::string_view mapping) {
    for (auto& [id, meter] : meters_)
      add(meter, bin_ * static_cast<double>(bins_));
    std::string csv;
    for (std::size_t channel = 0; channel < loads_.size(); ++channel)
      for (std::size_t i = 0; i < bins_; ++i)
        csv += fmt::format("{},{:.3f},{},{:.4f}\n", mapping, 1e6 * bin_.value * (static_cast<double>(i) + 0.5),
                           channel, loads_[channel][i]);
    return csv;
  }

 private:
  struct Meter {
    std::size_t channel = 0;
    double capacity = 0.0, used = 0.0;
    Seconds since = {};
  };

  void add(Meter& meter, Seconds until) {
    for (std::size_t i = 0; i < bins_; ++i) {
      const Seconds from = std::max(meter.since, bin_ * static_cast<double>(i));
      const Seconds to = std::min(until, bin_ * static_cast<double>(i + 1));
      if (to > from) loads_[meter.channel][i] += (to - from) / bin_ * meter.used / meter.capacity;
    }
    meter.since = until;
  }

  Seconds bin_;
  std::size_t bins_;
  std::vector<std::vector<double>> loads_;  ///< shape [channels][bins]
  std::map<ResourceId, Meter> meters_;
};

}  // namespace

Experiment MappingsPart::experiment_of(Work work, ChannelMapping mapping, MemoryGrain grain) {
  Experiment experiment = work == Work::pair ? pair() : work == Work::step ? step() : sharded_step();
  experiment.cluster.gpu.hbm.channels = {
      .count = work == Work::step ? kStepChannels : kPairChannels, .row_cycle = {}, .mapping = mapping};
  experiment.measure.memory_grain = grain;
  return experiment;
}

MappingsPart::MappingsPart() {
  for (const Work work : {Work::pair, Work::step, Work::sharded_step}) {
    runs_.push_back({.work = work, .grain = MemoryGrain::whole});
    for (const ChannelMapping mapping : kMappings)
      runs_.push_back({.mapping = mapping, .work = work});
  }
}

void MappingsPart::plan(SimulationJobs& jobs) {
  for (Run& run : runs_) {
    jobs.push_back({.run =
                        [&run] {
                          const Experiment experiment = experiment_of(run.work, run.mapping, run.grain);
                          const RunResult result = run_once(experiment, experiment.strategies.front(), {});
                          return SimulatedTime{.values = {result.time.value, result.kernels.duration().value}};
                        },
                    .take =
                        [&run](const SimulatedTime& found) {
                          run.time = found.values.at(0);
                          run.kernels = found.values.at(1);
                        }});
  }
}

const MappingsPart::Run& MappingsPart::of(ChannelMapping mapping, Work work, MemoryGrain grain) const {
  return *std::ranges::find_if(runs_, [&](const Run& run) {
    return run.work == work && run.grain == grain && (grain == MemoryGrain::whole || run.mapping == mapping);
  });
}

StudyReport MappingsPart::sections(const PublishedFigures& published) const {
  StudySection same{.heading = "Channels of a random mapping against memory as a whole",
                    .lines = {},
                    .notes = {},
                    .decimals = 4};
  StudySection pairs{
      .heading = "A product beside an all-gather on eight MI300X: both longer than with memory as a whole",
      .lines = {},
      .notes = {"product: 8192 x 64 x 8192 in BF16, whose rows are 64 blocks apart. 128 channels."}};
  StudySection steps{
      .heading = "Two layers of BERT-Large on an MI100: a step longer than with memory as a whole",
      .lines = {},
      .notes = {"32 channels; mixed precision, 32 sequences of 128 tokens."},
      .decimals = 2};
  StudySection sharded{
      .heading =
          "Two layers of LLaMA 3 8B sharded over eight MI300X: a step longer than with memory as a whole",
      .lines = {},
      .notes = {"channel_step.toml, 128 channels; c3sim report on its result draws them."},
      .decimals = 2};
  for (const Work work : {Work::pair, Work::step, Work::sharded_step}) {
    const Run& whole = of({}, work, MemoryGrain::whole);
    for (const ChannelMapping mapping : kMappings) {
      const Run& run = of(mapping, work, MemoryGrain::channels);
      const double longer = kPercent * (run.time / whole.time - 1.0);
      if (mapping == ChannelMapping::random) {
        same.lines.push_back({.figure = {.of = published.find("grain.random"), .simulated = longer},
                              .label = work == Work::pair   ? "product beside an all-gather"
                                       : work == Work::step ? "training step, BERT-Large"
                                                            : "training step, LLaMA 3 8B"});
        continue;
      }
      StudyLine line{
          .figure = {.of = published.find(work == Work::pair ? "pair" : "step"), .simulated = longer},
          .label = std::string(name_of(mapping))};
      if (work == Work::pair) line.beside = {{"product", kPercent * (run.kernels / whole.kernels - 1.0)}};
      (work == Work::pair ? pairs : work == Work::step ? steps : sharded).lines.push_back(std::move(line));
    }
  }
  return {std::move(same), std::move(pairs), std::move(steps), std::move(sharded), buffers(published)};
}

// Each buffer once, by what it reaches with the consecutive mapping.
StudySection MappingsPart::buffers(const PublishedFigures& published) const {
  StudySection section{
      .heading = "Buffers of the step: share of the bandwidth that each reaches alone, consecutive mapping",
      .lines = {},
      .notes = {"Those below 90 %, the worst first; operands A and B are read, C is written."}};
  const Experiment experiment = experiment_of(Work::step, ChannelMapping::consecutive, MemoryGrain::channels);
  std::vector<BufferReach> buffers = buffer_reaches(experiment.cluster.gpu, experiment.program);
  std::ranges::stable_sort(buffers, {}, [](const BufferReach& each) { return each.reach[0]; });
  for (const BufferReach& buffer : buffers) {
    if (buffer.reach[0] >= 0.9) continue;
    StudyLine line{.figure = {.of = published.find("buffers"), .simulated = kPercent * buffer.reach[0].value()},
                   .label = buffer.name};
    line.beside = {{"xor", kPercent * buffer.reach[1].value()}, {"ipoly", kPercent * buffer.reach[2].value()}};
    section.lines.push_back(std::move(line));
  }
  return section;
}

void MappingsPart::record() {
  constexpr std::size_t kBins = 60;
  rows_ = "mapping,time_us,channel,load\n";
  for (const ChannelMapping mapping : {ChannelMapping::consecutive, ChannelMapping::ipoly}) {
    const Experiment experiment = experiment_of(Work::pair, mapping, MemoryGrain::channels);
    ChannelRecorder recorder(Seconds{of(mapping, Work::pair, MemoryGrain::channels).time}, kBins);
    RunSetup setup;
    setup.observer = &recorder;
    run_once(experiment, experiment.strategies.front(), setup);
    rows_ += recorder.rows(name_of(mapping));
  }
}

}}  // namespace c3::studies
