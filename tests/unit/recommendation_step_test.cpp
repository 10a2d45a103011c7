// Steps of recommendation models: what each rank does, sends and holds, by hand.

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "engine/errors.hpp"
#include "gpu/kernels/gemm/gemm_shape.hpp"
#include "gpu/kernels/vector/vector_shape.hpp"
#include "tests/support/clusters.hpp"
#include "tests/support/near.hpp"
#include "workloads/execute/run.hpp"
#include "workloads/program/step_writer.hpp"
#include "workloads/recommendation/dense_layers.hpp"
#include "workloads/recommendation/placement.hpp"
#include "workloads/recommendation/recommendation_step.hpp"

namespace c3::recommendation_step_test {

using namespace literals;
using namespace test;

namespace {

constexpr double kMB = 1e6;

/// Three tables of 1,000 rows of 8, 4 lookups each; layers 3 - 16 - 8 and 5 - 1.
RecommendationJob small_job() {
  RecommendationJob job{.batch = 64, .bottom = {3, 16, 8}, .top = {5, 1}, .input_rate = 10.0_GBps};
  for (const char* name : {"a", "b", "c"})
    job.tables.push_back({.name = name, .rows = 1000, .cols = 8, .lookups = 4});
  return job;
}

ClusterSpec cluster_of(int gpus) {
  ClusterSpec cluster = mi300x_like_cluster(gpus);
  cluster.node.pcie = {.raw = 20.0_TBps, .one_way = 20.0_TBps, .both_ways = 20.0_TBps, .latency = 0.1_us};
  cluster.gpu.compute.matrix.push_back({DType::fp32, 100.0_TFLOPs, 80.0_TFLOPs, 2100.0_MHz});
  cluster.gpu.library_kernels.vector_tiles =
      cluster.gpu.library_kernels.batched_vector_tiles = {{64, 64, 16, 4}};
  return cluster;
}

/// Sum of m n k over all products of a script.
double products(const Script& script) {
  double sum = 0.0;
  for_each_operation(script, [&](const Operation& operation) {
    if (const auto* gemm = shape_of<GemmShape>(operation))
      sum += static_cast<double>(gemm->m * gemm->n * gemm->k * gemm->batch);
  });
  return sum;
}

Experiment experiment_of(const RecommendationJob& job, int gpus) {
  Experiment experiment;
  experiment.name = "dlrm";
  experiment.cluster = cluster_of(gpus);
  experiment.program = recommendation_program(job, experiment.cluster);
  experiment.strategies.resize(1);
  experiment.measure.kernel_grain = experiment.measure.vector_grain = KernelGrain::fluid;
  return experiment;
}

Seconds time_of_step(const RecommendationJob& job, int gpus) {
  const Experiment experiment = experiment_of(job, gpus);
  return run_once(experiment, experiment.strategies.front(), {}).time;
}

OperatorOverheads microseconds() {
  return {.between = 1.0_us,
          .after = 2.0_us,
          .launch = 4.0_us,
          .between_launches = 8.0_us,
          .linear = 100.0_us,
          .other = 50.0_us};
}

}  // namespace

TEST_CASE("the interaction of three tables and the dense vector has six products beside it") {
  // 8 + 4 x 3 / 2 = 14. Bottom: (3 + 1) 16 + (16 + 1) 8; top: (14 + 1) 5 + (5 + 1).
  CHECK(interaction_width(small_job()) == 14);
  CHECK(dense_parameters(small_job()).bottom == 64 + 136);
  CHECK(dense_parameters(small_job()).top == 75 + 6);
}

TEST_CASE("a step's products are three times the forward pass', less the gradient of the dense inputs") {
  const Program program = recommendation_program(small_job(), cluster_of(1));
  const double layers = 3 * 16 + 16 * 8 + 14 * 5 + 5 * 1;
  const double pairs = 4 * 4 * 8;
  CHECK(products(program.scripts.front()) == near(64 * (3 * (layers + pairs) - 3 * 16)));
}

TEST_CASE("a table by table goes round the ranks, and its owner sends every rank the sums of its samples") {
  const RecommendationJob job = placed(small_job(), {2, 2});
  CHECK(job.tables[0].ranks == std::vector{0});
  CHECK(job.tables[1].ranks == std::vector{1});
  CHECK(job.tables[2].ranks == std::vector{0});
  const std::vector<Bytes> sums = sums_sent(job, {2, 2});
  CHECK(sums ==
        std::vector{Bytes{32.0 * 16 * 4}, Bytes{32.0 * 16 * 4}, Bytes{32.0 * 8 * 4}, Bytes{32.0 * 8 * 4}});
  // Rank 0 has two tables: both ranks send it 32 samples' 4 indices of 8 bytes, and an offset, of each.
  const std::vector<Bytes> indices = indices_sent(job, {2, 2});
  CHECK(indices[0].value == near(2 * 32.0 * (4 * 8 + 8)));
  CHECK(indices[3].value == near(32.0 * (4 * 8 + 8)));
}

TEST_CASE("however tables are shared, ranks hold them once, but data-parallel ones everywhere") {
  RecommendationJob job = small_job();
  const double table = 1000.0 * 8 * 4;
  for (const auto& [sharding, held] :
       {std::pair{TableSharding::table, 3.0}, std::pair{TableSharding::column, 3.0},
        std::pair{TableSharding::row, 3.0}, std::pair{TableSharding::data, 12.0}}) {
    CAPTURE(name_of(sharding));
    for (EmbeddingTable& embedding : job.tables)
      embedding.sharding = sharding;
    const RecommendationJob whole = placed(job, {4, 4});
    double sum = 0.0;
    for (int rank = 0; rank < 4; ++rank)
      sum += table_memory(whole, rank, {4, 4}).value;
    CHECK(sum == near(held * table));
  }
}

TEST_CASE("a part by columns has the lookups of all samples, a part by rows its share of them") {
  RecommendationJob job = small_job();
  job.tables = {job.tables.front()};
  const auto lookups = [&](TableSharding sharding) {
    job.tables.front().sharding = sharding;
    return kernel_of(parts_of(placed(job, {4, 4}), 3, {4, 4}));
  };
  CHECK(all_lookups(*lookups(TableSharding::column)) == near(64.0 * 4));
  CHECK(lookups(TableSharding::column)->cols == 2);
  CHECK(all_lookups(*lookups(TableSharding::row)) == near(64.0));
  CHECK(lookups(TableSharding::row)->rows == 250);
  CHECK(all_lookups(*lookups(TableSharding::data)) == near(16.0 * 4));
  CHECK_FALSE(lookups(TableSharding::table).has_value());  // rank 0 has it
}

TEST_CASE(
    "sums by rows are reduced, gradients of tables that all have are added up, of unequal ranks all go on") {
  RecommendationJob job = small_job();
  job.tables[0].sharding = TableSharding::row;
  job.tables[1].sharding = TableSharding::data;
  job.update = RowUpdate::exact_rowwise_adagrad;
  const Experiment experiment = experiment_of(job, 4);
  std::multiset<CollectiveKind> kinds;
  for (const Call& call : experiment.program.calls)
    kinds.insert(call.what.kind);
  CHECK(kinds.count(CollectiveKind::all_to_all_v) == 3);  // indices, sums, their gradients
  CHECK(kinds.count(CollectiveKind::reduce_scatter) == 1);
  CHECK(kinds.count(CollectiveKind::all_gather) == 1);
  CHECK(kinds.count(CollectiveKind::all_reduce) == 3);  // top, bottom, table b
  const RunResult result = run_once(experiment, experiment.strategies.front(), {});
  CHECK(result.time.value > 0.0);
  CHECK(result.classes.size() == 4);
}

TEST_CASE("a table on one rank makes all ranks wait, and spread over both the step is shorter") {
  RecommendationJob job = small_job();
  job.batch = 4096;
  job.input_rate = 10.0_TBps;
  job.tables.resize(2);
  for (EmbeddingTable& table : job.tables) {
    table.rows = 4'000'000;
    table.lookups = 4000;
  }
  const Seconds spread = time_of_step(job, 2);
  for (EmbeddingTable& table : job.tables)
    table.ranks = {1};
  CHECK(time_of_step(job, 2).value > 1.3 * spread.value);
}

TEST_CASE("interactions wait for sums and updates for their gradients, the bottom layers for neither") {
  const Program program = recommendation_program(small_job(), cluster_of(2));
  const auto names = [&](std::string_view stream) {
    std::vector<std::string> found;
    for (const Operation& operation :
         program.scripts.front().streams[*program.stream_named(std::string(stream))])
      found.push_back(program.name_of(operation));
    return found;
  };
  const std::vector<std::string> compute = names("compute");
  const auto place = [&](const char* name) { return std::ranges::find(compute, name) - compute.begin(); };
  const std::vector<const char*> order = {"inputs here",
                                          "embedding",
                                          "sums made",
                                          "bottom.0",
                                          "sums here",
                                          "interaction.cat",
                                          "top.0.backward",
                                          "gradients of sums made",
                                          "bottom.1.backward",
                                          "gradients of sums here",
                                          "embedding.backward",
                                          "gradients added up",
                                          "sgd"};
  for (std::size_t i = 0; i + 1 < order.size(); ++i) {
    CAPTURE(order[i]);
    CHECK(place(order[i]) < place(order[i + 1]));
  }
  CHECK(place("sgd") < std::ssize(compute));
  CHECK(names("exchange") == std::vector<std::string>{"sums made", "sums.exchange", "sums here",
                                                      "gradients of sums made", "gradients.exchange",
                                                      "gradients of sums here"});
}

TEST_CASE("a pipeline of three stages takes the inputs out of the step") {
  RecommendationJob job = small_job();
  job.batch = 8192;
  job.input_rate = 1.0_GBps;  // 8192 / 2 samples of 12 indices of 8 bytes: 393 us before the lookups
  const Seconds waits = time_of_step(job, 2);
  job.pipeline = InputPipeline::three_stage;
  CHECK((waits - time_of_step(job, 2)).value > 200e-6);
}

TEST_CASE("a host takes T1, T2 and T4 before an operator's first launch, T5 and T4 between, T3 after") {
  ProgramBuilder builder;
  const ProgramBuilder::Stream compute = builder.stream("compute");
  const std::optional<OperatorOverheads> costs = microseconds();
  StepWriter writer(builder, costs);
  const VectorShape copy{.chain = VectorOp::copy, .rows = 1, .cols = 1};
  writer.run(compute, HostedOperator{.kind = &OperatorOverheads::linear, .name = "a", .kernels = {copy, copy}});
  writer.run(compute, HostedOperator{.name = "view"});
  writer.run(compute, HostedOperator{.name = "b", .kernels = {copy}});
  writer.finish();
  const Program program = builder.take();
  const HostThread& thread = program.scripts.front().host->threads.front();
  REQUIRE(thread.steps.size() == 4);
  CHECK(thread.steps[0].cost.value == near(105e-6));               // 1 + 100 + 4
  CHECK(thread.steps[1].cost.value == near(12e-6));                // 8 + 4
  CHECK(thread.steps[2].cost.value == near((2 + 9 + 55) * 1e-6));  // T3, a view's T1 and T5, then 1 + 50 + 4
  CHECK(thread.steps[3].cost.value == near(2e-6));
}

TEST_CASE("a host waits for blocking copies, and goes on beside others") {
  RecommendationJob job = small_job();
  job.input_rate = Bytes{kMB} / Seconds{1.0};  // 64 samples: 768 + 6,144 + 256 bytes
  job.overheads = microseconds();
  job.inputs = InputCopies::blocking;
  const Program program = recommendation_program(job, cluster_of(1));
  const HostThread& thread = program.scripts.front().host->threads.front();
  CHECK(std::ranges::count_if(thread.steps, [](const HostStep& step) { return step.waits_for.has_value(); }) ==
        3);
  job.inputs = InputCopies::non_blocking;
  const Program beside = recommendation_program(job, cluster_of(1));
  CHECK(std::ranges::none_of(beside.scripts.front().host->threads.front().steps,
                             [](const HostStep& step) { return step.waits_for.has_value(); }));
}

TEST_CASE("inputs are copies from the host, no faster than their rate and than the link") {
  RecommendationJob job = small_job();
  job.batch = 16384;  // 192 KiB of dense inputs, 1.5 MiB of indices, 64 KiB of labels
  const Program program = recommendation_program(job, cluster_of(1));
  Bytes bytes;
  for_each_operation(program, [&](const Operation& operation) {
    const auto* copy = std::get_if<HostCopy>(&operation.work);
    if (copy == nullptr) return;
    CHECK(copy->way == HostWay::from_host);
    CHECK(copy->most == job.input_rate);
    bytes += copy->bytes;
  });
  CHECK(bytes.value == near(16384.0 * (3 * 4 + 12 * 8 + 4)));
  const Seconds at_ten = time_of_step(job, 1);
  job.input_rate = 1.0_GBps;
  CHECK((time_of_step(job, 1) - at_ten).value == near(0.9 * bytes.value / 1e9, 1e-3));
  job.input_rate = {};
  CHECK(time_of_step(job, 1) < at_ten);
}

TEST_CASE("rows of the host come before their lookups and go back, but for the cached ones, each once") {
  RecommendationJob job = small_job();
  job.tables[1].memory = TableMemory::host;
  job.tables[1].cached = 0.25;
  // 256 lookups touch 1000 (1 - 0.999^256) = 225.99 rows, three quarters of which are not cached.
  const double fetched = 0.75 * 1000 * (1 - std::pow(0.999, 256));
  const NodeRanks alone;
  CHECK(part_of(job, 1, alone).fetched.value == near(fetched * 32));
  CHECK(table_memory(placed(job, alone), 0, alone).value == near((2000 + 250 + fetched) * 32));
  const Program program = recommendation_program(job, cluster_of(1));
  std::vector<HostCopy> copies;
  for (const Operation& operation : program.scripts.front().streams[*program.stream_named("host_rows")]) {
    if (const auto* copy = std::get_if<HostCopy>(&operation.work)) copies.push_back(*copy);
  }
  REQUIRE(copies.size() == 2);
  CHECK(copies[0].way == HostWay::from_host);
  CHECK(copies[1].way == HostWay::to_host);
  CHECK(copies[0].bytes.value == near(fetched * 32));
  CHECK(copies[1].bytes == copies[0].bytes);
  const std::vector<Operation>& compute = program.scripts.front().streams[*program.stream_named("compute")];
  const auto place = [&](const char* name) {
    return std::ranges::find(compute, name,
                             [&](const Operation& operation) { return program.name_of(operation); });
  };
  CHECK(place("rows here") < place("embedding"));
  CHECK(place("embedding.backward") < place("rows changed"));
  CHECK_FALSE(recommendation_program(small_job(), cluster_of(1)).stream_named("host_rows").has_value());
}

TEST_CASE(
    "tables larger than the GPU's memory fit with their rows on the host, and lookups take the link's time") {
  RecommendationJob job = small_job();
  job.tables[0].rows = 20'000'000'000;
  job.tables[0].lookups = 4000;
  CHECK_THROWS_AS(recommendation_program(job, cluster_of(1)), InfeasibleError);
  job.tables[0].memory = TableMemory::host;
  // 256,000 rows of 32 bytes each way at 20 TB/s take nothing; at 1 GB/s 8.2 ms, of which the step waits for
  // both.
  Experiment experiment = experiment_of(job, 1);
  const Seconds fast = run_once(experiment, experiment.strategies.front(), {}).time;
  experiment.cluster.node.pcie = {
      .raw = 1.0_GBps, .one_way = 1.0_GBps, .both_ways = 1.0_GBps, .latency = 0.1_us};
  const Seconds slow = run_once(experiment, experiment.strategies.front(), {}).time;
  CHECK((slow - fast).value == near(2 * 256e3 * 32 / 1e9, 0.15));
}

TEST_CASE("narrow sums are multiplied up to the width, by weights that have gradients of their own") {
  RecommendationJob job = small_job();
  const double before = products(recommendation_program(job, cluster_of(1)).scripts.front());
  job.tables[2].cols = 2;
  job.tables[2].is_projected = true;
  // A product of 64 x 8 x 2 and both of its gradients.
  CHECK(products(recommendation_program(job, cluster_of(1)).scripts.front()) == near(before + 3 * 64 * 8 * 2));
  CHECK(dense_parameters(job).bottom == 64 + 136 + 16);
  CHECK(interaction_width(job) == 14);
  CHECK(sums_sent(placed(job, {2, 2}), {2, 2})[0].value == near(32.0 * (8 + 2) * 4));  // narrow ones travel
}

TEST_CASE("by grid a node has some columns and each of its ranks some rows, which nodes exchange in sums") {
  RecommendationJob job = small_job();
  job.tables.resize(1);
  job.tables[0].sharding = TableSharding::grid;
  job.tables[0].lookups = 16;
  const NodeRanks grid{.ranks = 8, .in_node = 4};
  const TablePart part = part_of(job, 0, grid);
  CHECK(part.shape.cols == 4);
  CHECK(part.shape.rows == 250);
  CHECK(all_lookups(part.shape) == near(64.0 * 16 / 4));
  double held = 0.0;
  for (int rank = 0; rank < 8; ++rank)
    held += table_memory(job, rank, grid).value;
  CHECK(held == near(1000.0 * 8 * 4));
  // Every rank's 8 samples have 16 indices, of which each rank gets a quarter, for its node's columns.
  CHECK(indices_sent(job, grid)[1].value == near(8.0 * (16 * 8 + 8) / 4));

  Experiment experiment;
  experiment.cluster = nodes_of(NodeTopology::switched, 2, 4, 4);
  experiment.cluster.gpu = cluster_of(1).gpu;
  experiment.program = recommendation_program(job, experiment.cluster);
  std::vector<CollectiveCall> calls;
  for (const Call& call : experiment.program.calls) {
    if (experiment.program.names[call.name].starts_with("grid")) calls.push_back(call.what);
  }
  REQUIRE(calls.size() == 4);
  const RankGroups in_node{.size = 4}, across{.size = 2, .stride = 4};
  const std::vector<std::pair<CollectiveKind, RankGroups>> expected = {
      {CollectiveKind::reduce_scatter, in_node},
      {CollectiveKind::all_to_all, across},
      {CollectiveKind::all_to_all, across},
      {CollectiveKind::all_gather, in_node}};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    CHECK(calls[i].kind == expected[i].first);
    CHECK(calls[i].groups == expected[i].second);
    const bool is_across = calls[i].kind == CollectiveKind::all_to_all;
    CHECK(calls[i].bytes.value == near(64.0 * 4 * 4 / (is_across ? 4 : 1)));
  }
  experiment.strategies.resize(1);
  CHECK(run_once(experiment, experiment.strategies.front(), {}).time.value > 0.0);
}

TEST_CASE("what cannot be placed is refused by name") {
  RecommendationJob job = small_job();
  job.tables[1].ranks = {4};
  CHECK_THROWS_WITH_AS(recommendation_program(job, cluster_of(2)), "table 'b': there is no rank 4 of 2",
                       InfeasibleError);
  job = small_job();
  job.tables[2].sharding = TableSharding::column;
  job.tables[2].ranks = {0, 1, 2};
  CHECK_THROWS_WITH_AS(recommendation_program(job, cluster_of(4)),
                       "table 'c': its 8 columns cannot be divided among 3 ranks", InfeasibleError);
  job = small_job();
  job.batch = 63;
  CHECK_THROWS_WITH_AS(recommendation_program(job, cluster_of(2)),
                       "a batch of 63 samples cannot be divided among 2 ranks", InfeasibleError);
  job = small_job();
  job.tables[0].sharding = TableSharding::grid;
  CHECK_THROWS_WITH_AS(recommendation_program(job, cluster_of(2)),
                       "table 'a': sharding by grid requires several nodes", InfeasibleError);
  job = small_job();
  job.tables[0].rows = 20'000'000'000;
  CHECK_THROWS_WITH_AS(recommendation_program(job, cluster_of(2)),
                       doctest::Contains("rank 0 holds 640.0 GB of tables, and its GPU has"), InfeasibleError);
}

}  // namespace c3::recommendation_step_test
