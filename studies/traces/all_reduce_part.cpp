#include <algorithm>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "collectives/library/tuner.hpp"
#include "collectives/measure.hpp"
#include "configs/jobs/experiment_reader.hpp"
#include "studies/traces/parts.hpp"
#include "workloads/traces/collective_matching.hpp"

namespace c3 { inline namespace studies {
namespace {

constexpr std::int64_t kBytes = 67'108'864;  // 33.5 million numbers of fp16
constexpr ChannelLimits kChannels{24, 24};   // blocks of the recorded kernel

/// From the latest start to the end, median over all of this size, in us.
std::optional<double> recorded_us(const TraceRun& run, std::size_t& instances_found) {
  const std::vector<CollectiveInstance> instances = match_collectives(run.ranks);
  const Clocks clocks = align_clocks(run.ranks, instances);
  std::vector<double> costs;
  for (const CollectiveInstance& instance : instances) {
    const CollectiveMember& member = instance.members.front();
    if (run.ranks[member.rank].collectives[member.collective].bytes != kBytes) continue;
    costs.push_back(timing_of(instance, run.ranks, clocks.shifts).cost.microseconds());
  }
  instances_found = costs.size();
  if (costs.empty()) return std::nullopt;
  const auto middle = costs.begin() + static_cast<std::ptrdiff_t>((costs.size() - 1) / 2);
  std::ranges::nth_element(costs, middle);
  return *middle;
}

double simulated_us(const ClusterSpec& cluster, const MethodWish& wish) {
  const CollectiveCall call{.kind = CollectiveKind::all_reduce,
                            .bytes = Bytes{static_cast<double>(kBytes)},
                            .dtype = DType::fp16,
                            .ranks = {}};
  // The trace's kernels are timed from their own start: no gap before them.
  const MeasuredMethod how{
      .method = choose_method(call, cluster, wish), .grain = CollectiveGrain::automatic, .gap = Seconds{0.0}};
  return measure_collective(cluster, call, how).time.value * 1e6;
}

}  // namespace

StudyReport all_reduce_sections(const TraceRuns& runs, const PublishedFigures& published) {
  StudySection section{
      .heading = "All-reduce of 67.1 MB over 8 A100",
      .lines = {},
      .notes =
          {"NCCL since 2.19 names a kernel after one algorithm and protocol that it holds, here ring and LL: "
           "LL moves 88 GB/s at most, the recorded 594 us are 198 GB/s. Its blocks of 544 threads "
           "and 24 channels are those of the Simple protocol.",
           "recorded: from the latest rank's start to the end, median."},
      .value = "here",
      .decimals = 0};
  const TraceRun* const run = runs.find(kMegatronRun);
  if (run == nullptr) return {section};
  const ClusterSpec cluster = load_cluster("a100-sxm-80gb-8");
  StudyLine line{.figure = {.of = published.find("allreduce.67mb")}, .label = "by the library's own choice"};
  line.figure.simulated = simulated_us(cluster, {});
  if (const std::optional<double> recorded = recorded_us(*run, line.rows))
    line.beside.emplace_back("recorded", *recorded);
  line.beside.emplace_back("ring, Simple, 24 channels",
                           simulated_us(cluster, {Algorithm::ring, Protocol::simple, kChannels}));
  line.beside.emplace_back("ring, LL, 24 channels",
                           simulated_us(cluster, {Algorithm::ring, Protocol::ll, kChannels}));
  section.lines.push_back(std::move(line));
  return {section};
}

}}  // namespace c3::studies
