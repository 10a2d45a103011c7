/// Benchmarks from execution traces: what is listed, their files, and what can be made of them.

#include <doctest/doctest.h>

#include "tests/support/execution_text.hpp"
#include "workloads/traces/execution/operator_list_changes.hpp"
#include "workloads/traces/execution/operator_list_file.hpp"
#include "workloads/traces/execution/operator_times.hpp"
#include "workloads/traces/rank_record.hpp"
#include "workloads/traces/trace_error.hpp"

namespace c3::traces_operator_list_test {

namespace {

std::vector<ArgumentText> issue(int sequence, int size) {
  return {tensors_text(7, 256),     int_text(sequence), int_text(99),  int_text(0),
          string_text("allreduce"), list_text({}),      list_text({}), int_text(size)};
}
std::vector<ArgumentText> wait(int sequence) {
  return {int_text(sequence), int_text(0),   int_text(0), string_text("wait"),
          list_text({}),      list_text({}), int_text(1)};
}

/// A product, a function of the user, an all-reduce over \p ranks and its wait.
ExecutionTrace step(int ranks = 2) {
  return ExecutionText()
      .node(3, "aten::linear", 1, {tensor_text(7, 64)})
      .node(4, "aten::mm", 3, {tensor_text(7, 64), tensor_text(8, 32), int_text(1), string_text("cuda:0")})
      .node(5, "SecretFusedNorm", 1, {tensor_text(9, 8)}, {}, 2)
      .node(6, "record_param_comms", 1, issue(7, ranks))
      .node(7, "record_param_comms", 1, wait(7))
      .read();
}

OperatorList steps(int count, int ranks = 2) {
  OperatorList list;
  for (int rank = 0; rank < count; ++rank)
    list.ranks.push_back(list_operators(step(ranks), rank));
  return list;
}

OperatorList read_text(const std::string& text) { return read_operator_list("t.json", source_of(text)); }

std::string refusal(const std::string& text) {
  return refusal_of([&] { read_text(text); });
}

}  // namespace

TEST_CASE("a list has GPU operators, collectives and waits in order") {
  const RankOperators rank = list_operators(step(), 3);
  CHECK(rank.rank == 3);
  REQUIRE(rank.operators.size() == 4);
  const ListedOperator& product = rank.operators[0];
  CHECK(product.name == "aten::mm");
  CHECK(product.work == WorkClass::gemm);
  CHECK(product.dims == "[[64], [32], [], []]");
  CHECK(product.types == R"(["float", "float", "Scalar", ""])");
  CHECK(product.concrete == R"(["", "", "1", "cuda:0"])");
  CHECK(rank.operators[1].thread == 2);
  REQUIRE(rank.operators[2].collective.has_value());
  const ListedCollective& collective = *rank.operators[2].collective;
  CHECK(collective.kind == "all_reduce");
  CHECK(collective.bytes == 1024);
  CHECK(collective.group_size == 2);
  CHECK(collective.sequence == 7);
  CHECK(collective.group == "99");
  CHECK_FALSE(collective.has_group_name);
  CHECK(rank.operators[3].collective->is_wait);
  CHECK(rank.operators[3].collective->sequence == 7);
}

TEST_CASE("operators get the mean time of what they launched, over all occurrences") {
  // Two steps of a product whose kernel takes 10 and then 20 us; a memset below it; and work of no operator.
  const ExecutionTrace execution = ExecutionText().node(3, "aten::mm", 1, {tensor_text(7, 64)}).read();
  TraceText text;
  for (int i = 0; i < 2; ++i) {
    const int start = 100 * i;
    text.op("aten::mm", start, 50).op("aten::zero_", start + 1, 9);
    text.launch("gemm", start + 20, start + 30, 10 + 10 * i, 10 * i + 1);
    text.launch("fill", start + 2, start + 10, 4, 10 * i + 2);
  }
  text.launch("stray", 300, 310, 5, 99);
  const Rank kineto(text.read());
  RankOperators list = list_operators(execution, 0);
  const OperatorCoverage coverage =
      add_times(list, execution, kineto, join_with_kineto(kineto.trace, execution));
  REQUIRE(list.operators.size() == 1);
  CHECK(list.operators.front().gpu_time == Picoseconds{19'000'000});  // (10 + 4 + 20 + 4) / 2
  CHECK(coverage.activities == 5);
  CHECK(coverage.covered == 4);
  CHECK(coverage.time.count == 43'000'000);
  CHECK(coverage.covered_time.count == 38'000'000);
  REQUIRE(coverage.rest.size() == 1);
  CHECK(coverage.rest.front().name == "stray");
  CHECK(list.operators.front().kernels == 2);
}

TEST_CASE("operators get the host's time before them, without what the host waited for the GPU") {
  // The step begins at 0, the operators at 20, 60 and 200. From 80 the host waits for the kernel of the second,
  // which ends at 170: of the 140 us before the third 90 are waiting.
  const ExecutionTrace execution = ExecutionText()
                                       .node(3, "aten::mm", 1, {tensor_text(7, 64)})
                                       .node(4, "aten::bmm", 1, {tensor_text(7, 64)})
                                       .node(5, "aten::relu", 1, {tensor_text(7, 64)})
                                       .read();
  TraceText text;
  text.step(0, 300);
  text.op("aten::mm", 20, 30).op("aten::bmm", 60, 10).op("aten::relu", 200, 20);
  text.launch("gemm", 25, 35, 10, 1).launch("gemm", 65, 75, 95, 2).launch("relu", 205, 215, 5, 3);
  text.call("cudaStreamSynchronize", 80, 95, 9);
  const Rank kineto(text.read());
  RankOperators list = list_operators(execution, 0);
  add_times(list, execution, kineto, join_with_kineto(kineto.trace, execution));
  REQUIRE(list.operators.size() == 3);
  CHECK(list.operators[0].host_time == Picoseconds{20'000'000});
  CHECK(list.operators[1].host_time == Picoseconds{40'000'000});
  CHECK(list.operators[2].host_time == Picoseconds{50'000'000});
  CHECK_FALSE(list.operators[1].after_wait);
  CHECK(list.operators[2].after_wait);
}

TEST_CASE("the host's time before an operator is the median over the repetitions of the list") {
  // Products at 0, 10, 40 and 1,040 us: the first begins the trace, and then pass 10, 30 and 1,000 us.
  const ExecutionTrace execution = ExecutionText().node(3, "aten::mm", 1, {tensor_text(7, 64)}).read();
  TraceText text;
  for (const int start : {0, 10, 40, 1040})
    text.op("aten::mm", start, 5);
  const Rank kineto(text.read());
  RankOperators list = list_operators(execution, 0);
  const OperatorCoverage coverage =
      add_times(list, execution, kineto, join_with_kineto(kineto.trace, execution));
  CHECK(coverage.repetitions == 4);
  CHECK(list.operators.front().host_time == Picoseconds{10'000'000});
  CHECK(list.operators.front().kernels == 0);
}

TEST_CASE("ranks begin as late as their steps do") {
  const ExecutionTrace execution = ExecutionText().node(3, "aten::mm", 1, {tensor_text(7, 64)}).read();
  OperatorList list;
  std::vector<Rank> ranks;
  for (const int late : {30, 0}) {
    TraceText text;
    text.step(late, 100).op("aten::mm", late + 7, 5);
    text.op("aten::mm", 500, 5);  // for a common origin of dates
    ranks.emplace_back(text.read());
    list.ranks.push_back(list_operators(execution, static_cast<int>(list.ranks.size())));
    list.ranks.back().operators.front().host_time = Picoseconds{7'000'000};
  }
  add_starts(list, ranks, {0, 1});
  CHECK(list.ranks[0].operators.front().host_time == Picoseconds{37'000'000});
  CHECK(list.ranks[1].operators.front().host_time == Picoseconds{7'000'000});
}

TEST_CASE("copies between the host and a GPU are told from those within") {
  const auto copy = [](const char* source) {
    return list_operators(ExecutionText()
                              .node(3, "aten::copy_", 1, {tensor_text(7, 64), tensor_text(8, 64, source)})
                              .read(),
                          0)
        .operators.at(0);
  };
  CHECK(copy("cpu").with_host);
  CHECK_FALSE(copy("cuda:0").with_host);
}

TEST_CASE("a list is the same when it was written and read") {
  OperatorList list = steps(2);
  list.ranks[0].operators[0].gpu_time = Picoseconds{12'345'678};
  list.ranks[0].operators[1].gpu_time = Picoseconds{0};
  list.ranks[0].operators[1].kernels = 3;
  list.ranks[0].operators[1].host_time = Picoseconds{1'500'000};
  list.ranks[0].operators[1].after_wait = true;
  list.ranks[0].operators[0].with_host = true;
  list.ranks[1].operators[0].name = "a \"name\"\\ with\ttrouble";
  list.ranks[1].operators[2].collective->splits = "[1, 3] > [2, 2]";
  list.ranks[1].operators[2].collective->has_group_name = true;
  const std::string text = operator_list_text(list);
  CHECK(text.starts_with("{\"format\": \"c3sim operators\", \"version\": 2, \"operators\": [\n{\"rank\": 0, "));
  CHECK(text.find("\"gpu_time_us\": 12.345678") != std::string::npos);
  CHECK(read_text(text) == list);
  CHECK(operator_list_text(read_text(text)) == text);
}

TEST_CASE("what is no operator list is refused, with the operator") {
  const auto list = [](const std::string& entry) {
    return R"({"format": "c3sim operators", "version": 1, "operators": [)" + entry + "]}";
  };
  CHECK(refusal(R"({"operators": []})") ==
        "t.json: \"format\" and \"version\" do not stand before \"operators\"");
  CHECK(refusal(R"({"format": "x"})") == "t.json: its format is not \"c3sim operators\"");
  CHECK(refusal(R"({"format": "c3sim operators", "version": 3, "operators": []})") ==
        "t.json: version 3 is not read, only versions 1 and 2");
  CHECK(refusal(R"({"format": "c3sim operators", "version": 1})") == "t.json: it has no \"operators\"");
  CHECK(refusal(list(R"({"rank": -1})")) == "t.json: event 0: rank: \"-1\" is not an integer from 0");
  CHECK(refusal(list(R"({"rank": 0, "thread": 1, "class": "magic"})"))
            .starts_with("t.json: event 0: class: \"magic\" is not one of gemm, convolution, "));
  CHECK(refusal(list(R"({"rank": 0, "thread": 1, "class": "gemm", "dims": 4})")) ==
        "t.json: event 0: dims: it is not an array");
  CHECK(refusal(list(R"({"rank": 0, "thread": 1, "class": "gemm", "gpu_time_us": -1})")) ==
        "t.json: event 0: gpu_time_us: \"-1\" is not a number of microseconds from 0");
  CHECK(refusal(list(R"({"rank": 0, "thread": 1, "class": "gemm", "host_us": "x"})")) ==
        "t.json: event 0: host_us: \"x\" is not a number of microseconds from 0");
  CHECK(refusal(list(R"({"rank": 0, "thread": 1, "class": "gemm", "kernels": -1})")) ==
        "t.json: event 0: kernels: \"-1\" is not an integer from 0");
  CHECK(refusal(list(R"({"rank": 0, "thread": 1, "class": "gemm", "kernels": 1000001})")) ==
        "t.json: event 0: kernels: 1000001 is out of range");
  const std::string whole = operator_list_text(steps(1));
  for (std::size_t size = 0; size + 2 < whole.size(); ++size)
    CHECK_FALSE(refusal(whole.substr(0, size)).empty());
}

TEST_CASE("obfuscation hides names and texts, and keeps all that is computed with") {
  const OperatorList plain = steps(2);
  const OperatorList hidden = obfuscated(plain);
  const std::string text = operator_list_text(hidden);
  for (const char* const word : {"Secret", "cuda:0", "\"99\""})
    CHECK(text.find(word) == std::string::npos);
  for (std::size_t rank = 0; rank < 2; ++rank) {
    for (std::size_t i = 0; i < plain.ranks[rank].operators.size(); ++i) {
      const ListedOperator& before = plain.ranks[rank].operators[i];
      const ListedOperator& after = hidden.ranks[rank].operators[i];
      CHECK(after.work == before.work);
      CHECK(after.dims == before.dims);
      CHECK(after.types == before.types);
      CHECK(after.thread == before.thread);
      CHECK(after.collective.has_value() == before.collective.has_value());
    }
  }
  CHECK(hidden.ranks[0].operators[0].name == "aten::mm");
  CHECK(hidden.ranks[0].operators[0].concrete == R"(["", "", "1", ""])");
  CHECK(hidden.ranks[0].operators[1].name == "vector_1");
  CHECK(hidden.ranks[1].operators[1].name == "vector_1");
  CHECK(hidden.ranks[0].operators[2].collective->bytes == 1024);
  CHECK(obfuscated(hidden) != plain);
}

TEST_CASE("lists behind each other keep waits with their collectives") {
  const OperatorList twice = repeated(steps(2), 2);
  REQUIRE(twice.ranks[1].operators.size() == 8);
  CHECK(twice.ranks[1].operators[3].collective->sequence == 7);
  CHECK(twice.ranks[1].operators[6].collective->sequence == 14);
  CHECK(twice.ranks[1].operators[7].collective->sequence == 14);
  CHECK(concatenated(steps(2), steps(2)) == twice);
  CHECK(repeated(steps(2), 1) == steps(2));
  CHECK_THROWS_WITH_AS(concatenated(steps(2), steps(1)),
                       "operator list: only lists of the same ranks can be put behind each other",
                       TraceSetError);
  CHECK_THROWS_AS(repeated(steps(1), 0), std::invalid_argument);
}

TEST_CASE("alike ranks are scaled to any number, with their collectives") {
  const OperatorList many = scaled(steps(2), 5);
  REQUIRE(many.ranks.size() == 5);
  CHECK(many.ranks[4].rank == 4);
  CHECK(many.ranks[4].operators[2].collective->group_size == 5);
  CHECK(many.ranks[4].operators[2].collective->bytes == 1024);
  OperatorList unlike = steps(2);
  unlike.ranks[1].operators[0].dims = "[[1]]";
  CHECK_THROWS_WITH_AS(
      scaled(unlike, 4),
      "operator list: rank 1: it runs something else than rank 0: only alike ranks can be scaled",
      TraceSetError);
  CHECK_THROWS_WITH_AS(
      scaled(steps(2, 8), 4),
      "operator list: rank 0: a collective over 8 of 2 ranks: only those over all ranks can be scaled",
      TraceSetError);
}

TEST_CASE("a class is dropped, collectives with their waits") {
  const OperatorList without = dropped(steps(1), WorkClass::collective);
  REQUIRE(without.ranks[0].operators.size() == 2);
  CHECK(dropped(without, WorkClass::gemm).ranks[0].operators.front().name == "SecretFusedNorm");
}

}  // namespace c3::traces_operator_list_test
