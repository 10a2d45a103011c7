#pragma once
/// \file
/// Which GPU work waits for work on another stream of its GPU.

#include <cstdint>
#include <vector>

#include "workloads/traces/collective_kernels.hpp"
#include "workloads/traces/launch_order.hpp"

namespace c3 { inline namespace traces {

/// How an edge is known.
enum class EdgeProvenance : std::uint8_t {
  recorded,  ///< a synchronisation record (`cuda_sync`) has both ends
  issue,     ///< c10d issued the collective behind the compute stream
  wait,      ///< c10d made the stream wait for the collective of this sequence number
  inferred   ///< from the order of launches, and not refuted by the recorded dates
};

struct CrossStreamEdge {
  std::uint32_t source = kNoIndex;       ///< activity that must end first
  std::uint32_t destination = kNoIndex;  ///< activity on another queue
  EdgeProvenance provenance = EdgeProvenance::inferred;

  friend bool operator==(const CrossStreamEdge&, const CrossStreamEdge&) = default;
};

/// Everything about one rank that edges are found from.
struct RankRecord {
  const Trace& trace;
  const TraceJoin& join;
  const LaunchOrder& order;
  const std::vector<CollectiveIssue>& issues;
  const std::vector<CollectiveKernel>& collectives;
};

/// Recorded edges, then those by sequence number, then inferred ones for destinations that have none yet. At
/// most one edge between two activities.
///
/// Recorded: source is the last work launched on the waited stream before the call that recorded the event,
/// destination the next work launched on the waiting stream after the wait call. If nothing was launched
/// before, the wait had no effect.
/// Sequence number: a collective waits for the last work launched before its issue; the next work launched
/// after the wait of the same sequence number, on another queue of that GPU, waits for the collective.
/// Inferred: k >= 1 calls of cudaStreamWaitEvent between two launches of a thread make the next launch wait: a
/// collective for compute, compute for the latest collective launched before, or for other streams if there is
/// none. Without any such call in the trace (ROCm): a collective waits for compute, and what starts within 25
/// us of a collective's end waits for it. A source that ends later than 2 us after the start of the destination
/// is refuted.
std::vector<CrossStreamEdge> cross_stream_edges(const RankRecord& rank);

}}  // namespace c3::traces
