/// Workers of a sweep: each is told apart by how it ends, and none outlives its time.

#include "app/sweep/worker_pool.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <map>
#include <string>

#include "app/sweep/point_source.hpp"

namespace c3::sweep_workers_test { namespace {

using namespace std::chrono_literals;

/// All ends, by task.
std::map<std::size_t, WorkerEnd> ends_of(WorkerPool& pool) {
  std::map<std::size_t, WorkerEnd> ends;
  while (!pool.is_idle()) {
    for (const WorkerEnd& end : pool.wait(100ms))
      ends[end.task] = end;
  }
  return ends;
}

TEST_CASE("a worker's end says what became of it") {
  WorkerPool pool(4, std::nullopt);
  pool.start(1, [] { return 0; });
  pool.start(2, [] {
    std::fputs("why it went wrong", stderr);
    return 5;
  });
  pool.start(3, [] { return raise(SIGKILL); });
  pool.start(4, [] { return raise(SIGINT) + raise(SIGTERM); });  // not meant for workers
  CHECK_FALSE(pool.has_room());
  auto ends = ends_of(pool);
  REQUIRE(ends.size() == 4);
  CHECK(ends[1].exit_code == 0);
  CHECK(ends[2].exit_code == 5);
  CHECK(ends[2].said == "why it went wrong");
  CHECK_FALSE(ends[3].exit_code.has_value());
  CHECK(ends[3].why.find("crashed: signal 9") == 0);
  CHECK(ends[4].exit_code == 0);
  CHECK(pool.has_room());
  CHECK(ends[3].lacked_memory);
  CHECK_FALSE(ends[1].lacked_memory);
}

TEST_CASE("a pool that is limited takes no more until enough have ended, and is never widened") {
  WorkerPool pool(3, std::nullopt);
  pool.start(1, [] { return 0; });
  pool.start(2, [] { return 0; });
  CHECK(pool.running() == 2);
  pool.limit_to(1);
  CHECK_FALSE(pool.has_room());
  CHECK(ends_of(pool).size() == 2);
  pool.limit_to(2);
  pool.start(3, [] { return 0; });
  CHECK_FALSE(pool.has_room());
  CHECK(ends_of(pool).size() == 1);
}

TEST_CASE("a worker that takes too long is ended, others are not") {
  WorkerPool pool(2, 300ms);
  pool.start(1, [] { return static_cast<int>(sleep(60)); });
  pool.start(2, [] { return 0; });
  auto ends = ends_of(pool);
  CHECK(ends[1].why == "took longer than 0.3 s");
  CHECK_FALSE(ends[1].lacked_memory);
  CHECK(ends[2].exit_code == 0);
}

TEST_CASE("of much that a worker says the end is kept") {
  WorkerPool pool(1, std::nullopt);
  pool.start(1, [] {
    for (int i = 0; i < 100'000; ++i)
      std::fprintf(stderr, "line %d\n", i);
    return 1;
  });
  const auto ends = ends_of(pool);
  CHECK(ends.at(1).said.size() == 4096);
  CHECK(ends.at(1).said.ends_with("line 99999\n"));
}

TEST_CASE("a list gives each point once, and none after it was stopped") {
  ListedPoints points({3, 1, 2});
  CHECK(points.next() == 3);
  CHECK(points.next() == 1);
  points.account({.simulated = 2, .failed = 1});
  points.stop();
  CHECK_FALSE(points.next().has_value());
  CHECK(points.total().simulated == 2);
  CHECK(points.total().failed == 1);
}

}}  // namespace c3::sweep_workers_test
