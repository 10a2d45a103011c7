// Tiles counted in order, and the windows and lines that copies go through.

#include "gpu/tracker.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "engine/errors.hpp"
#include "engine/ticket_line.hpp"
#include "gpu/staging_window.hpp"
#include "tests/support/near.hpp"

namespace c3::gpu_tracker_test {

using namespace literals;

namespace {

using Tiles = std::vector<std::int64_t>;

struct Bench {
  explicit Bench(int entries) : tracker(simulation, {.tracker_entries = entries}, 0) {}
  Simulation simulation;
  Tracker tracker;
};

/// Counts a store to \p tiles at \p date, or when there is room for them. \p counted receives that date.
Task store(Simulation& simulation, Tracker& tracker, Tracker::Region region, Seconds date, Tiles tiles,
           Seconds* counted) {
  co_await simulation.sleep(date);
  co_await tracker.reserve(region, tiles);
  *counted = simulation.now();
  tracker.count(region, tiles);
}

Task pass(Simulation& simulation, StagingWindow& window, Bytes bytes, Seconds held, Seconds* taken) {
  co_await window.take(bytes);
  *taken = simulation.now();
  co_await simulation.sleep(held);
  window.give(bytes);
}

Task served(Simulation& simulation, TicketLine& line, std::uint64_t ticket, Seconds ready, std::string* order) {
  co_await simulation.sleep(ready);
  co_await line.turn(ticket);
  *order += std::to_string(ticket);
  co_await simulation.sleep(1.0_us);
  line.next();
}

}  // namespace

TEST_CASE("a tile is complete with its last store, whoever makes it") {
  Bench bench(8);
  const Tracker::Region region = bench.tracker.program(3, 2);
  CHECK(bench.tracker.count(region, {0, 1, 2}).empty());
  CHECK(bench.tracker.count(region, {1}) == Tiles{1});
  CHECK(bench.tracker.count(region, {0, 2}) == Tiles{0, 2});
}

TEST_CASE("a tile waits until the one that has its entry is complete, and no longer") {
  Bench bench(4);
  const Tracker::Region region = bench.tracker.program(8, 2);
  Seconds early, late, first, last;
  bench.simulation.spawn("tile 5", store(bench.simulation, bench.tracker, region, 0.0_s, {5}, &early));
  bench.simulation.spawn("tile 3", store(bench.simulation, bench.tracker, region, 1.0_s, {3}, &late));
  bench.simulation.spawn("tile 1", store(bench.simulation, bench.tracker, region, 2.0_s, {1}, &first));
  bench.simulation.spawn("tile 1 again", store(bench.simulation, bench.tracker, region, 3.0_s, {1}, &last));
  bench.simulation.run_without_simgrid();
  CHECK(late == 1.0_s);  // its entry is free
  CHECK(first == 2.0_s);
  CHECK(early == 3.0_s);  // 5 = 1 + 4: with the second store to tile 1
}

TEST_CASE("tiles of what is programmed next come after those before") {
  Bench bench(2);
  const Tracker::Region first = bench.tracker.program(2, 1);
  const Tracker::Region second = bench.tracker.program(2, 1);
  Seconds waited, opened;
  bench.simulation.spawn("second", store(bench.simulation, bench.tracker, second, 0.0_s, {1}, &waited));
  bench.simulation.spawn("first", store(bench.simulation, bench.tracker, first, 2.0_s, {1}, &opened));
  bench.simulation.run_without_simgrid();
  CHECK(waited == 2.0_s);
}

TEST_CASE("tiles that are stored together must fit together") {
  Bench bench(2);
  const Tracker::Region region = bench.tracker.program(4, 1);
  const Tiles tiles = {0, 1, 2};
  CHECK_THROWS_WITH_AS(bench.tracker.reserve(region, tiles),
                       "the tracker is too small: work groups that store at once need 3 entries, and it has 2 "
                       "(gpu.tracker_entries)",
                       InfeasibleError);
}

TEST_CASE("who waits for ever for an entry is named") {
  Bench bench(2);
  const Tracker::Region region = bench.tracker.program(4, 1);
  Seconds never;
  bench.simulation.spawn("copy", store(bench.simulation, bench.tracker, region, 0.0_s, {3}, &never));
  CHECK_THROWS_WITH_AS(bench.simulation.run_without_simgrid(),
                       doctest::Contains("copy waits for one of the 2 entries of the tracker of gpu0"),
                       DeadlockError);
}

TEST_CASE("a staging window lets in what fits, in the order of asking") {
  Simulation simulation;
  StagingWindow window(simulation, 10.0_B);
  std::vector<Seconds> taken(4);
  simulation.spawn("a", pass(simulation, window, 6.0_B, 1.0_s, &taken[0]));
  simulation.spawn("b", pass(simulation, window, 6.0_B, 1.0_s, &taken[1]));
  simulation.spawn("c", pass(simulation, window, 2.0_B, 1.0_s, &taken[2]));   // fits, but b is before it
  simulation.spawn("d", pass(simulation, window, 99.0_B, 1.0_s, &taken[3]));  // more than the window: all of it
  simulation.run_without_simgrid();
  CHECK(taken[0] == 0.0_s);
  CHECK(taken[1] == 1.0_s);
  CHECK(taken[2] == 1.0_s);
  CHECK(taken[3] == 2.0_s);
}

TEST_CASE("a line serves tickets in the order of drawing, whoever is ready first") {
  Simulation simulation;
  TicketLine line(simulation);
  std::string order;
  const std::uint64_t first = line.draw();
  const std::uint64_t second = line.draw();
  const std::uint64_t third = line.draw();
  simulation.spawn("third", served(simulation, line, third, 0.0_s, &order));
  simulation.spawn("second", served(simulation, line, second, 1.0_us, &order));
  simulation.spawn("first", served(simulation, line, first, 2.0_us, &order));
  simulation.run_without_simgrid();
  CHECK(order == "012");
  CHECK(simulation.now().value == near(5e-6));
}

}  // namespace c3::gpu_tracker_test
