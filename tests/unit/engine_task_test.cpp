// Coroutines in simulated time. No braces inside a co_await expression: g++ 12 (engine/task.hpp).

#include "engine/task.hpp"

#include <doctest/doctest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "engine/errors.hpp"
#include "engine/event.hpp"
#include "engine/fifo_lock.hpp"
#include "engine/simulation.hpp"

namespace c3::engine_task_test {

using namespace literals;

namespace {

struct Log {
  std::vector<std::string> lines;
  void add(const Simulation& simulation, const std::string& what) {
    lines.push_back(std::to_string(static_cast<int>(simulation.now().value)) + " " + what);
  }
};

Task sleeper(Simulation& simulation, Log& log, std::string name, Seconds duration) {
  co_await simulation.sleep(duration);
  log.add(simulation, name);
}

Task waiter(Simulation& simulation, Log& log, std::string name, Event& event) {
  co_await event;
  log.add(simulation, name);
}

Task setter(Simulation& simulation, Event& event, Seconds date) {
  co_await simulation.sleep(date);
  event.set();
}

Task wait_for_any(Simulation& simulation, Log& log, std::vector<Event*> events) {
  AnyOf any(std::move(events));
  const std::size_t first = co_await any;
  log.add(simulation, "first is " + std::to_string(first));
}

Task wait_for_all(Simulation& simulation, Log& log, std::vector<Event*> events) {
  co_await all_of(events);
  log.add(simulation, "all");
}

Task failing(Simulation& simulation, Seconds after) {
  co_await simulation.sleep(after);
  throw std::runtime_error("the child failed");
}

Task catching(Simulation& simulation, Log& log) {
  try {
    co_await failing(simulation, 1.0_s);
  } catch (const std::runtime_error& error) {
    log.add(simulation, error.what());
  }
  co_await simulation.sleep(1.0_s);
  log.add(simulation, "went on");
}

Task nested(Simulation& simulation, int depth) {
  if (depth == 0) {
    co_await simulation.sleep(1.0_s);
  } else {
    co_await nested(simulation, depth - 1);
  }
}

Task at_once(int& runs) {
  ++runs;
  co_return;
}

Task await_many(Simulation& simulation, Event& is_set, int& runs, int awaits) {
  for (int i = 0; i < awaits; ++i) {
    co_await is_set;
    co_await simulation.sleep(0.0_s);
    co_await at_once(runs);
  }
}

constexpr int kMany = 1'000'000;

}  // namespace

TEST_CASE("tasks sleep for the time they ask for, and wake in order of date, then of going to sleep") {
  Simulation simulation;
  Log log;
  simulation.spawn("c", sleeper(simulation, log, "c", 2.0_s));
  simulation.spawn("a", sleeper(simulation, log, "a", 1.0_s));
  simulation.spawn("d", sleeper(simulation, log, "d", 2.0_s));
  simulation.spawn("b", sleeper(simulation, log, "b", 1.0_s));
  simulation.run();
  CHECK(log.lines == std::vector<std::string>{"1 a", "1 b", "2 c", "2 d"});
}

TEST_CASE("whoever waits for an event goes on when it is set, in order of waiting, and later ones at once") {
  Simulation simulation;
  Log log;
  Event event(simulation, "the event");
  simulation.spawn("a", waiter(simulation, log, "a", event));
  simulation.spawn("b", waiter(simulation, log, "b", event));
  simulation.spawn("set", setter(simulation, event, 3.0_s));
  simulation.run();
  CHECK(log.lines == std::vector<std::string>{"3 a", "3 b"});
  CHECK(event.is_set());
  event.set();  // once and for ever
  simulation.spawn("late", waiter(simulation, log, "late", event));
  simulation.run();
  CHECK(log.lines.back() == "3 late");
}

TEST_CASE("a spawned task's event is set when it ends") {
  Simulation simulation;
  Log log;
  Event done(simulation);
  simulation.spawn("after", waiter(simulation, log, "after", done));
  simulation.spawn("sleeper", sleeper(simulation, log, "slept", 2.0_s), &done);
  simulation.run();
  CHECK(log.lines == std::vector<std::string>{"2 slept", "2 after"});
}

TEST_CASE("all_of waits for the last, any_of for the first, and says which") {
  Simulation simulation;
  Log log;
  Event a(simulation, "a"), b(simulation, "b"), c(simulation, "c");
  simulation.spawn("all", wait_for_all(simulation, log, {&a, &b, &c}));
  simulation.spawn("any", wait_for_any(simulation, log, {&a, &b, &c}));
  simulation.spawn("set a", setter(simulation, a, 3.0_s));
  simulation.spawn("set b", setter(simulation, b, 1.0_s));
  simulation.spawn("set c", setter(simulation, c, 2.0_s));
  simulation.run();
  CHECK(log.lines == std::vector<std::string>{"1 first is 1", "3 all"});
}

TEST_CASE("any_of wakes once, though several of its events are set at one date or an event is listed twice") {
  Simulation simulation;
  Log log;
  Event a(simulation, "a"), b(simulation, "b");
  simulation.spawn("any", wait_for_any(simulation, log, {&b, &a, &a}));
  simulation.spawn("set a", setter(simulation, a, 1.0_s));
  simulation.spawn("set b", setter(simulation, b, 1.0_s));
  simulation.run();
  CHECK(log.lines == std::vector<std::string>{"1 first is 0"});
}

TEST_CASE("a lock is held by one task at a time, in order of asking") {
  Simulation simulation;
  Log log;
  FifoLock lock(simulation);
  const auto user = [](Simulation& s, Log& l, FifoLock& engine, std::string name, Seconds from) -> Task {
    co_await s.sleep(from);
    co_await engine.acquire();
    l.add(s, name + " has it");
    co_await s.sleep(2.0_s);
    engine.release();
  };
  simulation.spawn("a", user(simulation, log, lock, "a", 0.0_s));
  simulation.spawn("c", user(simulation, log, lock, "c", 1.5_s));
  simulation.spawn("b", user(simulation, log, lock, "b", 1.0_s));
  simulation.spawn("d", user(simulation, log, lock, "d", 9.0_s));
  simulation.run();
  CHECK(log.lines == std::vector<std::string>{"0 a has it", "2 b has it", "4 c has it", "9 d has it"});
}

TEST_CASE("an exception of a child task arrives where it is awaited, and the parent may go on") {
  Simulation simulation;
  Log log;
  simulation.spawn("parent", catching(simulation, log));
  simulation.run();
  CHECK(log.lines == std::vector<std::string>{"1 the child failed", "2 went on"});
}

TEST_CASE("an exception that nobody catches leaves run(), and the next simulation is as if nothing had been") {
  {
    Simulation simulation;
    Log log;
    simulation.spawn("fails", failing(simulation, 1.0_s));
    simulation.spawn("sleeps on", sleeper(simulation, log, "never", 5.0_s));
    CHECK_THROWS_WITH_AS(simulation.run(), "the child failed", std::runtime_error);
  }
  Simulation simulation;
  Log log;
  simulation.spawn("a", sleeper(simulation, log, "a", 1.0_s));
  simulation.run();
  CHECK(log.lines == std::vector<std::string>{"1 a"});
  CHECK(simulation.now().value == 1.0);
}

TEST_CASE("a million awaits of what is complete already neither recurse nor take time") {
  Simulation simulation;
  Event is_set(simulation);
  is_set.set();
  int runs = 0;
  simulation.spawn("many", await_many(simulation, is_set, runs, kMany));
  simulation.run();
  CHECK(runs == kMany);
  CHECK(simulation.now().value == 0.0);
}

TEST_CASE("a chain of 100000 child tasks inside each other starts and ends without recursion") {
  Simulation simulation;
  simulation.spawn("chain", nested(simulation, 100'000));
  simulation.run();
  CHECK(simulation.now().value == 1.0);
}

TEST_CASE("a simulation destroyed before its end destroys its tasks, wherever they wait") {
  // What this frees twice or not at all, the sanitizer build reports.
  int ended = 0;
  struct Guard {
    int& count;
    ~Guard() { ++count; }
  };
  const auto guarded = [](Simulation& simulation, Event& event, int& count, int how) -> Task {
    const Guard guard{count};
    const FlowSpec spec{.demands = {}, .bound = 1.0};
    RunningFlow flow(simulation, spec);
    if (how == 0) co_await event;
    if (how == 1) co_await flow;
    if (how == 2) co_await nested(simulation, 100);
    if (how == 3) {
      AnyOf any(std::vector<Event*>(1, &event));
      co_await any;
    }
  };
  {
    Simulation simulation;
    Event event(simulation);
    for (int how = 0; how < 4; ++how)
      simulation.spawn("guarded", guarded(simulation, event, ended, how));
    simulation.spawn("fails", failing(simulation, 0.5_s));
    CHECK_THROWS_AS(simulation.run(), std::runtime_error);
    CHECK(ended == 0);
  }
  CHECK(ended == 4);
}

TEST_CASE("a flow whose task ends first goes on unheard") {
  Simulation simulation;
  const ResourceId link = simulation.fluid().add_resource({}, 1.0);
  const auto leaves_early = [](Simulation& s, ResourceId resource) -> Task {
    const Demand demand{resource, 2.0};
    RunningFlow flow(s, {.demands = {&demand, 1}});
    co_await s.sleep(1.0_s);
  };
  simulation.spawn("leaves early", leaves_early(simulation, link));
  simulation.run();
  CHECK(simulation.now().value == 2.0);
  CHECK(simulation.fluid().completed_flows() == 1);
}

TEST_CASE("a deadlock names every waiting task and what it waits for") {
  Simulation simulation;
  Log log;
  const ResourceId dead = simulation.fluid().add_resource({}, 0.0);
  Event a(simulation, "event 'weights gathered'"), b(simulation, "event 'loss'");
  const auto stuck = [](Simulation& s, ResourceId resource) -> Task {
    const Demand demand{resource, 1.0};
    RunningFlow flow(s, {.demands = {&demand, 1}});
    co_await flow;
  };
  const auto parent = [](Event& event) -> Task { co_await all_of(event); };
  simulation.spawn("stream 'compute'", waiter(simulation, log, "never", a));
  simulation.spawn("stream 'fsdp'", wait_for_any(simulation, log, {&a, &b}));
  simulation.spawn("stream 'tp'", parent(b));
  simulation.spawn("stream 'copy'", stuck(simulation, dead));
  simulation.spawn("stream 'fine'", sleeper(simulation, log, "fine", 1.0_s));
  CHECK_THROWS_WITH_AS(simulation.run(),
                       "deadlock: nothing is in flight that could end these waits: "
                       "stream 'compute' waits for event 'weights gathered'; "
                       "stream 'fsdp' waits for any of event 'weights gathered', event 'loss'; "
                       "stream 'tp' waits for event 'loss'; "
                       "stream 'copy' waits for a flow that makes no progress; "
                       "flows without bandwidth: 1",
                       DeadlockError);
}

TEST_CASE("deadlock: of many tasks that wait sixteen are named, and the others counted") {
  Simulation simulation;
  Log log;
  Event never(simulation, "an event");
  for (int task = 0; task < 20; ++task)
    simulation.spawn("task", waiter(simulation, log, "never", never));
  std::string message;
  try {
    simulation.run();
  } catch (const DeadlockError& error) {
    message = error.what();
  }
  CAPTURE(message);
  std::size_t named = 0;
  for (std::size_t at = message.find("task"); at != std::string::npos; at = message.find("task", at + 1))
    ++named;
  CHECK(named == 16);
  CHECK(message.ends_with("task waits for an event; and 4 more"));
}

}  // namespace c3::engine_task_test
