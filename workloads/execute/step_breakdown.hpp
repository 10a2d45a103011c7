#pragma once
/// Where the time of one rank's step goes.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/units.hpp"
#include "workloads/program/program.hpp"

namespace c3 { inline namespace workloads {

/// Operations of one kind together: "gemm", "attention", "norm", "elementwise", "softmax", "embedding",
/// "optimizer", or a collective's name.
struct ClassTime {
  std::string name;
  Seconds time;      ///< from release to end, added up over operations
  double count = 0;  ///< operations; of an extrapolated step not always a whole number

  bool operator==(const ClassTime&) const = default;
};

/// Communication of one kind while no kernel runs. Where several kinds are in flight each has an equal share.
struct ExposedTime {
  std::string kind;      ///< communication_kind() of its stream
  Seconds time;          ///< of StepBreakdown::exposed, which all kinds add up to
  Seconds waiting = {};  ///< of that, while all of it waited for a member that had not come

  bool operator==(const ExposedTime&) const = default;
};

/// Of one rank, from unions of intervals.
struct StepBreakdown {
  Seconds kernels;                      ///< in which at least one kernel ran
  Seconds communication;                ///< in which at least one collective was in flight
  Seconds exposed;                      ///< of that, in which no kernel ran
  Seconds idle;                         ///< in which there was neither
  Seconds bubble = {};                  ///< in which there was neither but, at most, messages: of a pipeline
  std::vector<ClassTime> classes = {};  ///< in the order of first launch
  std::vector<ExposedTime> exposed_by = {};

  /// Share of the communication during which a kernel ran; absent when there is none.
  std::optional<double> hidden_share() const;
  bool operator==(const StepBreakdown&) const = default;
};

/// An operation of a rank, from its release to its end.
struct TimedOperation {
  std::string operator_class;  ///< as class_of names it
  Seconds begin, end;
  std::string kind = {};     ///< of communication
  Seconds waits_until = {};  ///< until then it waits for a member, if that is after its begin
};

/// \param time of the whole step, which began at 0
StepBreakdown step_breakdown(const std::vector<TimedOperation>& operations, Seconds time);

/// Of which class an operation is; empty for events.
std::string class_of(const Program& program, const Operation& operation);
/// Whether class_of names a collective so.
bool is_collective_class(std::string_view name);
/// Classes of copies to and from hosts, which count as communication, and of what hosts do to their memory,
/// which counts as neither that nor kernels.
inline constexpr std::string_view kHostCopies = "host copy", kHostWork = "host";

}}  // namespace c3::workloads
