/// Simulations that run at once: what each returns, and what becomes of one whose process is killed.

#include "app/parallel_tasks.hpp"

#include <doctest/doctest.h>

#include <csignal>
#include <stdexcept>
#include <string>
#include <vector>

namespace c3::parallel_tasks_test { namespace {

std::string killed() {
  raise(SIGKILL);
  return "never";
}

std::vector<std::string> run(const std::vector<ParallelTask>& tasks) {
  return run_in_parallel(tasks, 2, [](std::size_t) {});
}

TEST_CASE("each task's text is in the tasks' order") {
  CHECK(run({{"a", [] { return std::string("1"); }}, {"b", [] { return std::string("2"); }}}) ==
        std::vector<std::string>{"1", "2"});
}

TEST_CASE("a task that is killed ends all, unless it can be spared") {
  const ParallelTask other{"other", [] { return std::string("1"); }};
  CHECK_THROWS_WITH_AS(run({{"big", killed}, other}), doctest::Contains("big: crashed: signal 9"),
                       std::runtime_error);
  CHECK(run({{"big", killed, true}, other}) == std::vector<std::string>{"", "1"});
}

}}  // namespace c3::parallel_tasks_test
