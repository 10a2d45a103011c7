#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <utility>
#include <vector>

#include "workloads/sampling/loop_nest.hpp"

namespace c3::sampling_loops_test { namespace {

/// One unit of \p latency and \p interval, and one register.
LoopProgram one_unit(std::int64_t latency, std::int64_t interval, LoopNest nest) {
  LoopProgram program;
  program.machine.units = {{.name = "u", .copies = 1, .latency = latency, .interval = interval}};
  program.registers = {"r"};
  program.nest.body = {std::move(nest)};
  return program;
}

TEST_CASE("independent instructions start an interval apart, dependent ones a latency") {
  const LoopInstruction free{.unit = 0, .reads = {}, .writes = {}},
      chained{.unit = 0, .reads = {0}, .writes = {0}};
  // 1,000 starts 3 apart, the last ends 7 after its start; or 1,000 times 7, one after another.
  CHECK(run_whole(one_unit(7, 3, {1000, {free}})).cycles == 999 * 3 + 7);
  CHECK(run_whole(one_unit(7, 3, {1000, {chained}})).cycles == 7000);
  CHECK(run_to_fixed_point(one_unit(7, 3, {1000, {free}})).cycles == 999 * 3 + 7);
  CHECK(run_to_fixed_point(one_unit(7, 3, {1000, {chained}})).cycles == 7000);
}

TEST_CASE("two copies take instructions in turn, and width limits how many start in a cycle") {
  const LoopInstruction free{.unit = 0, .reads = {}, .writes = {}};
  LoopProgram program = one_unit(1, 4, {1000, {free}});
  program.machine.units.front().copies = 2;
  program.machine.width = 2;
  // Pairs start 4 apart: the 500th at 1996, and ends a cycle later.
  CHECK(run_whole(program).cycles == 1997);
  program.machine.width = 1;
  // One a cycle: the second of each pair starts a cycle behind the first.
  CHECK(run_whole(program).cycles == 1998);
  CHECK(run_to_fixed_point(program).cycles == 1998);
}

TEST_CASE("what was long under way before a loop ends when it ends, however the loop is closed") {
  // 500 cycles from cycle 0; behind it 100 instructions a cycle apart, the last at 100, or 1,000 of them.
  const LoopInstruction slow{.unit = 1, .reads = {}, .writes = {}}, quick{.unit = 0, .reads = {}, .writes = {}};
  for (const auto& [count, cycles] : {std::pair<std::uint64_t, std::int64_t>(100, 500), {1000, 1001}}) {
    LoopProgram program = one_unit(1, 1, {count, {quick}});
    program.machine.units.push_back({.name = "slow", .copies = 1, .latency = 500, .interval = 1});
    program.nest.body.insert(program.nest.body.begin(), slow);
    CHECK(run_whole(program).cycles == cycles);
    CHECK(run_to_fixed_point(program).cycles == cycles);
  }
}

TEST_CASE("a loop is closed after a few iterations, whatever their number") {
  const LoopInstruction chained{.unit = 0, .reads = {0}, .writes = {0}};
  LoopNest inner{1'000'000, {chained}};
  const LoopTime time = run_to_fixed_point(one_unit(5, 1, {1'000'000, {inner}}));
  CHECK(time.cycles == 5'000'000'000'000);
  CHECK(time.instructions < 20);
  REQUIRE(time.loops.size() == 3);
  CHECK(time.loops[1].period == 1);
  CHECK(time.loops[1].cycles == 5'000'000);
  CHECK(time.loops[2].cycles == 5);
  CHECK(time.unit_cycles.front() == 1'000'000'000'000);
}

/// The circuit of the innermost loop.
std::vector<CriticalPart> critical(const LoopProgram& program) {
  return run_to_fixed_point(program).loops.back().critical;
}

TEST_CASE("the critical circuit names what an iteration waits for: a result, a unit or the order of issue") {
  const LoopInstruction free{.unit = 0, .reads = {}, .writes = {}},
      chained{.unit = 0, .reads = {0}, .writes = {0}};
  const std::vector<CriticalPart> of_register = {{HeldBy::register_, 0}}, of_unit = {{HeldBy::unit, 0}},
                                  of_issue = {{HeldBy::issue, 0}};
  CHECK(critical(one_unit(7, 3, {1000, {chained}})) == of_register);
  CHECK(critical(one_unit(7, 3, {1000, {free}})) == of_unit);
  LoopProgram two_copies = one_unit(7, 3, {1000, {free}});
  two_copies.machine.units.front().copies = 2;
  CHECK(critical(two_copies) == of_unit);
  two_copies.machine.units.front().copies = 4;
  CHECK(critical(two_copies) == of_issue);
}

TEST_CASE("a circuit goes through units and results in the order of time, and through loops that are closed") {
  // A load of 5 cycles takes its unit's only copy until it ends, and a store waits for the load and holds the
  // next: the address that it writes is what the load reads.
  const LoopInstruction load{.unit = 0, .reads = {0}, .writes = {1}},
      store{.unit = 1, .reads = {1}, .writes = {0}};
  LoopProgram program = one_unit(5, 1, {1000, {load, store}});
  program.machine.units.push_back({.name = "store", .copies = 1, .latency = 9, .interval = 1});
  program.registers.emplace_back("x");
  const LoopTime time = run_to_fixed_point(program);
  CHECK(time.loops.back().cycles == 14);
  CHECK(time.loops.back().critical == std::vector<CriticalPart>{{HeldBy::register_, 0}});
  CHECK(time.loops.back().critical_units == std::vector<std::uint32_t>{0, 1});
  // A quick write after a slow one does not make the register ready sooner.
  LoopProgram twice = one_unit(20, 1,
                               {1000,
                                {LoopInstruction{.unit = 0, .reads = {0}, .writes = {0}},
                                 LoopInstruction{.unit = 1, .reads = {}, .writes = {0}}}});
  twice.machine.units.push_back({.name = "quick", .copies = 1, .latency = 1, .interval = 1});
  const LoopCycle slowest = run_to_fixed_point(twice).loops.back();
  CHECK(slowest.cycles == 20);
  CHECK(slowest.critical == std::vector<CriticalPart>{{HeldBy::register_, 0}});
  CHECK(slowest.critical_units == std::vector<std::uint32_t>{0});
  // Around a loop of a million accumulations the sum is what the outer one waits for.
  const LoopInstruction chained{.unit = 0, .reads = {0}, .writes = {0}};
  const LoopTime nested = run_to_fixed_point(one_unit(5, 1, {1'000, {LoopNest{1'000'000, {chained}}}}));
  CHECK(nested.loops[1].critical == std::vector<CriticalPart>{{HeldBy::register_, 0}});
}

/// Up to three loops deep, of instructions on up to three units.
LoopNest random_nest(std::uint32_t units, std::uint32_t registers, std::size_t depth) {
  LoopNest nest{*rc::gen::inRange<std::uint64_t>(1, depth == 0 ? 200 : 12), {}};
  const auto items = *rc::gen::inRange<std::size_t>(1, 5);
  for (std::size_t i = 0; i < items; ++i) {
    if (depth < 2 && *rc::gen::inRange(0, 3) == 0) {
      nest.body.emplace_back(random_nest(units, registers, depth + 1));
    } else {
      const auto some = [&] {
        return *rc::gen::container<std::vector<std::uint32_t>>(*rc::gen::inRange<std::size_t>(0, 3),
                                                               rc::gen::inRange<std::uint32_t>(0, registers));
      };
      nest.body.emplace_back(LoopInstruction{*rc::gen::inRange<std::uint32_t>(0, units), some(), some()});
    }
  }
  return nest;
}

TEST_CASE("property: a fixed point gives exactly the cycles of every iteration, and of every unit") {
  CHECK(rc::check([] {
    LoopProgram program;
    const auto units = *rc::gen::inRange<std::uint32_t>(1, 4),
               registers = *rc::gen::inRange<std::uint32_t>(1, 5);
    for (std::uint32_t unit = 0; unit < units; ++unit)
      program.machine.units.push_back({.name = "u",
                                       .copies = *rc::gen::inRange<std::uint32_t>(1, 4),
                                       .latency = *rc::gen::inRange<std::int64_t>(0, 30),
                                       .interval = *rc::gen::inRange<std::int64_t>(1, 9)});
    program.machine.width = *rc::gen::inRange<std::uint32_t>(1, 4);
    program.registers.resize(registers);
    program.nest = {1, {random_nest(units, registers, 0)}};
    const LoopTime whole = run_whole(program), closed = run_to_fixed_point(program);
    RC_ASSERT(closed.cycles == whole.cycles);
    RC_ASSERT(closed.unit_cycles == whole.unit_cycles);
    RC_ASSERT(closed.instructions <= whole.instructions);
    RC_ASSERT(whole.instructions == program.instructions());
    RC_ASSERT(whole.iterations == program.iterations());
  }));
}

/// Whether \p slower takes longer each time than \p faster; both repeat.
bool takes_longer(const LoopCycle& slower, const LoopCycle& faster) {
  return slower.cycles * static_cast<std::int64_t>(faster.period) >
         faster.cycles * static_cast<std::int64_t>(slower.period);
}

TEST_CASE("property: what is on the critical circuit makes every iteration longer when it takes a cycle more") {
  std::size_t tried = 0;
  CHECK(rc::check([&tried] {
    LoopProgram program;
    for (std::uint32_t unit = 0; unit < 3; ++unit)
      program.machine.units.push_back({.name = "u",
                                       .copies = *rc::gen::inRange<std::uint32_t>(1, 4),
                                       .latency = *rc::gen::inRange<std::int64_t>(0, 12),
                                       .interval = *rc::gen::inRange<std::int64_t>(1, 9)});
    program.machine.width = *rc::gen::inRange<std::uint32_t>(1, 4);
    program.registers.resize(4);
    LoopNest loop = random_nest(3, 4, 2);  // no loop in it
    loop.count = 1'000;
    program.nest = {1, {loop}};
    const LoopCycle before = run_to_fixed_point(program).loops.back();
    if (before.period == 0) return;
    RC_ASSERT(!before.critical.empty());
    const CriticalPart first = before.critical.front();
    if (before.critical.size() > 1 || first.held_by == HeldBy::issue) return;
    for (std::uint32_t unit = 0; unit < 3; ++unit) {
      if (first.held_by == HeldBy::register_) ++program.machine.units[unit].latency;
      if (first == CriticalPart{HeldBy::unit, unit}) ++program.machine.units[unit].interval;
    }
    const LoopCycle after = run_to_fixed_point(program).loops.back();
    if (after.period == 0) return;
    ++tried;
    RC_ASSERT(takes_longer(after, before));
  }));
  CHECK(tried > 30);
}

}}  // namespace c3::sampling_loops_test
