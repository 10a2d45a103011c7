// Programs: what authors write becomes scripts, calls and numbered events.

#include <doctest/doctest.h>

#include <set>
#include <string>
#include <vector>

#include "gpu/kernels/gemm/gemm_shape.hpp"
#include "workloads/program/joiners.hpp"
#include "workloads/program/program_builder.hpp"
#include "workloads/program/written_streams.hpp"

namespace c3::workloads_program_test {

using namespace literals;

namespace {

constexpr int kRanks = 8;
const GemmShape kGemm{256, 256, 64, DType::bf16};
const CollectiveCall kSum{CollectiveKind::all_reduce, 64.0_MiB};

CollectiveCall sum_over(std::vector<int> ranks) {
  CollectiveCall call = kSum;
  call.ranks = std::move(ranks);
  return call;
}

/// Names of the operations that \p rank runs on stream 0.
std::vector<std::string> names_of(const Program& program, int rank) {
  std::vector<std::string> names;
  for (const Operation& operation : program.script_of(rank).streams.at(0))
    names.push_back(program.name_of(operation));
  return names;
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("where all ranks do the same there is one script, and no list of ranks") {
  const Program program =
      program_of({{"a", {{"gemm", kGemm}, {"sum", kSum}}}, {"b", {{"gemm", kGemm}}}}, kRanks);
  CHECK(program.scripts.size() == 1);
  CHECK(program.ranks.empty());
  CHECK(program.streams == Names{"a", "b"});
  CHECK(program.operations() == 3);
  CHECK(program.calls.size() == 1);
  CHECK(program.names.size() == 3);  // the empty name, "gemm" once, "sum"
  // Lists that name every rank leave nobody out.
  CHECK(program_of({{"a", {{"gemm", kGemm, {0, 1, 2, 3, 4, 5, 6, 7}}}}}, kRanks).scripts.size() == 1);
}

TEST_CASE("ranks that run the same operations share a script, in the order of the first of them") {
  // Rank 0 alone runs "first"; 2, 3, 6 and 7 are the group of "sum", of which 6 and 7 are left out by `on`.
  const Program program = program_of(
      {{"s", {{"first", kGemm, {0}}, {"sum", sum_over({2, 3, 6, 7}), {2, 3}}, {"last", kGemm}}}}, kRanks);
  REQUIRE(program.scripts.size() == 3);
  CHECK(program.ranks == std::vector<RankSpan>{{0, 1, 0}, {1, 2, 1}, {2, 4, 2}, {4, 8, 1}});
  CHECK(names_of(program, 0) == Names{"first", "last"});
  CHECK(names_of(program, 1) == Names{"last"});
  CHECK(names_of(program, 3) == Names{"sum", "last"});
  CHECK(names_of(program, 7) == Names{"last"});
}

TEST_CASE("every rank's draws are those that the operation would have if all ranks ran it") {
  // The second "gemm" of ranks that leave out the first is still the second.
  const Program all = program_of({{"s", {{"gemm", kGemm}, {"gemm", kGemm}}}}, kRanks);
  const Program some = program_of({{"s", {{"gemm", kGemm, {0}}, {"gemm", kGemm}}}}, kRanks);
  const auto draw = [](const Program& program, int rank, std::size_t i) {
    return program.script_of(rank).streams.at(0).at(i).draw;
  };
  CHECK(draw(some, 0, 0) == draw(all, 0, 0));
  CHECK(draw(some, 0, 1) == draw(all, 0, 1));
  CHECK(draw(some, 5, 0) == draw(all, 5, 1));
  CHECK(draw(all, 0, 0) != draw(all, 0, 1));
}

TEST_CASE("a group joins a call when one of its members does") {
  CollectiveCall in_pairs = kSum;
  in_pairs.groups = RankGroups{2, 1};
  const Program program = program_of({{"s", {{"sum", in_pairs, {0, 1, 2}}}}}, kRanks);
  const Joiners joiners(program);
  CHECK(joiners.any(0, {0, 1}));
  CHECK(joiners.any(0, {2, 3}));  // 3 never comes: a deadlock, which the simulation reports
  CHECK_FALSE(joiners.any(0, {4, 5}));
}

TEST_CASE("events are numbered in the order of their records, whoever waits for them first") {
  const Program program = program_of({{"a", {{"w", WrittenWait{"late"}}, {"r", WrittenRecord{"early"}}}},
                                      {"b", {{"r", WrittenRecord{"late"}}}}},
                                     kRanks);
  const Script& script = program.scripts.at(0);
  REQUIRE(script.events.size() == 2);
  CHECK(program.names[script.events[0]] == "early");
  CHECK(program.names[script.events[1]] == "late");
  CHECK(std::get<WaitEvent>(script.streams[0][0].work).event == 1);
  CHECK(std::get<RecordEvent>(script.streams[1][0].work).event == 1);
}

TEST_CASE("a call has the name, stream and draws of the operation that joins it") {
  ProgramBuilder builder;
  const auto compute = builder.stream("compute"), tensor = builder.stream("tensor");
  builder.kernel(compute, "gemm", kGemm);
  builder.set_range("layer 1");
  const OperationPlace place = builder.collective(tensor, "sum", kSum);
  const Program program = builder.take();
  const Operation& join = program.scripts[0].streams[place.stream][place.operation];
  REQUIRE(program.calls.size() == 1);
  const Call& call = program.calls.front();
  CHECK(program.names[call.name] == "sum");
  CHECK(call.stream == tensor);
  CHECK(call.draw == join.draw);
  CHECK(program.range_of(join) == "layer 1");
  CHECK(program.range_of(program.scripts[0].streams[compute][0]).empty());
  CHECK(*program.call_of(join) == kSum);
}

TEST_CASE("calls in the order of their streams keep their order within a stream") {
  ProgramBuilder builder;
  const auto a = builder.stream("a"), b = builder.stream("b");
  builder.collective(b, "b0", kSum);
  builder.collective(a, "a0", kSum);
  builder.collective(b, "b1", kSum);
  builder.collective(a, "a1", kSum);
  CHECK(calls_by_stream(builder.take()) == std::vector<CallId>{1, 3, 0, 2});
}

}  // namespace c3::workloads_program_test
