#include "workloads/execute/collective_records.hpp"

#include <algorithm>

#include "collectives/call.hpp"

namespace c3 { inline namespace workloads {

CollectiveRecord record_of(const CollectiveRun& run, int rank, const SideSpan& span) {
  const CollectivePlan& plan = run.plan();
  return {.name = plan.name,
          .op = plan.call.kind,
          .backend = plan.backend,
          .method = plan.method,
          .gpu = rank,
          .channels = run.width(),
          .bytes = counted_bytes(plan.call, run.members()),
          .start = span.release,
          .end = span.end,
          .algbw = algorithm_bandwidth(plan.call, run.members(), span.duration()),
          .busbw = bus_bandwidth(plan.call, run.members(), span.duration())};
}

CollectiveRecord record_of(const std::string& name, const Exchange& exchange, const CollectiveRun& first,
                           int rank, const SideSpan& span) {
  Bytes sent, received;
  for (const Message& message : exchange.messages)
    (message.sends ? sent : received) += message.bytes;
  const Bytes bytes = std::max(sent, received);
  const BytesPerSecond rate = bytes / span.duration();
  return {.name = name,
          .op = CollectiveKind::send_receive,
          .backend = first.plan().backend,
          .method = first.plan().method,
          .gpu = rank,
          .channels = first.width(),
          .bytes = bytes,
          .start = span.release,
          .end = span.end,
          .algbw = rate,
          .busbw = rate};
}

}}  // namespace c3::workloads
