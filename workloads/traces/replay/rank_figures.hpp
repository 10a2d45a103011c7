#pragma once
/// \file
/// What one rank's GPU did in time, summed up in figures that a recording, its replay and a replay by the model
/// have alike.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "workloads/traces/kernel_class.hpp"
#include "workloads/traces/picoseconds.hpp"
#include "workloads/traces/replay/recorded_run.hpp"

namespace c3 { inline namespace traces {

struct WorkDates {
  Picoseconds start, end;
};

/// [ranks][their work]
using RunDates = std::vector<std::vector<WorkDates>>;

/// The dates that were recorded. A matched collective ends its duration after the start of its last member.
RunDates recorded_dates(const RecordedRun& run);

/// Work of a rank in time.
struct PlacedWork {
  std::string name;
  std::string stream;
  WorkClass work = WorkClass::other;
  Picoseconds start, end;
  std::int64_t bytes = 0;              ///< of a collective
  std::optional<Picoseconds> waiting;  ///< of a collective: for its last rank; nothing where that is not known
};

struct RankTimeline {
  int rank = 0;
  double steps = 1.0;  ///< figures are of one of them
  Picoseconds length;  ///< of all steps
  std::vector<PlacedWork> work;
};

/// \param rank in RecordedRun::ranks. \param length of its steps. \param knows_waiting the dates of all
/// members of each collective are there; else it waits for ranks that were not recorded
RankTimeline timeline_of(const RecordedRun& run, std::size_t rank, const RunDates& dates, Picoseconds length,
                         bool knows_waiting);

/// Calls streams "compute" and "comm", or "comm0", "comm1", .., as those of benchmarks: the ones on which most
/// work is collectives in the order in which they begin.
void name_streams_by_use(RankTimeline& timeline);

struct Figure {
  std::string name;
  std::string_view unit;  ///< "us", "1", "B"
  double value = 0.0;
};

/// Figures of one step, in this order:
///
/// - step: its length
/// - GPU busy, idle: time with and without work on the GPU
/// - compute, communication: time with kernels, with collectives; both have what is of both
/// - exposed communication: time with collectives and no kernel; copies hide nothing, as in
/// HolisticTraceAnalysis
/// - waiting for late ranks, transfer: of the time of collectives, before and after the last member starts
/// - CLASS: sum over its work, waiting included
/// - CLASS count, work count: pieces of work
/// - collective bytes: of the larger side, in and out, of one rank
/// - stream NAME: time with work on it
/// - operator NAME: sum over the work of this name
///
/// What does not occur is left out.
std::vector<Figure> figures_of(const RankTimeline& timeline);

/// One figure of a recording and of two replays; nothing where one has no such figure.
struct SimilarityRow {
  std::string figure;
  std::string_view unit;
  std::optional<double> recorded, replayed, modelled;

  std::optional<double> ratio() const;  ///< modelled over recorded
};

struct RankSimilarity {
  int rank = 0;
  std::vector<SimilarityRow> rows;
};

/// The figures of one rank side by side, of operators the 20 longest. A rank that was recorded alone gets
/// bounds of what its collectives waited: at least \p waiting_at_least, if given, and at most what they took
/// longer than the model's.
RankSimilarity compare(const RankTimeline& recorded, const RankTimeline& replayed, const RankTimeline& modelled,
                       std::optional<Picoseconds> waiting_at_least);

}}  // namespace c3::traces
