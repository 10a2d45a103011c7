#include "workloads/execute/buffers.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <vector>

#include "collectives/call.hpp"
#include "engine/errors.hpp"
#include "gpu/kernels/describe.hpp"

namespace c3::inline workloads {
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

Bytes taken_by(const Program& program, const Operation& operation, const ClusterSpec& cluster) {
  const auto* join = std::get_if<JoinCall>(&operation.work);
  if (join != nullptr && program.calls[join->call].is_timed) return {};
  if (const CollectiveCall* call = program.call_of(operation)) return buffers_of(*call, cluster.ranks());
  const Operator* op = kernel_of(operation);
  return op != nullptr ? describe(program.name_of(operation), *op, cluster.gpu).compulsory : Bytes{};
}

}  // namespace

void check_buffers(const Experiment& experiment) {
  if (experiment.step) return;  // its author has counted what it holds
  const ClusterSpec& cluster = experiment.cluster;
  Bytes sum;
  std::vector<std::string> parts;
  const Program& program = experiment.program;
  for (std::size_t stream = 0; stream < program.streams.size(); ++stream) {
    Bytes largest;
    const Operation* of = nullptr;
    for (const Script& script : program.scripts) {
      for (const Operation& operation : script.streams[stream]) {
        const Bytes bytes = taken_by(program, operation, cluster);
        if (bytes <= largest) continue;
        largest = bytes;
        of = &operation;
      }
    }
    if (of == nullptr) continue;
    sum = sum + largest;
    parts.push_back(fmt::format("{:.4g} GB of stream '{}' ('{}')", largest.value / 1e9, program.streams[stream],
                                program.name_of(*of)));
  }
  if (sum <= cluster.gpu.hbm.size) return;
  throw InfeasibleError(fmt::format("out of GPU memory: {} {} together {:.4g} GB, and gpu '{}' has {:.4g} GB",
                                    fmt::join(parts, ", "), parts.size() > 1 ? "take" : "takes",
                                    sum.value / 1e9, cluster.gpu.name, cluster.gpu.hbm.size.value / 1e9));
}

}  // namespace c3::workloads
