#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/percent.hpp"
#include "configs/presets/preset_store.hpp"
#include "configs/tables/timed_table.hpp"
#include "engine/random.hpp"
#include "gpu/kernels/describe.hpp"
#include "studies/figure_line.hpp"
#include "studies/sampling/parts.hpp"
#include "workloads/models/recurrent_networks.hpp"
#include "workloads/sampling/seq_points.hpp"

namespace c3 { inline namespace studies {
namespace {

constexpr double kAsked =
    0.002;  // of the points' own estimate: a third of what is allowed of another machine's

/// A GPU, or a part of it.
struct Machine {
  std::string_view id, label, preset;
  KernelSlice slice;
  double clock = 1.0;  ///< of its core, over the preset's
};

std::vector<Machine> machines() {
  const KernelSlice whole{.launch = LaunchCost::device};
  return {{"v100", "V100", "v100-sxm2-16gb", whole},
          {"a100", "A100", "a100-sxm-40gb", whole},
          {"half_sms", "V100, half of its SMs", "v100-sxm2-16gb", {.cus = 40, .launch = LaunchCost::device}},
          {"half_l2", "V100, half of its L2", "v100-sxm2-16gb", {.cache = 0.5, .launch = LaunchCost::device}},
          {"half_hbm",
           "V100, half of its HBM bandwidth",
           "v100-sxm2-16gb",
           {.hbm = 0.5, .launch = LaunchCost::device}},
          {"half_clock", "V100, half of its clock", "v100-sxm2-16gb", whole, 0.5}};
}

/// Arithmetic and the L2 follow the core's clock, HBM and launches do not. A V100 at half of its clock is
/// far from its power limit, as it is at the whole one (its preset has no governor).
GpuSpec gpu_of(const Machine& machine) {
  GpuSpec gpu = load_gpu(std::string(machine.preset));
  gpu.compute.boost_clock = gpu.compute.boost_clock * machine.clock;
  for (MatrixRate& rate : gpu.compute.matrix) {
    rate.peak = rate.peak * machine.clock;
    rate.sustained = rate.sustained * machine.clock;
    rate.clock = rate.clock * machine.clock;
  }
  gpu.cache.l2_bandwidth = gpu.cache.l2_bandwidth * machine.clock;
  return gpu;
}

/// Iterations of training, before anything is known of their times.
struct Job {
  std::string_view id;
  RecurrentNetwork network;
  std::int64_t batch = 0;
  std::vector<std::int64_t> lengths;  ///< of each iteration
};

double normal(const RandomStream& random, std::uint64_t index) {
  return normal_of(random.uniform(2 * index), random.uniform(2 * index + 1));
}

/// Lengths of the given log, one run's epoch after another.
std::vector<std::int64_t> gnmt_lengths(const std::vector<Iteration>& log) {
  std::vector<std::int64_t> lengths;
  for (const Iteration& iteration : log)
    lengths.push_back(std::llround(iteration.length));
  return lengths;
}

/// A log-normal of median 12 s and deviation 0.45 of the logarithm, cut at 1 and 24.5 s: a stated
/// distribution of utterances, since none is given. Frames of 10 ms; an iteration has utterances of one length.
std::vector<std::int64_t> speech_lengths() {
  constexpr std::size_t kIterations = 8000;
  constexpr double kMedian = 1200.0, kDeviation = 0.45, kShortest = 100.0, kLongest = 2450.0;
  const RandomStream random(0, "utterances");
  std::vector<std::int64_t> lengths;
  for (std::size_t i = 0; i < kIterations; ++i)
    lengths.push_back(
        std::llround(std::clamp(kMedian * std::exp(kDeviation * normal(random, i)), kShortest, kLongest)));
  return lengths;
}

/// Relative deviation of an iteration's time from that of its length: the pooled one inside the bins of the
/// log.
double noise_of(const std::vector<Iteration>& log) {
  std::map<std::int64_t, std::vector<double>> by_length;
  for (const Iteration& iteration : log)
    by_length[std::llround(iteration.length)].push_back(iteration.time.value);
  double squares = 0.0, count = 0.0;
  for (const auto& [length, times] : by_length) {
    if (times.size() < 2) continue;
    double mean = 0.0;
    for (const double time : times)
      mean += time / static_cast<double>(times.size());
    for (const double time : times)
      squares += (time / mean - 1.0) * (time / mean - 1.0);
    count += static_cast<double>(times.size() - 1);
  }
  return std::sqrt(squares / count);
}

/// An epoch on a machine, and what it would be without noise.
struct SimulatedEpoch {
  std::vector<Iteration> log;
  std::map<std::int64_t, Seconds> times;  ///< of each length: the sum of its kernels' times

  Seconds total() const {
    Seconds sum;
    for (const Iteration& iteration : log)
      sum += iteration.time;
    return sum;
  }
  /// The epoch by \p points simulated here.
  Seconds estimate(const std::vector<SeqPoint>& points) const {
    Seconds sum;
    for (const SeqPoint& point : points)
      sum += times.at(std::llround(point.length)) * point.weight;
    return sum;
  }
};

/// \param noise relative deviation of an iteration, drawn anew for each machine
SimulatedEpoch simulate(const Job& job, const Machine& machine, double noise) {
  const GpuSpec gpu = gpu_of(machine);
  const RandomStream random(0, fmt::format("{} {}", job.id, machine.id));
  SimulatedEpoch epoch;
  for (const std::int64_t length : job.lengths) {
    const auto [at, is_new] = epoch.times.emplace(length, Seconds{});
    if (is_new) {
      for (const CountedOperator& kernel : recurrent_step(job.network, job.batch, length, DType::fp16))
        at->second += time_of(kernel.op, gpu, machine.slice).time * static_cast<double>(kernel.count);
    }
    epoch.log.push_back(
        {static_cast<double>(length), at->second * (1.0 + noise * normal(random, epoch.log.size()))});
  }
  return epoch;
}

/// SeqPoints of \p job chosen from its log on the first machine, simulated on all.
void add_job(const Job& job, double noise, const PublishedFigures& published, StudySection& times,
             StudySection& speedups) {
  const std::vector<Machine> all = machines();
  const SimulatedEpoch first = simulate(job, all.front(), noise);
  const EpochSample sample = seq_points(first.log, {.error = kAsked});
  for (const Machine& machine : all) {
    const bool is_first = machine.id == all.front().id;
    const SimulatedEpoch epoch = is_first ? first : simulate(job, machine, noise);
    const Seconds whole = epoch.total(), estimate = epoch.estimate(sample.points);
    const std::string label = fmt::format("{}, {}", job.id, machine.label);
    times.lines.push_back(figure_line(published, fmt::format("epochs.time.{}.{}", job.id, machine.id), label,
                                      kPercent * std::abs(estimate / whole - 1.0),
                                      {{"epoch [s]", whole.value},
                                       {"iterations [count]", static_cast<double>(sample.points.size())},
                                       {"fewer [times]", sample.fewer()}}));
    times.lines.back().rows = epoch.log.size();
    if (is_first) continue;
    const double speedup = first.total() / whole, here = first.estimate(sample.points) / estimate;
    speedups.lines.push_back(figure_line(published, fmt::format("epochs.speedup.{}.{}", job.id, machine.id),
                                         label, kPercent * std::abs(here / speedup - 1.0),
                                         {{"speedup [times]", speedup}, {"from the points [times]", here}}));
  }
  speedups.lines.push_back(figure_line(published, fmt::format("epochs.fewer.{}", job.id),
                                       fmt::format("{}: iterations fewer [times]", job.id), sample.fewer()));
}

}  // namespace

StudyReport epoch_sections(const std::filesystem::path& folder, const PublishedFigures& published) {
  const std::vector<Iteration> log = read_iterations(folder / "gnmt_dgx1_v100.csv", {}).iterations;
  const double noise = noise_of(log);
  StudySection times{
      .heading = "Simulated epochs: error of the time from SeqPoints chosen on a V100",
      .notes = {fmt::format("Iterations are sums of kernel times, each {:.2f} % off at random, as those of "
                            "one length are in the GNMT log.",
                            kPercent * noise)},
      .value = "error [%]",
      .decimals = 3};
  StudySection speedups{
      .heading = "The same: error of the speedup over the V100", .value = "error", .decimals = 3};
  constexpr std::int64_t kSentences = 256, kUtterances = 32;
  add_job({"gnmt", gnmt(), kSentences, gnmt_lengths(log)}, noise, published, times, speedups);
  add_job({"ds2", deep_speech_2(), kUtterances, speech_lengths()}, noise, published, times, speedups);
  return {times, speedups};
}

}}  // namespace c3::studies
