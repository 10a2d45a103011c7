#include "workloads/execute/step_breakdown.hpp"

#include <algorithm>
#include <cmath>

#include "engine/intervals.hpp"
#include "gpu/kernels/operator_table.hpp"

namespace c3 { inline namespace workloads {
namespace {

Interval picoseconds(Seconds begin, Seconds end) {
  return {std::llround(begin.value * 1e12), std::llround(end.value * 1e12)};
}

Seconds length_of(const Intervals& set) { return Seconds{static_cast<double>(length(set)) * 1e-12}; }

/// Whether the operation is in flight while no kernel need run: a collective, a message or a copy.
bool is_communication(const TimedOperation& timed) {
  return is_collective_class(timed.operator_class) || timed.operator_class == kHostCopies;
}

/// Sweeps over the dates at which something begins or ends.
class ExposureSweep {
 public:
  explicit ExposureSweep(const std::vector<TimedOperation>& operations) {
    for (const TimedOperation& timed : operations) {
      if (timed.operator_class == kHostWork) continue;
      const std::size_t kind = is_communication(timed) ? place_of(timed.kind) : kKernel;
      const Seconds moves = std::clamp(timed.waits_until, timed.begin, timed.end);
      if (moves > timed.begin) add(timed.begin, moves, kind, true);
      if (timed.end > moves) add(moves, timed.end, kind, false);
    }
  }

  std::vector<ExposedTime> sweep() {
    std::ranges::sort(changes_, {}, &Change::at);
    std::int64_t before = 0;
    for (const Change& change : changes_) {
      count(change.at - before);
      before = change.at;
      if (change.kind == kKernel) {
        kernels_ += change.by;
      } else {
        InFlight& its = in_flight_[change.kind];
        (change.waits ? its.waiting : its.moving) += change.by;
      }
    }
    return std::move(exposed_);
  }

 private:
  static constexpr std::size_t kKernel = static_cast<std::size_t>(-1);
  struct Change {
    std::int64_t at = 0;  ///< ps
    std::size_t kind = kKernel;
    bool waits = false;
    int by = 0;
  };
  struct InFlight {
    int waiting = 0, moving = 0;
    bool any() const { return waiting + moving > 0; }
  };

  std::size_t place_of(const std::string& kind) {
    auto found = std::ranges::find(exposed_, kind, &ExposedTime::kind);
    if (found == exposed_.end()) {
      found = exposed_.insert(found, {.kind = kind, .time = {}});
      in_flight_.emplace_back();
    }
    return static_cast<std::size_t>(found - exposed_.begin());
  }

  void add(Seconds begin, Seconds end, std::size_t kind, bool waits) {
    const Interval its = picoseconds(begin, end);
    changes_.push_back({its.begin, kind, waits, 1});
    changes_.push_back({its.end, kind, waits, -1});
  }

  void count(std::int64_t picoseconds) {
    if (picoseconds == 0 || kernels_ > 0) return;
    const auto kinds = std::ranges::count_if(in_flight_, &InFlight::any);
    for (std::size_t kind = 0; kind < in_flight_.size(); ++kind) {
      if (!in_flight_[kind].any()) continue;
      const Seconds share{1e-12 * static_cast<double>(picoseconds) / static_cast<double>(kinds)};
      exposed_[kind].time += share;
      if (in_flight_[kind].moving == 0) exposed_[kind].waiting += share;
    }
  }

  std::vector<ExposedTime> exposed_;
  std::vector<InFlight> in_flight_;  ///< by kind
  std::vector<Change> changes_;
  int kernels_ = 0;
};

std::vector<ExposedTime> exposed_by_kind(const std::vector<TimedOperation>& operations) {
  return ExposureSweep(operations).sweep();
}

}  // namespace

std::string class_of(const Program& program, const Operation& operation) {
  if (const Operator* op = kernel_of(operation)) return std::string(group_of(*op));
  if (std::holds_alternative<TimedKernel>(operation.work)) return "timed";
  if (std::holds_alternative<Exchange>(operation.work))
    return std::string(name_of(CollectiveKind::send_receive));
  if (const auto* copy = std::get_if<HostCopy>(&operation.work))
    return copy->way == HostWay::within ? std::string(kHostWork) : std::string(kHostCopies);
  if (const CollectiveCall* call = program.call_of(operation)) return std::string(name_of(call->kind));
  return {};
}

bool is_collective_class(std::string_view name) {
  return std::ranges::any_of(kCollectiveKinds, [&](CollectiveKind kind) { return name_of(kind) == name; });
}

std::optional<double> StepBreakdown::hidden_share() const {
  if (communication <= Seconds{}) return std::nullopt;
  return 1.0 - exposed / communication;
}

StepBreakdown step_breakdown(const std::vector<TimedOperation>& operations, Seconds time) {
  std::vector<Interval> kernels, collectives, without_messages;
  StepBreakdown times;
  for (const TimedOperation& timed : operations) {
    const Interval its = picoseconds(timed.begin, timed.end);
    if (timed.operator_class != kHostWork) (is_communication(timed) ? collectives : kernels).push_back(its);
    if (timed.operator_class != name_of(CollectiveKind::send_receive)) without_messages.push_back(its);
    auto found = std::ranges::find(times.classes, timed.operator_class, &ClassTime::name);
    if (found == times.classes.end())
      found = times.classes.insert(found, {.name = timed.operator_class, .time = {}});
    found->time += timed.end - timed.begin;
    found->count += 1.0;
  }
  const Intervals busy = united(std::move(kernels));
  const Intervals moving = united(std::move(collectives));
  const Intervals whole = {picoseconds({}, time)};
  const Seconds both = length_of(intersection(busy, moving));
  times.kernels = length_of(busy);
  times.communication = length_of(moving);
  times.exposed = times.communication - both;
  times.idle = length_of(whole) - (times.kernels + times.exposed);
  times.exposed_by = exposed_by_kind(operations);
  times.bubble = length_of(whole) - length_of(united(std::move(without_messages)));
  return times;
}

}}  // namespace c3::workloads
