// What buffers of a step reach, and the load of each channel over time.

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <string_view>
#include <utility>

#include "base/percent.hpp"
#include "configs/jobs/experiment_reader.hpp"
#include "studies/camping/sections.hpp"
#include "workloads/execute/buffer_reach.hpp"
#include "workloads/execute/run.hpp"

namespace c3 { inline namespace studies {
namespace {

constexpr std::size_t kPairChannels = 128;

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

// Each buffer once, by what it reaches with the consecutive mapping.
StudySection buffers(const PublishedFigures& published) {
  StudySection section{
      .heading = "Buffers of BERT's step: share of the bandwidth that each reaches alone, consecutive mapping",
      .lines = {},
      .notes = {"Those below 90 %, the worst first; operands A and B are read, C is written."}};
  const std::vector<std::string> sets = {"+model.layers=2", "+gpu.channels=32",
                                         "+gpu.channel_mapping=consecutive", "+measure.memory_grain=channels"};
  const Experiment experiment =
      ExperimentFile::load(experiment_of_study("bert", "bert_large_mi100.toml"), sets).make(std::nullopt);
  std::vector<BufferReach> buffers = buffer_reaches(experiment.cluster.gpu, experiment.program);
  std::ranges::stable_sort(buffers, {}, [](const BufferReach& buffer) { return buffer.reach[0]; });
  for (const BufferReach& buffer : buffers) {
    if (buffer.reach[0] >= 0.9) continue;
    StudyLine line{
        .figure = {.reference = published.find("buffers"), .simulated = kPercent * buffer.reach[0].value()},
        .label = buffer.name};
    line.beside = {{"xor", kPercent * buffer.reach[1].value()}, {"ipoly", kPercent * buffer.reach[2].value()}};
    section.lines.push_back(std::move(line));
  }
  return section;
}

std::string channel_loads() {
  constexpr std::size_t kBins = 60;
  std::string rows = "mapping,time_us,channel,load\n";
  for (const std::string mapping : {"consecutive", "ipoly"}) {
    const std::vector<std::string> sets = {"gpu.channel_mapping=" + mapping};
    const Experiment experiment =
        ExperimentFile::load(study_file("camping", "pair.toml"), sets).make(std::nullopt);
    const Strategy& strategy = experiment.strategies.front();
    ChannelRecorder recorder(run_once(experiment, strategy, {}).time, kBins);
    RunSetup setup;
    setup.observer = &recorder;
    run_once(experiment, strategy, setup);
    rows += recorder.rows(mapping);
  }
  return rows;
}

}}  // namespace c3::studies
