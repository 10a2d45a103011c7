#include "studies/t3/sublayer_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>

#include "workloads/execute/run.hpp"

namespace c3 { inline namespace studies {
namespace {

const Strategy& strategy_of(const Experiment& experiment, std::string_view name) {
  const auto found = std::ranges::find(experiment.strategies, name, &Strategy::name);
  if (found == experiment.strategies.end())
    throw std::logic_error(fmt::format("the study of T3 needs a strategy '{}'", name));
  return *found;
}

std::size_t stream_of(const Experiment& experiment, std::string_view name) {
  const auto found = experiment.program.stream_named(std::string(name));
  if (!found) throw std::logic_error(fmt::format("the study of T3 needs a stream '{}'", name));
  return *found;
}

/// Adds up what passes rank 0's HBM, by resource.
class ByteCounter final : public Observer {
 public:
  void resource_added(ResourceId id, const ResourceInfo& info, double /*capacity*/) override {
    if (info.name.starts_with(kHbm)) meters_[id] = {std::string(info.name), 0.0, {}, 0.0};
  }
  void utilisation(ResourceId id, Seconds at, double used) override {
    const auto meter = meters_.find(id);
    if (meter == meters_.end()) return;
    Meter& m = meter->second;
    m.bytes += m.rate * (at - m.since).value;
    m.rate = used;
    m.since = at;
  }
  void capacity_changed(ResourceId, Seconds, double) override {}
  void activity_started(ActivityId, const ActivityInfo&, Seconds) override {}
  void activity_finished(ActivityId, Seconds) override {}
  void depends(ActivityId, ActivityId, DependencyKind) override {}
  void rate_changed(ActivityId, Seconds, double) override {}

  Bytes written(std::string_view stream) const { return bytes(fmt::format("{}.{}.written", kHbm, stream)); }
  Bytes read(std::string_view stream) const {
    const std::string all = fmt::format("{}.{}", kHbm, stream);
    return bytes(all) - bytes(all + ".lost") - written(stream);
  }

 private:
  static constexpr std::string_view kHbm = "gpu0.hbm";
  struct Meter {
    std::string name;
    double rate;
    Seconds since;
    double bytes;
  };
  Bytes bytes(const std::string& name) const {
    for (const auto& [id, meter] : meters_) {
      if (meter.name == name) return Bytes{meter.bytes};
    }
    throw std::logic_error("no resource " + name);
  }

  std::map<ResourceId, Meter> meters_;
};

HbmTraffic count(const Experiment& experiment, const Strategy& strategy) {
  ByteCounter counter;
  RunSetup setup;
  setup.isolation = Isolation().with(SharedResource::hbm);
  setup.observer = &counter;
  run_once(experiment, strategy, setup);
  const auto [gemm, reduce, gather] = kT3Streams;
  return {.gemm_read = counter.read(gemm),
          .gemm_written = counter.written(gemm),
          .reduce_read = counter.read(reduce),
          .reduce_written = counter.written(reduce),
          .gather_read = counter.read(gather),
          .gather_written = counter.written(gather)};
}

}  // namespace

double SublayerTimes::overlapped(Seconds with) const { return sequential() / (std::max(gemm, with) + gather); }

std::vector<double> SublayerTimes::values() const {
  return {gemm.value, reduce.value, gather.value,    reduce_in_memory.value,
          t3.value,   t3_mca.value, fused_gemm.value};
}

SublayerTimes SublayerTimes::from(const std::vector<double>& v) {
  return {.gemm = {v.at(0)},
          .reduce = {v.at(1)},
          .gather = {v.at(2)},
          .reduce_in_memory = {v.at(3)},
          .t3 = {v.at(4)},
          .t3_mca = {v.at(5)},
          .fused_gemm = {v.at(6)}};
}

SublayerTimes time_sublayer(const Experiment& experiment) {
  const Strategy& sequential = strategy_of(experiment, "sequential");
  const Strategy& t3 = strategy_of(experiment, "t3");
  const Strategy& t3_mca = strategy_of(experiment, "t3_mca");
  Experiment without_last_addition = experiment;
  without_last_addition.cluster.library.local_rate.reset();
  SublayerTimes sum;
  const double part = 1.0 / experiment.measure.seeds;
  for (int seed = 0; seed < experiment.measure.seeds; ++seed) {
    const RunSetup both{.seed = static_cast<std::uint64_t>(seed)};
    RunSetup reduce_only = both;
    reduce_only.only_stream = stream_of(experiment, kT3Streams[1]);
    const auto span = [&](const RunResult& run, std::size_t i) {
      return part * run.streams[stream_of(experiment, kT3Streams.at(i))].duration();
    };
    const RunResult alone = run_once(experiment, sequential, both);
    sum.gemm += span(alone, 0);
    sum.reduce += span(alone, 1);
    sum.gather += span(alone, 2);
    sum.reduce_in_memory += span(run_once(without_last_addition, sequential, reduce_only), 1);
    sum.t3 += part * run_once(experiment, t3, both).time;
    const RunResult mca = run_once(experiment, t3_mca, both);
    sum.t3_mca += part * mca.time;
    sum.fused_gemm += part * mca.kernels.duration();
  }
  return sum;
}

std::array<HbmTraffic, 2> count_traffic(const Experiment& experiment) {
  return {count(experiment, strategy_of(experiment, "sequential")),
          count(experiment, strategy_of(experiment, "t3_mca"))};
}

Seconds gemm_without(const Experiment& experiment, int cus) {
  Strategy fewer{.name = fmt::format("{} CUs fewer", cus), .order = {}, .streams = {}};
  fewer.streams[std::string(kT3Streams[0])].reserve_cus = cus;
  return run_once(experiment, fewer, {.filter = OperationFilter::kernels}).time;
}

}}  // namespace c3::studies
