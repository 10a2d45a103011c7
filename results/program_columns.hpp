#pragma once
/// The columns of a program file's tables, as they are written and read.

#include <array>
#include <cstdint>
#include <type_traits>

#include "workloads/traces/replay/recorded_run.hpp"

namespace c3 { inline namespace results {

/// Values of the attribute `starts`: dates of work are those of its release, or of its begin on the device.
inline constexpr const char* kStartsAtRelease = "release";
inline constexpr const char* kStartsOnDevice = "device";

/// The table of what members of an all-to-all send each other; files before 1.3.0 have none.
inline constexpr const char* kSends = "sends";

/// A column of a table, and what it is of each row.
template <class Row>
struct ProgramColumn {
  const char* name;
  const char* units;
  const char* long_name;
  bool is_text;
  std::int64_t (*get)(const Row&);
  void (*set)(Row&, std::int64_t);
};

template <auto Member, class Row>
std::int64_t get_member(const Row& row) {
  if constexpr (requires { (row.*Member).count; }) {
    return (row.*Member).count;
  } else if constexpr (std::is_same_v<std::remove_cvref_t<decltype(row.*Member)>, std::uint32_t>) {
    return row.*Member == kNoIndex ? -1 : static_cast<std::int64_t>(row.*Member);
  } else {
    return static_cast<std::int64_t>(row.*Member);
  }
}

template <auto Member, class Row>
void set_member(Row& row, std::int64_t value) {
  if constexpr (requires { (row.*Member).count; }) {
    (row.*Member).count = value;
  } else {
    row.*Member = static_cast<std::remove_cvref_t<decltype(row.*Member)>>(value);
  }
}

template <auto Member, class Row>
constexpr ProgramColumn<Row> program_column(const char* name, const char* units, const char* long_name,
                                            bool is_text = false) {
  return {name, units, long_name, is_text, &get_member<Member, Row>, &set_member<Member, Row>};
}

inline constexpr std::array kWork{
    program_column<&RecordedWork::name, RecordedWork>("name", "1", "kernel, copy or memset", true),
    program_column<&RecordedWork::stream, RecordedWork>("stream", "1", "row of /streams"),
    program_column<&RecordedWork::work_class, RecordedWork>(
        "class", "1", "0 GEMM, 1 convolution, 2 attention, 3 vector, 4 collective, 5 copy, 6 memset, 7 other"),
    program_column<&RecordedWork::start, RecordedWork>("start", "ps", "recorded date of its start"),
    program_column<&RecordedWork::duration, RecordedWork>(
        "duration", "ps", "of a matched collective from the start of its last member to the end here"),
    program_column<&RecordedWork::launch, RecordedWork>("launch", "1", "row of points: what launches it"),
    program_column<&RecordedWork::after_launch, RecordedWork>("after_launch", "ps",
                                                              "from there to the start, at least"),
    program_column<&RecordedWork::after_stream, RecordedWork>(
        "after_stream", "ps", "from the end of what was before it on its stream, at least"),
    program_column<&RecordedWork::collective, RecordedWork>("collective", "1",
                                                            "row of /collectives, -1 for none"),
    program_column<&RecordedWork::op, RecordedWork>("operator", "1", "row of /operators, -1 for none"),
};
inline constexpr std::array kEdges{
    program_column<&RecordedEdge::source, RecordedEdge>("source", "1", "row of work that must end first"),
    program_column<&RecordedEdge::destination, RecordedEdge>("destination", "1",
                                                             "row of work on another stream"),
    program_column<&RecordedEdge::lag, RecordedEdge>("lag", "ps", "from that end to the start, at least"),
};
inline constexpr std::array kPoints{
    program_column<&HostPoint::thread, HostPoint>("thread", "1", "row of threads"),
    program_column<&HostPoint::date, HostPoint>("date", "ps", "recorded date"),
    program_column<&HostPoint::cost, HostPoint>("cost", "ps",
                                                "time of the host since the thread's previous point"),
};
inline constexpr std::array kWaits{
    program_column<&PointWait::point, PointWait>("point", "1", "row of points that waits"),
    program_column<&PointWait::for_work, PointWait>("for_work", "1",
                                                    "1: for the end of work, 0: for another point"),
    program_column<&PointWait::source, PointWait>("source", "1", "row of work or of points"),
    program_column<&PointWait::lag, PointWait>("lag", "ps", "from there to the point, at least"),
};
inline constexpr std::array kSteps{
    program_column<&StepSpan::name, StepSpan>("name", "1", "as the profiler calls the step", true),
    program_column<&StepSpan::begin, StepSpan>("begin", "1", "row of points"),
    program_column<&StepSpan::end, StepSpan>("end", "1", "row of points"),
};
inline constexpr std::array kCollectives{
    program_column<&RecordedCollective::name, RecordedCollective>("name", "1", "kernel", true),
    program_column<&RecordedCollective::kind, RecordedCollective>("kind", "1",
                                                                  "all_reduce, ..; empty: not known", true),
    program_column<&RecordedCollective::dtype, RecordedCollective>("dtype", "1", "as PyTorch calls it", true),
    program_column<&RecordedCollective::bytes, RecordedCollective>("bytes", "B",
                                                                   "of the larger side of a rank; 0: unknown"),
    program_column<&RecordedCollective::group_size, RecordedCollective>("group_size", "1", "ranks; 0: unknown"),
};

}}  // namespace c3::results
