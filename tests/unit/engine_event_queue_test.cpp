#include "engine/event_queue.hpp"

#include <doctest/doctest.h>

#include <map>
#include <random>
#include <set>
#include <utility>

#include "engine/errors.hpp"
#include "tests/support/flow_clock.hpp"

namespace c3::engine_event_queue_test {

using namespace literals;

TEST_CASE("entries leave by date, and equal dates by number, whatever order they came in") {
  EventQueue queue;
  queue.schedule(7, 1.0);
  queue.schedule(3, 2.0);
  queue.schedule(5, 1.0);
  queue.schedule(1, 3.0);
  std::vector<EventQueue::Entry> left;
  while (!queue.empty()) {
    left.push_back(queue.top());
    queue.withdraw(queue.top());
  }
  CHECK(left == std::vector<EventQueue::Entry>{5, 7, 3, 1});
}

TEST_CASE("random inserts, moves and withdrawals keep the order of a sorted multimap") {
  std::mt19937 random(1);
  EventQueue queue;
  std::set<std::pair<double, EventQueue::Entry>> sorted;
  std::map<EventQueue::Entry, double> dates;
  for (int step = 0; step < 200'000; ++step) {
    const auto entry = static_cast<EventQueue::Entry>(random() % 300);
    if (const auto old = dates.find(entry); old != dates.end()) {
      sorted.erase({old->second, entry});
      dates.erase(old);
    }
    if (random() % 3 == 0) {
      queue.withdraw(entry);
    } else {
      const auto date = static_cast<double>(random() % 50);  // few values, so that dates are equal often
      queue.schedule(entry, date);
      sorted.insert({date, entry});
      dates[entry] = date;
    }
    REQUIRE(queue.empty() == sorted.empty());
    if (queue.empty()) continue;
    REQUIRE(std::pair(queue.top_date(), queue.top()) == *sorted.begin());
    while (step % 1000 == 999 && !queue.empty()) {
      REQUIRE(std::pair(queue.top_date(), queue.top()) == *sorted.begin());
      queue.withdraw(queue.top());
      sorted.erase(sorted.begin());
    }
    if (queue.empty()) dates.clear();
  }
}

TEST_CASE("timers of one date ring in the order in which they were set") {
  FlowClock clock;
  std::vector<int> rung;
  clock.at(2.0_s, [&] { rung.push_back(3); });
  clock.at(1.0_s, [&] { rung.push_back(1); });
  clock.at(1.0_s, [&] { rung.push_back(2); });
  for (int i = 4; i < 40; ++i)
    clock.at(2.0_s, [&rung, i] { rung.push_back(i); });
  clock.simulation.run();
  for (int i = 1; i < 40; ++i)
    CHECK(rung[static_cast<std::size_t>(i - 1)] == i);
}

TEST_CASE("flows of one date end in order of their number, before the timers of that date") {
  FlowClock clock;
  const ResourceId link = clock.resource(100.0);
  std::vector<int> order;
  clock.at(1.0_s, [&] { order.push_back(100); });
  for (std::uint64_t i = 0; i < 10; ++i) {
    clock.start(i, {{link, 10.0}});
    clock.after(i, [&order, i] { order.push_back(static_cast<int>(i)); });
  }
  clock.simulation.run();
  CHECK(order == std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 100});
}

TEST_CASE("a timer for now rings at this date, after what is due already") {
  FlowClock clock;
  std::vector<int> rung;
  clock.at(1.0_s, [&] {
    rung.push_back(1);
    clock.at(clock.simulation.now(), [&] { rung.push_back(3); });
  });
  clock.at(1.0_s, [&] { rung.push_back(2); });
  clock.simulation.run();
  CHECK(rung == std::vector<int>{1, 2, 3});
  CHECK(clock.simulation.now().value == 1.0);
}

TEST_CASE("scheduling into the past throws and is never clamped") {
  FlowClock clock;
  clock.at(2.0_s, [&] { clock.at(1.999_s, [] {}); });
  CHECK_THROWS_WITH_AS(clock.simulation.run(), "FluidSystem::set_timer: date is in the past", std::logic_error);
}

}  // namespace c3::engine_event_queue_test
