#pragma once
/// \file
/// A recorded run in the form in which it is kept and replayed: GPU work, what it waited for, what the
/// threads of the hosts did between, with exact lags. It is what a program file holds.

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "collectives/call.hpp"
#include "gpu/kernels/operator.hpp"
#include "workloads/traces/kernel_class.hpp"
#include "workloads/traces/picoseconds.hpp"

namespace c3 { inline namespace traces {

/// Row of RecordedRun::names.
using TextRow = std::uint32_t;

/// What work computes, or why that is not known; alike work shares one.
struct RecordedOperator {
  std::optional<Operator> op = std::nullopt;
  bool in_another = false;  ///< `op` is another kernel's, whose time includes this one's
  TextRow note = 0;         ///< the rule that found it, or why nothing was found

  bool operator==(const RecordedOperator&) const = default;
};

/// A kernel, copy, memset, or a rank's part in a collective.
struct RecordedWork {
  TextRow name = 0;
  std::uint32_t stream = 0;
  WorkClass work_class = WorkClass::other;  ///< by its name, and by its operator where it has one
  std::uint32_t op = kNoIndex;              ///< row of RecordedRun::operators; none in old program files
  Picoseconds start = {};                   ///< recorded date
  Picoseconds duration = {};  ///< of a matched collective: from the start of its last member to the end here
  bool has_time = true;       ///< else it is not known how long it takes
  std::uint32_t launch = kNoIndex;  ///< point of the host at which it is launched
  Picoseconds after_launch = {};    ///< its start, at the earliest
  Picoseconds after_stream = {};    ///< the same, from the end of what was before it on its stream
  /// Row of RecordedRun::collectives, if it was matched, or if this is the only rank and it communicates.
  std::uint32_t collective = kNoIndex;

  bool operator==(const RecordedWork&) const = default;
};

/// \p destination starts \p lag after the end of \p source, on another stream, or later.
struct RecordedEdge {
  std::uint32_t source = 0;
  std::uint32_t destination = 0;
  Picoseconds lag;

  bool operator==(const RecordedEdge&) const = default;
};

/// A thread of a host comes to it \p cost after its previous point, and after all waits for it.
struct HostPoint {
  std::uint32_t thread = 0;  ///< points of a thread are neighbours, in their order
  Picoseconds date;          ///< recorded
  Picoseconds cost;

  bool operator==(const HostPoint&) const = default;
};

/// \p point is \p lag after the end of work, or after a point of another thread, or later.
struct PointWait {
  std::uint32_t point = 0;
  bool for_work = false;     ///< else for a point
  std::uint32_t source = 0;  ///< row of work or of points
  Picoseconds lag;

  bool operator==(const PointWait&) const = default;
};

struct StepSpan {
  TextRow name = 0;
  std::uint32_t begin = 0, end = 0;  ///< points

  bool operator==(const StepSpan&) const = default;
};

struct RecordedRank {
  int number = 0;
  std::vector<RecordedWork> work;  ///< those of a stream in its order
  std::vector<RecordedEdge> edges;
  std::vector<TextRow> threads;  ///< names
  std::vector<HostPoint> points;
  std::vector<PointWait> waits;
  std::vector<StepSpan> steps;

  Picoseconds length() const;  ///< recorded, of all steps; 0 without any

  bool operator==(const RecordedRank&) const = default;
};

/// Work of several ranks that waited for each other. Where one rank alone was recorded, its members are that
/// rank, and the durations of its work have the waiting for the others in them.
struct RecordedCollective {
  TextRow name = 0;
  TextRow kind = 0;                   ///< all_reduce, .., all_to_all_v with unequal shares; empty: not known
  TextRow dtype = 0;                  ///< c10's name; empty: not known
  std::int64_t bytes = 0;             ///< of the larger side, in and out, of one rank; 0: not known
  std::int64_t group_size = 0;        ///< 0: not known
  std::vector<std::int32_t> members;  ///< numbers of ranks
  std::vector<std::int64_t> sends =
      {};  ///< of all_to_all_v: bytes by sender (row) and receiver; empty: not known

  bool operator==(const RecordedCollective&) const = default;
};

/// Dates count from the first of all.
struct RecordedRun {
  std::vector<std::string> names = {""};
  std::vector<std::string> streams;
  std::vector<RecordedRank> ranks;  ///< by number
  std::vector<RecordedCollective> collectives;
  std::vector<RecordedOperator> operators;
  std::string gpu;     ///< as the trace calls it
  int world_size = 0;  ///< of the job; 0: not known
  /// Work starts when it is released, before the GPU's launch latency or dependent gap, as in timelines of
  /// c3sim; else when the GPU began with it, as in those of profilers.
  bool starts_at_release = false;

  const std::string& text(TextRow row) const { return names[row]; }
  bool is_of_one_rank() const { return ranks.size() == 1; }  ///< which then stands for all
  std::size_t events() const;                                ///< work of all ranks

  bool operator==(const RecordedRun&) const = default;
};

/// Gives texts their rows in RecordedRun::names, each once.
class TextRows {
 public:
  /// \p names is that of a new run, and must outlive this.
  explicit TextRows(std::vector<std::string>& names) : names_(names) {}

  TextRow of(const std::string& text) {
    const auto [known, is_new] = rows_.try_emplace(text, static_cast<TextRow>(names_.size()));
    if (is_new) names_.push_back(text);
    return known->second;
  }

 private:
  std::vector<std::string>& names_;
  std::unordered_map<std::string, TextRow> rows_ = {{"", 0}};
};

}}  // namespace c3::traces
