#include "studies/dlrm/functions.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "base/cpu_clock.hpp"
#include "collectives/measure.hpp"
#include "configs/jobs/experiment_reader.hpp"
#include "configs/presets/preset_store.hpp"
#include "configs/presets/spec_readers.hpp"
#include "studies/study.hpp"
#include "workloads/execute/run.hpp"

namespace c3 { inline namespace studies {
namespace {

using namespace literals;

/// The longest rank's kernels, or all collectives one after another each alone, whichever is longer.
double without_waits(const Experiment& step, const RunResult& result) {
  double longest = 0.0, collectives = 0.0;
  for (const SimulatedClass& rank : result.classes)
    longest = std::max(longest, rank.times.kernels.value);
  for (const Call& call : step.program.calls)
    collectives += measure_collective(step.cluster, call.what, {}).time.value;
  return std::max(longest, collectives);
}

}  // namespace

NumberSource ranks_row(const RowArguments& row) {
  const auto frame = experiment_of_study("dlrm", "unbalanced_4xa100.toml");
  return [step = ExperimentFile::load(frame, row.sets("recommendation.")).make(std::nullopt)] {
    CpuClock clock;
    const RunResult result = run_once(step, step.strategies.front(), {});
    const double cpu = clock.lap();
    return std::map<std::string, double>{
        {"time", result.time.value}, {"alone", without_waits(step, result)}, {"cpu", cpu}};
  };
}

NumberSource exchange_row(const RowArguments& row) {
  constexpr int kMembers = 4;  // of one quad of a DGX-1
  constexpr std::int64_t kMostBytes = std::int64_t{1} << 40U;
  const Node preset = load_preset(PresetKind::host, "lin-2022", Origin{}, "host");
  Section section(preset, "host");
  const OperatorOverheads host = read_host_preset(section).overheads;
  const Bytes bytes{static_cast<double>(row.whole("bytes", kMostBytes))};
  CollectiveCall call{.kind = CollectiveKind::all_to_all_v};
  for (int rank = 0; rank < kMembers; ++rank)
    call.ranks.push_back(rank);
  call.sends.assign(kMembers * kMembers, bytes / kMembers);
  return [call, host = host.all_to_all + host.launch, cluster = load_cluster("v100-sxm2-8")] {
    return std::map<std::string, double>{{"gpus_us", measure_collective(cluster, call, {}).time / 1.0_us},
                                         {"host_us", host / 1.0_us}};
  };
}

}}  // namespace c3::studies
