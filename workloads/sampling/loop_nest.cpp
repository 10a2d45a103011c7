#include "workloads/sampling/loop_nest.hpp"

#include <algorithm>
#include <deque>
#include <utility>

namespace c3 { inline namespace sampling {
namespace {

constexpr std::size_t kLongestPeriod = 64;  // iterations that are looked back at

/// The part of an earlier state that a date follows from, and the units whose latencies or intervals lie
/// between: a bit for each of the first 64.
struct Origin {
  std::uint32_t part = 0;
  std::uint64_t units = 0;

  Origin through(std::uint32_t unit) const {
    return {part, unit < 64 ? units | std::uint64_t{1} << unit : units};
  }
};

/// Origins of a state's parts: registers, then copies of units, then issues.
using Origins = std::vector<Origin>;

/// Origins over two spans of time, one after another.
Origins joined(const Origins& earlier, const Origins& later) {
  Origins origins(later.size());
  std::ranges::transform(later, origins.begin(), [&](const Origin& at) {
    return Origin{earlier[at.part].part, earlier[at.part].units | at.units};
  });
  return origins;
}

Origins unchanged(std::size_t parts) {
  Origins origins(parts);
  for (std::size_t part = 0; part < parts; ++part)
    origins[part].part = static_cast<std::uint32_t>(part);
  return origins;
}

Origins repeated(Origins one, std::uint64_t times) {
  Origins all = unchanged(one.size());
  for (; times > 0; times /= 2) {
    if (times % 2 == 1) all = joined(all, one);
    one = joined(one, one);
  }
  return all;
}

/// What earlier instructions leave for later ones. Dates in cycles.
struct MachineState {
  std::vector<std::int64_t> issued;     ///< dates of the last `width` issues, the oldest first
  std::vector<std::int64_t> registers;  ///< ready
  std::vector<std::int64_t> copies;     ///< of all units, one after another: free
  std::vector<std::uint32_t> turns;     ///< of each unit, which copy is next
  std::int64_t end = 0;                 ///< of whatever ended last

  /// The date before which nothing can start any more.
  std::int64_t now() const { return issued.back(); }

  /// The state with dates counted from now(): what lies before it decides nothing.
  MachineState relative() const {
    MachineState state = *this;
    for (auto* dates : {&state.registers, &state.copies})
      for (std::int64_t& date : *dates)
        date = std::max<std::int64_t>(date - now(), 0);
    for (std::int64_t& date : state.issued)
      date = std::max<std::int64_t>(date - now(), -1);  // the next cycle is all that it decides
    state.end = std::max<std::int64_t>(end - now(), 0);
    return state;
  }

  void move(std::int64_t cycles) {
    for (auto* dates : {&issued, &registers, &copies})
      for (std::int64_t& date : *dates)
        date += cycles;
    end += cycles;
  }

  friend bool operator==(const MachineState&, const MachineState&) = default;
};

bool is_innermost(const LoopNest& nest) {
  return std::ranges::none_of(nest.body,
                              [](const LoopItem& item) { return std::holds_alternative<LoopNest>(item); });
}

class LoopRun {
 public:
  LoopRun(const LoopProgram& program, bool closes_loops) : program_(program), closes_loops_(closes_loops) {
    const LoopMachine& machine = program.machine;
    std::size_t copies = 0;
    for (const LoopUnit& unit : machine.units) {
      first_copy_.push_back(copies);
      copies += unit.copies;
    }
    state_ = {.issued = std::vector<std::int64_t>(machine.width, -1),
              .registers = std::vector<std::int64_t>(program.registers.size(), 0),
              .copies = std::vector<std::int64_t>(copies, 0),
              .turns = std::vector<std::uint32_t>(machine.units.size(), 0)};
    time_.unit_cycles.assign(machine.units.size(), 0);
    origins_ = unchanged(program.registers.size() + copies + machine.width);
  }

  LoopTime result() {
    run(program_.nest, 0);
    time_.cycles = state_.end;
    return std::move(time_);
  }

 private:
  void run(const LoopInstruction& instruction) {
    const LoopUnit& unit = program_.machine.units[instruction.unit];
    std::uint32_t& turn = state_.turns[instruction.unit];
    const std::size_t place = first_copy_[instruction.unit] + turn;
    std::int64_t& copy = state_.copies[place];
    turn = (turn + 1) % unit.copies;
    // Issues are in order, and no more than `width` in a cycle.
    std::int64_t start = std::max({state_.now(), state_.issued.front() + 1, copy});
    for (const std::uint32_t number : instruction.reads)
      start = std::max(start, state_.registers[number]);
    if (closes_loops_) trace(instruction, place, start);
    copy = start + unit.interval;
    for (const std::uint32_t number : instruction.writes)
      state_.registers[number] = std::max(state_.registers[number], start + unit.latency);
    state_.issued.erase(state_.issued.begin());
    state_.issued.push_back(start);
    state_.end = std::max(state_.end, start + unit.latency);
    time_.unit_cycles[instruction.unit] += unit.interval;
    ++time_.instructions;
  }

  /// Notes the origins of the dates that \p instruction leaves, which starts at \p start. If dates are equal, a
  /// result goes before a unit and a unit before the order of issue.
  void trace(const LoopInstruction& instruction, std::size_t copy, std::int64_t start) {
    const std::size_t first_copy = state_.registers.size(), first_issue = first_copy + state_.copies.size();
    const auto issues = origins_.begin() + static_cast<std::ptrdiff_t>(first_issue);
    Origin origin = state_.issued.front() + 1 == start ? *issues : origins_.back();
    if (state_.copies[copy] == start) origin = origins_[first_copy + copy];
    for (const std::uint32_t number : instruction.reads)
      if (state_.registers[number] == start) origin = origins_[number];
    const std::int64_t ends = start + program_.machine.units[instruction.unit].latency;
    for (const std::uint32_t number : instruction.writes)
      if (ends >= state_.registers[number]) origins_[number] = origin.through(instruction.unit);
    origins_[first_copy + copy] = origin.through(instruction.unit);
    std::shift_left(issues, origins_.end(), 1);
    origins_.back() = origin;
  }

  /// Follows \p origins of a period from the last issue until a part comes again.
  void find_circuit(const Origins& origins, LoopCycle& cycle) const {
    std::vector<std::uint32_t> path;
    auto part = static_cast<std::uint32_t>(origins.size() - 1);
    while (std::ranges::find(path, part) == path.end()) {
      path.push_back(part);
      part = origins[part].part;
    }
    std::uint64_t units = 0;
    std::vector<CriticalPart>& parts = cycle.critical;
    for (auto at = std::ranges::find(path, part); at != path.end(); ++at) {
      units |= origins[*at].units;
      const CriticalPart here = named(*at);
      if (parts.empty() || parts.back() != here) parts.push_back(here);
    }
    if (parts.size() > 1 && parts.back() == parts.front()) parts.pop_back();
    std::ranges::reverse(parts);  // in the order of time
    for (std::uint32_t unit = 0; unit < 64; ++unit)
      if ((units >> unit & 1U) != 0) cycle.critical_units.push_back(unit);
  }

  CriticalPart named(std::uint32_t part) const {
    if (part < state_.registers.size()) return {HeldBy::register_, part};
    const std::size_t copy = part - state_.registers.size();
    if (copy >= state_.copies.size()) return {HeldBy::issue, 0};
    const auto unit = std::ranges::upper_bound(first_copy_, copy) - first_copy_.begin() - 1;
    return {HeldBy::unit, static_cast<std::uint32_t>(unit)};
  }

  void run_body(const LoopNest& nest, std::size_t depth) {
    if (is_innermost(nest)) ++time_.iterations;
    for (const LoopItem& item : nest.body) {
      if (const auto* instruction = std::get_if<LoopInstruction>(&item)) {
        run(*instruction);
      } else {
        run(std::get<LoopNest>(item), depth + 1);
      }
    }
  }

  /// What an iteration left behind.
  struct Left {
    MachineState relative;
    std::int64_t now = 0;
    std::vector<std::int64_t> unit_cycles;
    Origins origins;  ///< of the iteration
  };

  void run(const LoopNest& nest, std::size_t depth) {
    LoopCycle cycle{.depth = depth, .count = nest.count};
    std::deque<Left> left;
    std::uint64_t done = 0;
    while (done < nest.count) {
      const Origins before = closes_loops_ ? std::exchange(origins_, unchanged(origins_.size())) : Origins{};
      run_body(nest, depth);
      ++done;
      ++cycle.evaluated;
      if (!closes_loops_) continue;
      const Origins of_iteration = std::exchange(origins_, joined(before, origins_));
      if (cycle.period > 0 || done == nest.count) continue;
      const Left now{state_.relative(), state_.now(), time_.unit_cycles, of_iteration};
      const auto same = std::ranges::find(left, now.relative, &Left::relative);
      if (same != left.end()) {
        cycle.period = static_cast<std::uint64_t>(same - left.begin()) + 1;
        cycle.cycles = now.now - same->now;
        Origins of_period = of_iteration;
        for (auto iteration = left.begin(); iteration != same; ++iteration)
          of_period = joined(iteration->origins, of_period);
        find_circuit(of_period, cycle);
        origins_ = joined(origins_, repeated(of_period, (nest.count - done) / cycle.period));
        done += skip(now, *same, (nest.count - done) / cycle.period) * cycle.period;
      }
      left.push_front(now);
      if (left.size() > kLongestPeriod) left.pop_back();
    }
    if (closes_loops_) note(cycle);
  }

  /// Counts \p periods like the one between two equal states. \returns that number
  std::uint64_t skip(const Left& now, const Left& before, std::uint64_t periods) {
    const auto times = static_cast<std::int64_t>(periods);
    state_.move((now.now - before.now) * times);
    for (std::size_t unit = 0; unit < now.unit_cycles.size(); ++unit)
      time_.unit_cycles[unit] += (now.unit_cycles[unit] - before.unit_cycles[unit]) * times;
    return periods;
  }

  /// Keeps the last run of each depth.
  void note(const LoopCycle& cycle) {
    if (time_.loops.size() <= cycle.depth) time_.loops.resize(cycle.depth + 1);
    time_.loops[cycle.depth] = cycle;
  }

  const LoopProgram& program_;
  bool closes_loops_;
  std::vector<std::size_t> first_copy_;
  MachineState state_;
  Origins origins_;  ///< of the dates in state_, since the innermost iteration that runs began
  LoopTime time_;
};

std::uint64_t instructions_of(const LoopNest& nest) {
  std::uint64_t count = 0;
  for (const LoopItem& item : nest.body) {
    const auto* inner = std::get_if<LoopNest>(&item);
    count += inner == nullptr ? 1 : instructions_of(*inner);
  }
  return nest.count * count;
}

std::uint64_t iterations_of(const LoopNest& nest) {
  if (is_innermost(nest)) return nest.count;
  std::uint64_t count = 0;
  for (const LoopItem& item : nest.body)
    if (const auto* inner = std::get_if<LoopNest>(&item)) count += iterations_of(*inner);
  return nest.count * count;
}

}  // namespace

std::uint64_t LoopProgram::instructions() const { return instructions_of(nest); }
std::uint64_t LoopProgram::iterations() const { return iterations_of(nest); }

LoopTime run_whole(const LoopProgram& program) { return LoopRun(program, /*closes_loops=*/false).result(); }

LoopTime run_to_fixed_point(const LoopProgram& program) {
  return LoopRun(program, /*closes_loops=*/true).result();
}

}}  // namespace c3::sampling
