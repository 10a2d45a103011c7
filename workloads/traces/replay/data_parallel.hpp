#pragma once
/// A recorded run whose data parallelism has more ranks than were recorded.

#include "workloads/traces/replay/recorded_run.hpp"

namespace c3 { inline namespace traces {

/// How many ranks the groups of \p run have, all of which have all of its ranks. \throws std::invalid_argument
/// naming the first collective of another group, of an unknown one, or of ranks that were not recorded
int data_parallel_ranks(const RecordedRun& run);

/// \p run with collectives over \p ranks ranks in place of all those recorded; repeated_roles says who does
/// what. Work of each rank stays as it is (weak scaling), and so do the bytes that a rank holds at the larger
/// side of a collective:
/// - all_reduce, broadcast, reduce: a copy of the same gradients or weights on every rank;
/// - all_gather, reduce_scatter: the whole tensor, of which each rank keeps a smaller shard (FSDP, ZeRO);
/// - all_to_all: what a rank sends, in more and smaller parts;
/// - gather, scatter: a part for every rank, which keeps its size, so that the root holds more.
///
/// The number that was recorded gives \p run itself. \throws std::invalid_argument as data_parallel_ranks, for
/// a number that is no multiple of it (of several recorded ranks), and naming a collective whose kind or bytes
/// are not known Wrong when: groups are those of tensor, pipeline or expert parallelism, which the trace does
/// not tell; an all-gather collects a result of each rank, as metrics; more ranks come less evenly than
/// those that were recorded.
RecordedRun with_data_parallel(RecordedRun run, int ranks);

}}  // namespace c3::traces
