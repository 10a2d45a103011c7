#pragma once
/// What one simulated run gives.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "collectives/call.hpp"
#include "collectives/library/method.hpp"
#include "engine/units.hpp"
#include "gpu/clock/power_state.hpp"
#include "interconnect/rank_partition.hpp"
#include "workloads/execute/step_breakdown.hpp"

namespace c3 { inline namespace workloads {

class KernelSamples;

/// One collective of the recorded run, on one GPU.
struct CollectiveRecord {
  std::string name;
  CollectiveKind op = CollectiveKind::all_gather;
  Backend backend = Backend::cu;
  CollectiveMethod method = {};
  int gpu = 0;
  int channels = 0;  ///< work groups (cu) or engines (dma)
  Bytes bytes;       ///< total buffer as nccl-tests counts it
  Seconds start, end;
  BytesPerSecond algbw, busbw;
};

/// When the operations of one side were first released and last ended, over all ranks.
struct SideSpan {
  Seconds release, end;
  bool any = false;
  Seconds duration() const { return end - release; }

  /// Covers \p part as well.
  void widen(const SideSpan& part) {
    if (!part.any) return;
    release = any ? std::min(release, part.release) : part.release;
    end = std::max(end, part.end);
    any = true;
  }
};

/// Ranks of which one is simulated for all.
struct SimulatedClass {
  std::string name;     ///< of their [[ranks]]; empty: they have none
  RankRanges ranks;     ///< the first is the one that is simulated
  StepBreakdown times;  ///< where the run's time goes, of that one
  /// Of each: what its operations hold (MemoryPlan::total), of a training step what the allocator has reserved.
  /// Absent where the former is not known of all classes.
  std::optional<Bytes> memory = std::nullopt;

  int representative() const { return ranks.front().first; }
  int multiplicity() const { return count_of(ranks); }

  bool operator==(const SimulatedClass&) const = default;
};

/// How much longer or shorter a run would take if each collective whose loads were averaged took longer or
/// shorter by their spread, and nothing hid that: of each the time in which it moves bytes.
struct AveragedLoads {
  Seconds longer = {}, shorter = {};

  /// A collective that moves bytes for \p moves, whose loads differ by \p spread.
  void add(double spread, Seconds moves) {
    longer += spread * moves;
    shorter += spread / (1.0 + spread) * moves;
  }

  /// Covers \p other as well.
  void widen(const AveragedLoads& other) {
    longer = std::max(longer, other.longer);
    shorter = std::max(shorter, other.shorter);
  }

  bool operator==(const AveragedLoads&) const = default;
};

/// How far a time may be off that was not simulated whole, or with averaged loads. Without `bound`, low and
/// high promise nothing: they follow from AveragedLoads and from how much periods that were simulated differ.
struct Estimate {
  Seconds low, high;
  std::string method;      ///< how it was found
  double simulated = 1.0;  ///< share that was simulated: of the time or the kernels, and of the ranks
  /// How far the time is off at most, relative to that of the whole simulation, with a probability of 95 %.
  std::optional<double> bound = std::nullopt;

  bool operator==(const Estimate&) const = default;
};

/// When a thread of a host came to a step that has a mark.
struct HostMark {
  int rank = 0;
  std::string name;
  Seconds date;
};

/// Power of one simulated board in a run.
struct BoardPower {
  int boards = 1;  ///< for which it stands
  PowerState begin, end;
  PowerMeans means;
};

struct RunResult {
  /// From the first rank's launch until the last operation of the last rank ended; of a whole strategy whose
  /// streams ran beside one another, until its host has seen that.
  Seconds time;
  SideSpan kernels, collectives;
  std::vector<SideSpan> streams;  ///< in the order of the experiment
  std::vector<CollectiveRecord> records;
  bool is_shortened = false;            ///< its times follow from steps of fewer layers or micro-batches
  std::vector<SimulatedClass> classes;  ///< of ranks, in the order of their representatives
  double inequity = 0.0;        ///< greatest spread, over the mean, of loads that were averaged within a class
  AveragedLoads averaged = {};  ///< of the rank for which it is most
  std::uint64_t flows = 0;      ///< completed
  std::optional<Estimate> estimate = std::nullopt;  ///< of `time`, where it is one
  std::vector<BoardPower> power = {};               ///< of simulated ranks; empty where it is not known
  std::vector<HostMark> marks = {};                 ///< of simulated ranks, by rank
  std::vector<std::string> notes = {};  ///< printed with the result, e.g. an override of the strategy
};

}}  // namespace c3::workloads
