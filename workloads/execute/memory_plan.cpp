#include "workloads/execute/memory_plan.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <utility>

#include "collectives/call.hpp"
#include "engine/errors.hpp"
#include "gpu/kernels/describe.hpp"

namespace c3 { inline namespace workloads {
namespace {

/// Of one rank.
Bytes buffers_of(const CollectiveCall& call, int ranks) {
  const int members = member_count(call, ranks);
  const Bytes in = input_bytes(call, members);
  const Bytes out = output_bytes(call, members);
  const bool needs_both = call.kind == CollectiveKind::all_to_all ||
                          call.kind == CollectiveKind::all_to_all_v ||
                          call.kind == CollectiveKind::send_receive;
  return needs_both ? in + out : std::max(in, out);
}

Bytes buffers_of(const Exchange& exchange) {
  Bytes bytes;
  for (const Message& message : exchange.messages)
    bytes += message.bytes;
  return bytes;
}

/// nullopt: only the time of the operation is known.
std::optional<Bytes> held_by(const Program& program, const Operation& operation, const ClusterSpec& cluster) {
  if (std::holds_alternative<TimedKernel>(operation.work)) return std::nullopt;
  const auto* join = std::get_if<JoinCall>(&operation.work);
  if (join != nullptr && program.calls[join->call].is_timed) return std::nullopt;
  if (const CollectiveCall* call = program.call_of(operation)) return buffers_of(*call, cluster.ranks());
  if (const auto* exchange = std::get_if<Exchange>(&operation.work)) return buffers_of(*exchange);
  if (const auto* copy = std::get_if<HostCopy>(&operation.work))
    return copy->way == HostWay::within ? Bytes{} : copy->bytes;
  const Operator* op = kernel_of(operation);
  return op != nullptr ? describe(program.name_of(operation), *op, cluster.gpu).compulsory : Bytes{};
}

MemoryPlan plan_of(const Program& program, const Script& script, const ClusterSpec& cluster) {
  MemoryPlan plan;
  for (std::size_t stream = 0; stream < script.streams.size(); ++stream) {
    MemoryPlan::Largest largest{.stream = stream};
    for (const Operation& operation : script.streams[stream]) {
      const std::optional<Bytes> bytes = held_by(program, operation, cluster);
      plan.is_known = plan.is_known && bytes;
      if (bytes.value_or(Bytes{}) > largest.bytes) largest = {stream, operation.name, *bytes};
    }
    if (largest.bytes > Bytes{}) plan.streams.push_back(largest);
  }
  return plan;
}

/// "ranks 4-7 ('stage1'): "; empty where all ranks run one script.
std::string ranks_text(const Program& program, std::uint32_t script) {
  if (program.scripts.size() == 1) return "";
  const RankRanges ranks = ranks_of_script(program, script, 0);
  const std::string& name = program.names[program.scripts[script].name];
  return fmt::format("ranks {}{}: ", text_of(ranks), name.empty() ? "" : fmt::format(" ('{}')", name));
}

void check_room(const Experiment& experiment, const std::vector<MemoryPlan>& plans) {
  const GpuSpec& gpu = experiment.cluster.gpu;
  const Program& program = experiment.program;
  for (std::uint32_t script = 0; script < plans.size(); ++script) {
    const Bytes total = plans[script].total();
    if (total <= gpu.hbm.size) continue;
    std::vector<std::string> parts;
    for (const MemoryPlan::Largest& largest : plans[script].streams)
      parts.push_back(fmt::format("{:.4g} GB of stream '{}' ('{}')", largest.bytes.value / 1e9,
                                  program.streams[largest.stream], program.names[largest.operation]));
    throw InfeasibleError(
        fmt::format("out of GPU memory: {}{} {} together {:.4g} GB, and gpu '{}' has {:.4g} GB",
                    ranks_text(program, script), fmt::join(parts, ", "), parts.size() > 1 ? "take" : "takes",
                    total.value / 1e9, gpu.name, gpu.hbm.size.value / 1e9));
  }
}

}  // namespace

Bytes MemoryPlan::total() const {
  Bytes sum;
  for (const Largest& largest : streams)
    sum += largest.bytes;
  return sum;
}

RankRanges ranks_of_script(const Program& program, std::uint32_t script, int ranks) {
  if (program.ranks.empty()) return {{0, ranks}};
  RankRanges found;
  for (const RankSpan& span : program.ranks)
    if (span.script == script) found = united(std::move(found), {{span.begin, span.end}});
  return found;
}

std::vector<MemoryPlan> memory_plans(const Experiment& experiment) {
  std::vector<MemoryPlan> plans;
  for (const Script& script : experiment.program.scripts)
    plans.push_back(plan_of(experiment.program, script, experiment.cluster));
  return plans;
}

ExperimentMemory::ExperimentMemory(const Experiment& experiment) : experiment_(experiment) {
  if (experiment.step) return;
  plans_ = memory_plans(experiment);
  check_room(experiment, plans_);
}

std::optional<Bytes> ExperimentMemory::of(int rank) const {
  if (const auto& step = experiment_.step)
    return step->reserved.empty() ? step->memory.reserved
                                  : step->reserved[experiment_.program.script_number(rank)];
  if (!std::ranges::all_of(plans_, &MemoryPlan::is_known)) return std::nullopt;
  return plans_[experiment_.program.script_number(rank)].total();
}

}}  // namespace c3::workloads
