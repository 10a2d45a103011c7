#include "workloads/execute/partition.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "engine/errors.hpp"

namespace c3 { inline namespace workloads {
namespace {

std::vector<int> values_of(const CuShare& share, int granule) {
  if (!share.is_set()) return {0};
  if (!share.is_swept()) return {share.low};
  std::vector<int> values;
  for (int cus = granule; cus <= share.high; cus *= 2) {
    if (cus >= share.low) values.push_back(cus);
  }
  return values;
}

int per_xcd(int cus, const GpuSpec& gpu, const std::string& strategy, const char* key) {
  if (cus % gpu.dispatch.mask_granule != 0 || cus % gpu.compute.xcds != 0) {
    throw InfeasibleError(
        fmt::format("strategy '{}': {} = {} is not a multiple of the CU-mask granule {} of '{}'", strategy, key,
                    cus, gpu.dispatch.mask_granule, gpu.name));
  }
  return cus / gpu.compute.xcds;
}

}  // namespace

StreamPolicy policy_of(const Strategy& strategy, const std::string& stream) {
  const auto found = strategy.streams.find(stream);
  return found == strategy.streams.end() ? StreamPolicy{} : found->second;
}

namespace {

bool needs_cus(const StreamPolicy& policy) {
  return policy.backend == Backend::cu ||
         (policy.backend == Backend::fused && policy.reduction == FusedReduction::cu);
}

}  // namespace

bool uses_cus(const Program& program, std::size_t stream, const StreamPolicy& policy) {
  const StreamContent content = content_of(program, stream);
  return content.kernels || (content.collectives && needs_cus(policy));
}

std::vector<CuChoice> cu_choices(const Experiment& experiment, const Strategy& strategy) {
  std::vector<CuChoice> choices{{}};
  for (const std::string& stream : experiment.program.streams) {
    const auto values =
        values_of(policy_of(strategy, stream).cus, experiment.cluster.gpu.dispatch.mask_granule);
    if (values.empty()) {
      throw InfeasibleError(fmt::format("strategy '{}': {}.cus holds no power of two times the granule {}",
                                        strategy.name, stream, experiment.cluster.gpu.dispatch.mask_granule));
    }
    std::vector<CuChoice> longer;
    for (const CuChoice& choice : choices) {
      for (const int value : values) {
        longer.push_back(choice);
        longer.back().push_back(value);
      }
    }
    choices = std::move(longer);
  }
  return choices;
}

std::vector<CuRange> cu_ranges(const Experiment& experiment, const Strategy& strategy, const CuChoice& choice) {
  const GpuSpec& gpu = experiment.cluster.gpu;
  const Program& program = experiment.program;
  std::vector<CuRange> ranges(program.streams.size());
  int reserved = 0;
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    const int own =
        choice.empty() ? 0 : per_xcd(choice[i], gpu, strategy.name, (program.streams[i] + ".cus").c_str());
    ranges[i] = {reserved, reserved + own};
    reserved += own;
  }
  if (reserved > gpu.compute.cus_per_xcd) {
    throw InfeasibleError(fmt::format("strategy '{}' reserves {} CUs, but '{}' has {}", strategy.name,
                                      reserved * gpu.compute.xcds, gpu.name, gpu.compute.cus()));
  }
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    const std::string& stream = program.streams[i];
    const StreamPolicy policy = policy_of(strategy, stream);
    if (ranges[i].size() == 0) ranges[i] = {reserved, gpu.compute.cus_per_xcd};
    ranges[i].end -= per_xcd(policy.reserve_cus, gpu, strategy.name, (stream + ".reserve_cus").c_str());
    if (uses_cus(program, i, policy) && ranges[i].size() < 1) {
      throw InfeasibleError(fmt::format("strategy '{}' leaves no CU of {} for stream '{}'", strategy.name,
                                        gpu.compute.cus(), stream));
    }
  }
  return ranges;
}

}}  // namespace c3::workloads
