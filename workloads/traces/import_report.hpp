#pragma once
/// \file
/// What was found in the traces of a run, and how faithful a replay of it is: the numbers that are reported.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "workloads/traces/collective_matching.hpp"
#include "workloads/traces/kernel_class.hpp"
#include "workloads/traces/rank_record.hpp"
#include "workloads/traces/start_errors.hpp"

namespace c3 { inline namespace traces {

struct RankSummary {
  std::optional<int> rank;
  std::string file;
  std::string gpu;                ///< as the driver spells it; empty: not recorded
  std::int64_t units = 0;         ///< SMs or CUs; 0: not recorded
  std::int64_t memory_bytes = 0;  ///< 0: not recorded
  std::size_t streams = 0;
  std::size_t threads = 0;  ///< with calls of the runtime
  std::size_t steps = 0;    ///< that the profiler named
  std::size_t ops = 0;
  std::size_t activities = 0;
  std::size_t launched = 0;        ///< activities with their launch
  std::size_t graph_launches = 0;  ///< calls that own several activities
  Picoseconds gpu_time;            ///< sum of durations
  Picoseconds time_with_shapes;    ///< of gpu_time: an operator around the launch has "Input Dims", or a
                                   ///< collective has a known size
  Picoseconds step;                ///< from the first step's start to the last one's end
  Picoseconds clock_offset;        ///< against the other ranks, by the ends of collectives
  bool clock_corrected = false;
};

struct ClassSummary {
  WorkClass work = WorkClass::other;
  std::size_t count = 0;
  Picoseconds time;
};

/// Collectives that are alike, over all ranks.
struct CollectiveSummary {
  std::string kind;
  std::string dtype;
  std::string splits;  ///< of an all-to-all with unequal shares
  std::optional<std::int64_t> bytes;
  std::optional<std::int64_t> group_size;
  std::size_t kernels = 0;
  std::size_t instances = 0;  ///< kernels of several ranks that were matched
  Picoseconds recorded;       ///< sum of the kernels' durations: transfer, and waiting for the last rank
  std::size_t partial = 0;    ///< of instances: not all ranks of the group are here
  Picoseconds cost;           ///< sum over whole instances, without waiting
  Picoseconds median_cost;    ///< the same, (lower) median
  Picoseconds cost_at_most;  ///< the same of partial ones, of which a rank that is not here may have come later
  Picoseconds waiting;       ///< of kernels of whole instances: from their start to that of the last rank
  /// Waiting that is at least there: in partial instances, for the last rank that is here; in kernels that were
  /// not matched, whatever is beyond the shortest of those that are alike.
  Picoseconds waiting_at_least;
};

/// A collective of which not everything is known.
struct UnspecifiedCollective {
  std::optional<int> rank;
  std::uint64_t event = 0;
  std::string kernel;
  std::string missing;         ///< "kind, bytes"
  bool before_window = false;  ///< launched before the recording began
};

struct EdgeCounts {
  std::size_t launch = 0;
  std::size_t stream = 0;
  std::size_t recorded = 0;  ///< by `cuda_sync` records
  std::size_t issue = 0;     ///< by sequence number
  std::size_t wait = 0;      ///< by sequence number
  std::size_t inferred = 0;
  std::size_t resumes = 0;                             ///< a thread that went on because of another one
  std::array<std::size_t, kWaitReasons> host_waits{};  ///< by WaitReason
};

struct UnexplainedLag {
  std::string kernel;
  std::size_t count = 0;
  Picoseconds total;
  Picoseconds worst;
};

/// How long a step takes when some of the recorded times are scaled.
struct BoundRow {
  std::string change;
  Picoseconds step;  ///< of the rank for which it is longest
  Picoseconds gpu;   ///< from the start of the step to the end of the last GPU work, of the longest rank
};

struct LateRank {
  int rank = 0;
  std::size_t last = 0;   ///< collectives that it was the last to start
  Picoseconds mean_late;  ///< over those: behind the median of the other ranks
  Picoseconds worst_late;
};

/// An execution trace that was joined with the Kineto trace of its rank.
struct ExecutionJoin {
  std::optional<int> rank;
  std::string file;           ///< of the execution trace
  bool by_record_id = false;  ///< else by order on each thread and by name
  std::size_t nodes = 0;      ///< of the execution trace
  std::size_t ops = 0;        ///< of the Kineto trace
  std::size_t joined = 0;     ///< of those
  std::size_t shapes_added = 0;
  std::size_t shapes_same = 0;    ///< both traces have shapes, and they agree
  std::size_t shapes_differ = 0;  ///< both have shapes: the traces are of steps that differ
  std::size_t collectives_added = 0;
};

struct ImportReport {
  /// Collectives of which all ranks are here, so that their cost is known.
  std::size_t whole() const { return matched_by_sequence + matched_by_order - partial; }

  std::vector<RankSummary> ranks;
  std::vector<ExecutionJoin> joins;  ///< by rank
  std::vector<int> missing_ranks;
  std::vector<ClassSummary> classes;           ///< the longest first
  std::vector<CollectiveSummary> collectives;  ///< the longest first
  std::vector<UnspecifiedCollective> unspecified;
  std::size_t collective_kernels = 0;
  std::size_t matched_by_sequence = 0;  ///< instances
  std::size_t matched_by_order = 0;     ///< instances
  std::size_t partial = 0;              ///< of both: not all ranks of the group are here
  EdgeCounts edges;
  std::vector<UnexplainedLag> unexplained;  ///< by kernel, the longest in sum first
  std::vector<BoundRow> bounds;             ///< the first is as recorded
  std::vector<LateRank> stragglers;         ///< the most frequent first
  Picoseconds true_cost;                    ///< of all whole instances, without waiting
  Picoseconds cost_at_most;                 ///< of all partial ones
  Picoseconds waiting;                      ///< of all kernels of whole instances, for the last rank
  Picoseconds unmatched;                    ///< recorded time of kernels that were not matched
  Picoseconds waiting_at_least;             ///< of it, and of partial instances
  Picoseconds end_spread_median;            ///< of the ranks of an instance
  Picoseconds end_spread_worst;
  StartErrors errors;
  StartErrors errors_without_cross_stream;
};

}}  // namespace c3::traces
