/// Execution traces joined with Kineto traces.

#include <doctest/doctest.h>

#include "tests/support/execution_text.hpp"
#include "workloads/traces/execution/kineto_join.hpp"
#include "workloads/traces/execution/rank_match.hpp"
#include "workloads/traces/execution/sequence_alignment.hpp"
#include "workloads/traces/file_rank.hpp"
#include "workloads/traces/rank_record.hpp"
#include "workloads/traces/trace_error.hpp"

namespace c3::traces_execution_join_test {

namespace {

using Numbers = std::vector<std::uint32_t>;
constexpr std::uint32_t kNone = kNoIndex;

Trace kineto(const std::string& file, std::optional<int> rank, int process) {
  Trace trace;
  trace.file = file;
  trace.rank = rank;
  trace.threads.push_back({.process = std::to_string(process), .thread = "1"});
  return trace;
}

ExecutionTrace execution(const std::string& file, std::optional<int> rank, int process) {
  ExecutionTrace trace;
  trace.file = file;
  trace.rank = rank;
  trace.process = std::to_string(process);
  return trace;
}

}  // namespace

TEST_CASE("sequences are aligned over what one of them lacks") {
  const Numbers pattern{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  CHECK(align(pattern, pattern) == Numbers{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  // 99 is in the recording only, 6 in the pattern only.
  CHECK(align(Numbers{1, 2, 3, 99, 4, 5, 7, 8, 9, 10, 11, 12}, pattern) ==
        Numbers{0, 1, 2, kNone, 3, 4, 6, 7, 8, 9, 10, 11});
  CHECK(align(Numbers{}, pattern).empty());
  CHECK(align(Numbers{1, 2}, Numbers{}) == Numbers{kNone, kNone});
  CHECK(align(Numbers{50, 51}, pattern) == Numbers{kNone, kNone});
}

TEST_CASE("the pattern begins again behind its end: a recording of many steps") {
  const Numbers pattern{1, 2, 3, 4, 5, 6, 7, 8, 9};
  Numbers recorded;
  Numbers expected;
  for (int step = 0; step < 5; ++step) {
    recorded.push_back(70);  // between steps
    expected.push_back(kNone);
    for (std::uint32_t i = 0; i < pattern.size(); ++i) {
      recorded.push_back(pattern[i]);
      expected.push_back(i);
    }
  }
  CHECK(align(recorded, pattern) == expected);
}

TEST_CASE("a recording that begins in the middle of a step is aligned there") {
  Numbers pattern(100);
  for (std::uint32_t i = 0; i < pattern.size(); ++i)
    pattern[i] = i;
  const Numbers recorded(pattern.begin() + 40, pattern.begin() + 60);
  CHECK(align(recorded, pattern).front() == 40);
  CHECK(align(recorded, pattern).back() == 59);
}

TEST_CASE("operators get shapes and collectives that Kineto did not record, and keep those that it did") {
  ExecutionText text;
  text.node(3, "aten::mm", 1, {tensor_text(7, 64), tensor_text(8, 64)});
  text.node(4, "aten::add", 1, {tensor_text(7, 32)});
  text.node(5, "record_param_comms", 1,
            {tensors_text(7, 64), int_text(9), int_text(99), int_text(0), string_text("allreduce"),
             list_text({}), list_text({}), int_text(4)});
  Trace trace =
      TraceText()
          .op("aten::mm", 0, 5)
          .op("aten::add", 10, 5, R"("Input Dims":[[16]],"Input type":["float"],"Concrete Inputs":[""])")
          .op("record_param_comms", 20, 5)
          .call("cudaLaunchKernel", 22, 1, 1)
          .kernel("ncclDevKernel_Generic", 30, 10, 1)
          .read();
  const ExecutionTrace execution_trace = text.read();
  const ExecutionJoin join = complete_from(execution_trace, join_with_kineto(trace, execution_trace), trace);
  CHECK(join.joined == 3);
  CHECK(join.shapes_added == 2);
  CHECK(join.shapes_differ == 1);
  CHECK(join.collectives_added == 1);
  CHECK(trace.has_shapes);
  const auto dims = [&](std::size_t op) {
    return trace.texts.text(trace.op_details[trace.ops[op].details].dims);
  };
  CHECK(dims(0) == "[[64], [64]]");
  CHECK(dims(1) == "[[16]]");

  const Rank rank(std::move(trace));
  REQUIRE(rank.collectives.size() == 1);
  const CollectiveKernel& kernel = rank.collectives.front();
  CHECK(kernel.kind == "all_reduce");
  CHECK(kernel.bytes == 256);
  CHECK(kernel.group_size == 4);
  CHECK(kernel.sequence == 9);
  CHECK(kernel.group == "99");  // an address: the same on this rank only
  CHECK_FALSE(kernel.has_group_name);
  CHECK(kernel.is_specified());
}

TEST_CASE("of a collective that Kineto recorded in part, only the rest is added") {
  // Versions of 2024 have no sequence number in Kineto.
  const ExecutionTrace execution_trace =
      ExecutionText("1.0.3-chakra.0.0.4")
          .node(5, "record_param_comms", 1,
                {tensors_text(7, 64),
                 int_text(9),
                 {R"(["0","default_pg"])", "[[],[]]", "Tuple[String,String]"},
                 int_text(1),
                 string_text("allreduce"),
                 list_text({}),
                 list_text({}),
                 int_text(0),
                 int_text(1),
                 int_text(2)})
          .read();
  Trace trace = TraceText()
                    .op("record_param_comms", 20, 5,
                        R"("Collective name":"allreduce","dtype":"Float","In msg nelems":100,"Group size":2,)"
                        R"("Process Group Name":"7")")
                    .read();
  const KinetoJoin join = join_with_kineto(trace, execution_trace);
  CHECK(complete_from(execution_trace, join, trace).collectives_added == 1);
  const CollectiveArguments& arguments = trace.collective_arguments[trace.ops[0].collective];
  CHECK(arguments.sequence == 9);
  CHECK(arguments.in_elements == 100);
  CHECK(trace.texts.text(arguments.group) == "7");
  CHECK(arguments.ranks == 0);
  CHECK(complete_from(execution_trace, join, trace).collectives_added == 0);
}

TEST_CASE("threads are joined with the one that ran the same operators") {
  ExecutionText text;
  text.node(3, "aten::a", 1, {tensor_text(7, 1)}, {}, 1).node(4, "aten::x", 1, {tensor_text(7, 2)}, {}, 2);
  text.node(5, "aten::b", 1, {tensor_text(7, 3)}, {}, 1).node(6, "aten::y", 1, {tensor_text(7, 4)}, {}, 2);
  const Trace trace = TraceText()
                          .op("aten::x", 0, 1, "", 50)
                          .op("aten::a", 1, 1, "", 60)
                          .op("aten::y", 2, 1, "", 50)
                          .op("aten::b", 3, 1, "", 60)
                          .read();
  const KinetoJoin join = join_with_kineto(trace, text.read());
  CHECK_FALSE(join.by_record_id);
  CHECK(join.node_of_op == Numbers{1, 0, 3, 2});
}

TEST_CASE("record function ids join only operators of the same name") {
  ExecutionText text;
  text.node(3, "aten::a", 1).node(4, "aten::b", 1).node(5, "aten::c", 1);
  const auto op = [](TraceText& recorded, const std::string& name, int start, int id) {
    recorded.op(name, start, 1, fmt::format(R"("Record function id":{})", id));
  };
  TraceText same;
  op(same, "aten::c", 0, 5);
  op(same, "aten::b", 2, 4);
  op(same, "aten::other", 4, 3);
  const KinetoJoin join = join_with_kineto(same.read(), text.read());
  CHECK(join.by_record_id);
  CHECK(join.node_of_op == Numbers{2, 1, kNone});
}

TEST_CASE("steps that record function ids do not reach are joined by order") {
  ExecutionText text;
  text.node(3, "aten::a", 1).node(4, "aten::b", 1).node(5, "aten::c", 1);
  TraceText recorded;
  for (int step = 0; step < 2; ++step) {
    for (int i = 0; i < 3; ++i)
      recorded.op(fmt::format("aten::{}", "abc"[i]), 10 * step + i, 1,
                  fmt::format(R"("Record function id":{})", 100 * step + 3 + i));
  }
  const KinetoJoin join = join_with_kineto(recorded.read(), text.read());
  CHECK(join.by_record_id);
  CHECK(join.node_of_op == Numbers{0, 1, 2, 0, 1, 2});
}

TEST_CASE("files are of one rank by content, else by process, else by name") {
  const auto match = [](const std::vector<ExecutionTrace>& executions) {
    std::vector<Trace> kinetos;
    kinetos.push_back(kineto("kineto_0.json", 0, 10));
    kinetos.push_back(kineto("kineto_1.json", 1, 11));
    return match_ranks(kinetos, executions);
  };
  const auto one = [&](ExecutionTrace trace) {
    std::vector<ExecutionTrace> executions;
    executions.push_back(std::move(trace));
    return match(executions).front();
  };
  CHECK(one(execution("et_0.json", 1, 10)) == 1);             // content
  CHECK(one(execution("et_0.json", std::nullopt, 11)) == 1);  // process
  CHECK(one(execution("et_1.json", std::nullopt, 99)) == 1);  // name
  CHECK(one(execution("et.json", std::nullopt, 99)) == kNone);
  CHECK(one(execution("et.json", 7, 10)) == kNone);
  std::vector<ExecutionTrace> twice;
  twice.push_back(execution("a.json", 1, 9));
  twice.push_back(execution("b.json", 1, 9));
  CHECK_THROWS_WITH_AS(match(twice), "b.json: rank 1: a.json is the execution trace of this rank as well",
                       TraceSetError);
  // A single pair needs nothing.
  std::vector<Trace> kinetos;
  kinetos.push_back(kineto("trace.json", std::nullopt, 10));
  std::vector<ExecutionTrace> executions;
  executions.push_back(execution("et.json", std::nullopt, 99));
  CHECK(match_ranks(kinetos, executions) == Numbers{0});
}

TEST_CASE("ranks in names of files") {
  CHECK(rank_in_name("run/et_3.json.gz") == 3);
  CHECK(rank_in_name("chakra.0.et") == 0);
  CHECK(rank_in_name("rank12_et.json") == 12);
  CHECK(rank_in_name("Rank-7/et.json") == 7);
  CHECK(rank_in_name("trace_rank_5.1712345.pt.trace.json") == 5);
  CHECK(rank_in_name("kineto-04.json") == 4);
  for (const char* const name : {"a100_simple_add_et.json.gz", "resnet_1gpu_et_1.0.3.json.gz", "et.json",
                                 "h100.json", "et_99999999999999.json", ""}) {
    CAPTURE(name);
    CHECK_FALSE(rank_in_name(name).has_value());
  }
}

}  // namespace c3::traces_execution_join_test
