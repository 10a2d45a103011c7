#include "workloads/traces/rank_summary.hpp"

#include <algorithm>
#include <array>

namespace c3 { inline namespace traces {
namespace {

bool has_shapes(const Rank& rank, std::uint32_t op) {
  const std::uint32_t details = rank.trace.ops[op].details;
  return details != kNoIndex && has_sizes(rank.trace.texts.text(rank.trace.op_details[details].dims));
}

/// Whether each activity is a collective of known size.
std::vector<bool> sized_collectives(const Rank& rank) {
  std::vector<bool> sized(rank.trace.activities.size(), false);
  for (const CollectiveKernel& kernel : rank.collectives)
    sized[kernel.activity] = kernel.bytes.has_value();
  return sized;
}

/// An operator around the launch has shapes, the innermost one or one that called it.
bool is_shaped(const Rank& rank, std::uint32_t activity) {
  std::uint32_t op = rank.join.op_of[activity];
  while (op != kNoIndex && !has_shapes(rank, op))
    op = rank.join.parent_op[op];
  return op != kNoIndex;
}

void add_gpu(const Rank& rank, RankSummary& summary) {
  if (rank.trace.queues.empty()) return;
  const std::int64_t device = rank.trace.queues.front().device;
  const std::vector<GpuProperties>& gpus = rank.trace.gpus;
  auto gpu = std::ranges::find(gpus, device, &GpuProperties::device);
  if (gpu == gpus.end()) {  // ROCm numbers GPUs in two ways: any will do where all are alike
    const auto is_alike = [&](const GpuProperties& properties) {
      return properties.name == gpus.front().name && properties.units == gpus.front().units;
    };
    if (gpus.empty() || !std::ranges::all_of(gpus, is_alike)) return;
    gpu = gpus.begin();
  }
  summary.gpu = gpu->name;
  summary.units = gpu->units;
  summary.memory_bytes = gpu->memory_bytes;
}

}  // namespace

RankSummary summary_of(const Rank& rank) {
  RankSummary summary;
  summary.rank = rank.trace.rank;
  summary.file = rank.trace.file;
  add_gpu(rank, summary);
  summary.streams = rank.trace.queues.size();
  summary.threads = static_cast<std::size_t>(
      std::ranges::count_if(rank.join.calls_of_thread, [](const auto& calls) { return !calls.empty(); }));
  summary.steps = rank.has_steps ? rank.steps.size() : 0;
  summary.ops = rank.trace.ops.size();
  summary.activities = rank.trace.activities.size();
  summary.graph_launches = graph_launches(rank.join);
  const std::vector<bool> sized = sized_collectives(rank);
  for (std::uint32_t i = 0; i < rank.trace.activities.size(); ++i) {
    const Picoseconds duration = rank.trace.activities[i].duration;
    summary.gpu_time += duration;
    if (sized[i] || is_shaped(rank, i)) summary.time_with_shapes += duration;
    if (rank.join.launch_of[i] != kNoIndex) ++summary.launched;
  }
  if (!rank.steps.empty()) summary.step = rank.steps.back().end - rank.steps.front().start;
  return summary;
}

std::vector<ClassSummary> classes_of(const std::vector<Rank>& ranks) {
  std::array<ClassSummary, kWorkClassNames.size()> all;
  for (std::size_t work = 0; work < all.size(); ++work)
    all[work].work = static_cast<WorkClass>(work);
  for (const Rank& rank : ranks) {
    for (std::size_t i = 0; i < rank.classes.size(); ++i) {
      ClassSummary& summary = all[static_cast<std::size_t>(rank.classes[i])];
      ++summary.count;
      summary.time += rank.trace.activities[i].duration;
    }
  }
  std::vector<ClassSummary> found;
  std::ranges::copy_if(all, std::back_inserter(found),
                       [](const ClassSummary& summary) { return summary.count > 0; });
  std::ranges::sort(found, std::ranges::greater{}, &ClassSummary::time);
  return found;
}

}}  // namespace c3::traces
