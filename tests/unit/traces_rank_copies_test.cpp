// Traces of which one stands for several ranks, as c3sim writes them.

#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/support/trace_text.hpp"
#include "workloads/traces/collective_matching.hpp"
#include "workloads/traces/rank_copies.hpp"
#include "workloads/traces/rank_record.hpp"

namespace c3::traces_rank_copies_test {

namespace {

constexpr const char* kPairs =
    R"([{"pg_name":"0","pg_desc":"default_pg","ranks":[0,1,2,3]},
        {"pg_name":"1","pg_desc":"pairs","ranks":[0,1]},{"pg_name":"2","pg_desc":"pairs","ranks":[2,3]}])";

std::string job(int rank, const std::string& ranges, const std::string& groups = kPairs) {
  return fmt::format(
      R"("distributedInfo":{{"rank":{},"world_size":4,"represented_rank_ranges":{},"pg_config":{}}},)", rank,
      ranges, groups);
}

/// One all-reduce in the group with this name.
TraceText all_reduce(const std::string& group, double start = 40) {
  TraceText text;
  text.call("cudaLaunchKernel", 20, 5, 1)
      .kernel("ncclDevKernel_AllReduce_Sum_bf16_RING", start, 30, 1, 7,
              fmt::format(
                  R"(,"Collective name":"all_reduce","dtype":"BFloat16","In msg nelems":8,"Out msg nelems":8,)"
                  R"("Group size":2,"Process Group Name":"{}","Seq":1)",
                  group));
  return text;
}

std::vector<Rank> ranks_of(std::vector<Trace> traces) {
  std::vector<Rank> ranks;
  for (Trace& trace : traces)
    ranks.emplace_back(std::move(trace));
  return ranks;
}

}  // namespace

TEST_CASE("a trace that stands for four ranks is one of each, in pairs that reduce each for themselves") {
  const std::vector<Rank> ranks = ranks_of(traces_of_ranks(all_reduce("1").read(job(0, "[[0,3]]"))));
  REQUIRE(ranks.size() == 4);
  for (int rank = 0; rank < 4; ++rank)
    CHECK(ranks[static_cast<std::size_t>(rank)].number() == rank);
  const std::vector<CollectiveInstance> found = match_collectives(ranks);
  REQUIRE(found.size() == 2);
  for (std::uint32_t pair = 0; pair < 2; ++pair) {
    REQUIRE(found[pair].members.size() == 2);
    CHECK(found[pair].members[0].rank == 2 * pair);
    CHECK(found[pair].members[1].rank == 2 * pair + 1);
  }
}

TEST_CASE("ranks of two classes meet in the groups of each") {
  std::vector<Trace> traces = traces_of_ranks(all_reduce("1", 40).read(job(0, "[[0,0],[2,2]]")));
  for (Trace& trace : traces_of_ranks(all_reduce("1", 45).read(job(1, "[[1,1],[3,3]]"))))
    traces.push_back(std::move(trace));
  const std::vector<Rank> ranks = ranks_of(std::move(traces));
  const std::vector<CollectiveInstance> found = match_collectives(ranks);
  REQUIRE(found.size() == 2);
  for (const CollectiveInstance& pair : found) {
    REQUIRE(pair.members.size() == 2);
    const int first = ranks[pair.members[0].rank].number(), second = ranks[pair.members[1].rank].number();
    CHECK(first / 2 == second / 2);
    CHECK(first != second);
  }
}

TEST_CASE("a trace of its own rank alone stays as it is") {
  CHECK(traces_of_ranks(all_reduce("1").read(job(2, "[[2,2]]"))).front().rank == 2);
  CHECK(traces_of_ranks(all_reduce("1").read()).size() == 1);
}

TEST_CASE("ranks that a file does not describe are refused") {
  const auto refusal = [](const std::string& group, const std::string& ranges,
                          const std::string& groups = kPairs) {
    return refusal_of([&] { traces_of_ranks(all_reduce(group).read(job(0, ranges, groups))); });
  };
  CHECK(refusal("7", "[[0,3]]") ==
        "trace.json: rank 0: pg_config has no process group '7', which a collective is in");
  CHECK(refusal("1", "[[0,3]]", R"([{"pg_name":"1","pg_desc":"pairs","ranks":[0,1]}])") ==
        "trace.json: rank 0: it stands for rank 2, which is in no process group 'pairs' of pg_config");
  CHECK(refusal("1", "[[0,4]]") == "trace.json: distributedInfo: rank 4 is not one of the world_size 4");
  CHECK(refusal("1", "[[3,0]]") ==
        "trace.json: distributedInfo: represented_rank_ranges must be pairs of a first and a last rank");
  CHECK(refusal("1", "[[0]]") ==
        "trace.json: distributedInfo: represented_rank_ranges must be pairs of a first and a last rank");
}

}  // namespace c3::traces_rank_copies_test
