#pragma once
/// What one strategy's recorded run did, as the page shows it: slices on streams and copy engines, and how
/// resources were used.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/intervals.hpp"
#include "results/report/use_curve.hpp"
#include "results/result_reader.hpp"

namespace c3 { inline namespace results {

/// A phase of a call (KernelPhase), or its main kernel beside them. Dates in ps.
struct SlicePhase {
  std::string name;
  std::int64_t start = 0, end = 0;
};

/// A kernel, collective or wait on its stream, or a transfer on its copy engine. Dates in ps.
struct Slice {
  std::string name;
  std::string kind;
  std::int64_t start = 0;
  std::int64_t running = 0;  ///< first work group, channel or copy; start when it has none
  std::int64_t end = 0;
  double bytes = 0;
  double flops = 0;
  std::vector<std::string> released_by = {};
  std::vector<std::string> waited_for = {};  ///< between its release and its first part
  Intervals busy = {};                  ///< while a part of it runs; of a transfer and a wait: start to end
  std::vector<SlicePhase> phases = {};  ///< sorted by their ends; empty where it has none
};

struct Lane {
  int number = 0;  ///< number of the stream or engine
  std::string label;
  std::vector<Slice> slices;         ///< sorted by start
  std::vector<Slice> recorded = {};  ///< for a stream that repeats a trace: its recorded slices, in its order
};

struct GpuTimeline {
  int rank = 0;
  std::vector<Lane> streams;
  std::vector<Lane> engines;  ///< those that copied
  UseCurve cus{"CUs"}, hbm{"HBM"}, links{"links"};
  std::vector<UseCurve> each_link;
  std::vector<UseCurve> channels = {};  ///< HBM channels by number, when they are simulated
};

/// How the time of one GPU divides, from unions of the intervals in which parts of kernels and of collectives
/// run.
struct BusySplit {
  std::int64_t compute_only = 0;
  std::int64_t both = 0;
  std::int64_t communication_only = 0;
  std::int64_t neither = 0;
};

struct StrategyTimeline {
  std::int64_t time = 0;                                    ///< ps
  std::vector<GpuTimeline> gpus;                            ///< sorted by rank, never empty
  std::optional<std::int64_t> recorded_end = std::nullopt;  ///< end of the recording that it repeats [ps]

  /// The GPU that ends last, by its own parts; of equals the lowest rank.
  const GpuTimeline& last_gpu() const;
  BusySplit split() const;
};

StrategyTimeline read_timeline(const ResultReader& file, const std::string& strategy);

}}  // namespace c3::results
