// Operator lists as runs: what their operators are on a GPU, and what starts when. Dates by hand.

#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gpu/kernels/describe.hpp"
#include "gpu/kernels/vector/vector_shape.hpp"
#include "tests/support/near.hpp"
#include "tests/unit/workloads_pair.hpp"
#include "workloads/traces/benchmark/benchmark_run.hpp"
#include "workloads/traces/benchmark/listed_kernels.hpp"
#include "workloads/traces/execution/operator_list_changes.hpp"
#include "workloads/traces/replay/replay_program.hpp"
#include "workloads/traces/trace_error.hpp"

namespace c3::workloads_benchmark_test {

using namespace literals;
using namespace test;

namespace {

constexpr Picoseconds us(std::int64_t count) { return {count * 1'000'000}; }

ListedOperator listed(WorkClass work, std::string name, std::string dims, std::string types,
                      std::string concrete = "") {
  ListedOperator op;
  op.work = work;
  op.thread = 1;
  op.name = std::move(name);
  op.dims = std::move(dims);
  op.types = std::move(types);
  op.concrete = std::move(concrete);
  return op;
}

/// 5 us of the host, and \p gpu_us of one kernel.
ListedOperator product(std::int64_t gpu_us) {
  ListedOperator op =
      listed(WorkClass::gemm, "aten::mm", "[[4096, 4096], [4096, 4096]]", R"(["c10::Half", "c10::Half"])");
  op.host_time = us(5);
  op.gpu_time = us(gpu_us);
  op.kernels = 1;
  return op;
}

ListedOperator all_reduce(std::int64_t gpu_us, std::int64_t bytes = 64 << 20) {
  ListedOperator op = listed(WorkClass::collective, "record_param_comms", "", "");
  op.host_time = us(5);
  op.gpu_time = us(gpu_us);
  op.kernels = 1;
  op.collective = {.kind = "all_reduce",
                   .dtype = "c10::Half",
                   .group = "0",
                   .has_group_name = true,
                   .splits = {},
                   .bytes = bytes,
                   .group_size = 2,
                   .sequence = 7};
  return op;
}

ListedOperator wait() {
  ListedOperator op = listed(WorkClass::collective, "record_param_comms", "", "");
  op.collective = {.is_wait = true,
                   .kind = {},
                   .dtype = {},
                   .group = {},
                   .has_group_name = false,
                   .splits = {},
                   .bytes = {},
                   .group_size = {},
                   .sequence = 7};  // c10d names no group here
  return op;
}

/// A product of 100 us, an all-reduce, another product beside it, and one behind it.
OperatorList step(std::vector<std::int64_t> all_reduces) {
  OperatorList list;
  for (const std::int64_t time : all_reduces)
    list.ranks.push_back({.rank = static_cast<int>(list.ranks.size()),
                          .operators = {product(100), all_reduce(time), product(100), wait(), product(100)}});
  return list;
}

/// When each stream ends.
std::vector<double> ends_of(const RecordedRun& run, std::vector<WorkClass> classes = {}) {
  Experiment experiment;
  experiment.cluster = mi300x_like_cluster();
  experiment.cluster.gpu = mi300x_like_trainer();
  experiment.program =
      replay_program(run, experiment.cluster.ranks(), {std::move(classes), &experiment.cluster.gpu});
  std::vector<double> ends;
  for (const auto& stream : run_once(experiment, in_order(), {}).streams)
    ends.push_back(stream.end.value);
  return ends;
}

KernelOperator only(const ListedOperator& listed_operator) {
  const std::vector<KernelOperator> kernels = kernels_of(listed_operator);
  REQUIRE(kernels.size() == 1);
  return kernels.front();
}

}  // namespace

TEST_CASE("operators are known by name and shapes, without names of kernels") {
  const ListedOperator mm = product(1);
  CHECK(only(mm).op->as<GemmShape>()->k == 4096);
  CHECK(only(mm).work == WorkClass::gemm);

  const ListedOperator sum = listed(WorkClass::vector, "aten::sum", "[[64, 128], [], []]",
                                    R"(["float", "ScalarList", "Scalar"])", R"(["", "[1]", "False"])");
  CHECK(only(sum).op->as<VectorShape>()->chain == VectorOp::reduce);
  CHECK(only(sum).op->as<VectorShape>()->cols == 128);

  const ListedOperator norm = listed(WorkClass::vector, "SecretLayerNormFunction", "[[64, 128], [128]]",
                                     R"(["c10::Half", "c10::Half"])");
  CHECK(only(norm).op->as<VectorShape>()->chain == VectorOp::layernorm);
  CHECK(kernels_of(listed(WorkClass::vector, "aten::native_layer_norm_backward", "[[64, 128], [64, 128]]",
                          R"(["float", "float"])"))
            .size() == 2);

  const ListedOperator copy =
      listed(WorkClass::copy, "aten::copy_", "[[64, 128], [64, 128]]", R"(["float", "c10::Half"])");
  CHECK(only(copy).op.has_value());
  CHECK(only(copy).work == WorkClass::copy);
  ListedOperator with_host = copy;
  with_host.with_host = true;
  CHECK_FALSE(only(with_host).op);
  CHECK(only(with_host).note == "a copy between the memories of the host and of a GPU");

  CHECK_FALSE(only(listed(WorkClass::vector, "aten::sort", "[[64]]", R"(["float"])")).op);
  CHECK_FALSE(only(listed(WorkClass::vector, "mine::thing", "[[64]]", R"(["float"])")).op);
}

TEST_CASE("a convolution's backward operator is a kernel for each gradient that it is asked for") {
  const auto backward = [](const std::string& mask) {
    return listed(
        WorkClass::convolution, "aten::convolution_backward",
        "[[2, 8, 30, 30], [2, 4, 32, 32], [8, 4, 3, 3], [0], [], [], [], [], [], [], []]",
        R"(["float", "float", "float", "", "ScalarList", "ScalarList", "ScalarList", "Scalar", "", "Scalar", ""])",
        R"(["", "", "", "", "[1, 1]", "[0, 0]", "[1, 1]", "False", "[0, 0]", "1", ")" + mask + R"("])");
  };
  const std::vector<KernelOperator> both = kernels_of(backward("[True, True, False]"));
  REQUIRE(both.size() == 2);
  // Shapes in TF32: twice the k. Input: 2 x 32 x 32 points; weights: 4 x 3 x 3.
  CHECK(both[0].op->as<GemmShape>()->m == 2048);
  CHECK(both[1].op->as<GemmShape>()->n == 36);
  CHECK(only(backward("[False, True, False]")).op->as<GemmShape>()->n == 36);
}

TEST_CASE("kernels follow those before them, collectives what was issued before, and a wait its collective") {
  // The first product is issued at 5 us, starts at 15 and ends at 115. The all-reduce starts 4 us behind it and
  // takes the 50 us of rank 1, the last to come: rank 0 had waited. The second product ends at 115 + 2 + 100;
  // the third starts 2 us behind it, long after the all-reduce.
  const std::vector<double> ends = ends_of(benchmark_run(step({80, 50})));
  REQUIRE(ends.size() == 2);
  CHECK(ends[0] == near(319e-6, 1e-9));
  CHECK(ends[1] == near(169e-6, 1e-9));
  // A long one holds up the third: 119 + 200 + 4 + 100.
  CHECK(ends_of(benchmark_run(step({200, 200})))[0] == near(423e-6, 1e-9));
}

TEST_CASE("a host that waited for the GPU issues what follows behind it") {
  OperatorList list = step({50, 50});
  for (RankOperators& rank : list.ranks)
    rank.operators[2].after_wait = true;
  // The second product is issued 5 us behind the end of the first, at 115, and starts 10 us later.
  CHECK(ends_of(benchmark_run(list))[0] == near((115 + 15 + 100 + 2 + 100) * 1e-6, 1e-9));
}

TEST_CASE("an operator's kernels share its time, and by the model only those with shapes take any") {
  OperatorList list;
  ListedOperator gemm = product(90);
  gemm.kernels = 3;
  list.ranks.push_back({.rank = 0, .operators = {gemm}});
  const RecordedRun run = benchmark_run(list);
  REQUIRE(run.ranks[0].work.size() == 3);
  CHECK(run.ranks[0].work[2].duration == us(30));
  CHECK(ends_of(run)[0] == near((15 + 90 + 2 * 2) * 1e-6, 1e-9));
  const double alone =
      time_of(*only(gemm).op, mi300x_like_trainer(), {.launch = LaunchCost::device}).time.value;
  CHECK(ends_of(run, all_work_classes())[0] == near(15e-6 + alone + 4e-6, 1e-6));
}

TEST_CASE("the collective of a rank listed alone takes the model's time, as those of alike ranks do") {
  const auto lists = [](int ranks) {
    OperatorList list;
    for (int rank = 0; rank < ranks; ++rank) {
      list.ranks.push_back({.rank = rank, .operators = {all_reduce(900)}});
      list.ranks.back().operators[0].collective->group_size = 8;
    }
    return benchmark_run(list);
  };
  CHECK(ends_of(lists(1))[1] == near(915e-6, 1e-9));
  const double modelled = ends_of(lists(1), all_work_classes())[1];
  CHECK(modelled < 600e-6);
  CHECK(modelled == near(ends_of(lists(8), all_work_classes())[1], 1e-9));
}

TEST_CASE("what is of a group of one rank, or launched nothing, does not run") {
  OperatorList list = step({80, 50});
  for (RankOperators& rank : list.ranks) {
    rank.operators[1].collective->group_size = 1;
    rank.operators[2].kernels = 0;
  }
  const RecordedRun run = benchmark_run(list);
  CHECK(run.collectives.empty());
  CHECK(run.events() == 4);
}

TEST_CASE("work without shape and time takes none, and is counted") {
  OperatorList list;
  ListedOperator unknown = listed(WorkClass::vector, "mine::thing", "[[64]]", R"(["float"])");
  list.ranks.push_back({.rank = 0, .operators = {unknown, product(100)}});
  list.ranks[0].operators[1].gpu_time.reset();
  const RecordedRun run = benchmark_run(list);
  CHECK_FALSE(run.ranks[0].work[0].has_time);
  const GpuSpec gpu = mi300x_like_trainer();
  const ReplayShares shares = shares_of(run, {all_work_classes(), &gpu});
  CHECK((shares.model.count == 1 && shares.nothing.count == 1 && shares.all().count == 2));
}

TEST_CASE("obfuscated, a list runs alike") {
  OperatorList list = step({80, 50});
  for (RankOperators& rank : list.ranks) {
    for (const char* const name : {"SecretLayerNormFunction", "SecretBiasGelu", "secret::thing"}) {
      ListedOperator unknown = listed(WorkClass::vector, name, "[[4096, 4096]]", R"(["c10::Half"])");
      unknown.gpu_time = us(30);
      rank.operators.push_back(unknown);
    }
  }
  const OperatorList hidden = obfuscated(list);
  CHECK(hidden.ranks[0].operators[5].name.find("Secret") == std::string::npos);
  const auto draws = [](const OperatorList& traced) {
    std::vector<std::uint64_t> keys;
    for_each_operation(replay_program(benchmark_run(traced), 8),
                       [&](const Operation& operation) { keys.push_back(operation.draw); });
    return keys;
  };
  CHECK(draws(hidden) == draws(list));
  CHECK(ends_of(benchmark_run(hidden)) == ends_of(benchmark_run(list)));
  CHECK(ends_of(benchmark_run(hidden), all_work_classes()) == ends_of(benchmark_run(list), all_work_classes()));
}

TEST_CASE("members of unlike collectives are refused, with rank and place") {
  OperatorList list = step({80, 50});
  list.ranks[1].operators[1].collective->bytes = 7;
  CHECK_THROWS_WITH_AS(
      benchmark_run(list),
      "operator list: rank 1: event 1: its all_reduce of 7 B is matched with the all_reduce of "
      "67108864 B of rank 0: members of a collective must have one kind and size",
      TraceSetError);
  list = step({80, 50, 20});
  CHECK_THROWS_WITH_AS(benchmark_run(list),
                       "operator list: rank 2: event 1: 3 ranks join this all_reduce, whose group has 2",
                       TraceSetError);
}

}  // namespace c3::workloads_benchmark_test
