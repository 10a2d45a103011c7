// Tables of measured collectives: reading them, and scoring them by hand.

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstdlib>
#include <stdexcept>

#include "engine/errors.hpp"
#include "importers/collective_times/error_score.hpp"
#include "importers/collective_times/library_release.hpp"
#include "importers/collective_times/measured_tables.hpp"
#include "studies/collectives/experts_part.hpp"
#include "studies/collectives/systems_map.hpp"
#include "studies/collectives/table_run.hpp"
#include "studies/simulations.hpp"
#include "tests/support/near.hpp"
#include "tests/unit/config_files.hpp"

namespace c3::studies_collectives_test {
namespace {

/// What is read of a file with \p text.
importers::MeasuredTables tables(const std::string& text, const std::vector<CellFilter>& filters = {},
                                 std::optional<CollectiveKind> op = std::nullopt) {
  const ScratchFolder folder;
  return read_measured_tables(HeadedTable(folder.write("t.csv", text)), filters, op);
}

SystemsMap map_of(const std::string& text) {
  const ScratchFolder folder;
  return read_systems_map(folder.write("map.csv", text));
}

const std::string kPrinted =
    "# nThread 1 nGpus 1 minBytes 8 maxBytes 32 step: 2(factor) warmup iters: 5 iters: 20 graph: 0\n"
    "#  Rank  0 Group  0 Pid  6899 on node-a device  0 [0000:04:00] NVIDIA H100 80GB HBM3\n"
    "#  Rank  1 Group  0 Pid  6900 on node-a device  1 [0000:05:00] NVIDIA H100 80GB HBM3\n"
    "#                                                       out-of-place                in-place\n"
    "#  size  count  type  redop  root  time  algbw  busbw #wrong  time  algbw  busbw #wrong\n"
    "#   (B)  (elements)                (us)  (GB/s) (GB/s)         (us)  (GB/s) (GB/s)\n"
    "node-a:6899:6899 [0] NCCL INFO Bootstrap, using eth0\n"
    "      16      4  float    sum    -1  14.9   0.00   0.00      0  13.2   0.00   0.00      0\n"
    "       8      2  float    sum    -1  68.1   0.00   0.00      0  13.5   0.00   0.00    N/A\n"
    "# Avg bus bandwidth    : 98.1\n";

}  // namespace

TEST_CASE("a table's columns go by their names, and the least time of a size counts") {
  // Out of place the first row is disturbed, in place the second. Size 0 is no measurement.
  const auto read = tables(
      "# collective: all_gather\n# gpus_total: 16\n# nodes: 2\n"
      "dtype,ip_time_us,size_bytes,ip_busbw,oop_time_us\n"
      "float,0.2,0,,0.2\n"
      "half,24.7,8,0,68.5\n"
      "half,129.0,4194304,0,51.5\n");
  REQUIRE(read.tables.size() == 1);
  CHECK(read.broken.empty());
  const CollectiveTable& table = read.tables[0];
  CHECK(table.name == "t");
  CHECK(table.kind == CollectiveKind::all_gather);
  CHECK(table.ranks == 16);
  CHECK(table.nodes == 2);
  REQUIRE(table.rows.size() == 2);
  CHECK(table.rows[0].bytes == Bytes{8.0});
  CHECK(table.rows[0].time.value == near(24.7e-6));
  CHECK(table.rows[0].dtype == DType::fp16);
  CHECK(table.rows[0].line == 6);
  CHECK(table.rows[1].time.value == near(51.5e-6));
}

TEST_CASE("one column of times is enough, and a cell may be empty") {
  const auto read =
      tables("size_bytes,op,oop_time_us,ip_time_us\n8,all_reduce,,3\n16,all_reduce,4,\n32,all_reduce,,\n");
  REQUIRE(read.tables.size() == 1);
  REQUIRE(read.tables[0].rows.size() == 2);
  CHECK(read.tables[0].rows[0].time.value == near(3e-6));
  CHECK(read.tables[0].rows[1].time.value == near(4e-6));
  CHECK(tables("bytes,op,ms\n8,all_reduce,0.5\n").tables[0].rows[0].time.value == near(0.5e-3));
}

TEST_CASE("what nccl-tests prints is read as it is") {
  const auto read = tables(kPrinted, {}, CollectiveKind::all_reduce);
  REQUIRE(read.tables.size() == 1);
  CHECK(read.broken.empty());
  CHECK(read.tables[0].ranks == 2);
  REQUIRE(read.tables[0].rows.size() == 2);
  CHECK(read.tables[0].rows[0].bytes == Bytes{8.0});
  CHECK(read.tables[0].rows[0].time.value == near(13.5e-6));
  CHECK(read.tables[0].rows[1].time.value == near(13.2e-6));
  // Rows alone, as grep leaves them, of a version that printed no root.
  const auto bare = tables("  8  2  float  sum  9.5  0.0  0.0  0e+00  9.7  0.0  0.0  0e+00\n", {},
                           CollectiveKind::all_reduce);
  CHECK(bare.tables[0].rows[0].time.value == near(9.5e-6));
  CHECK(tables("# Collective test starting: reduce_scatter_perf\n" + kPrinted).tables[0].kind ==
        CollectiveKind::reduce_scatter);
}

TEST_CASE("a file of several operations is several tables, and a filter takes some rows") {
  const std::string text =
      "system,op,num_gpus,bytes,dtype,ms\n"
      "a,all_gather,2,1024,half,0.1\na,alltoall,2,1024,half,0.2\nb,all_gather,2,1024,half,0.3\n"
      "a,all_gather,8,1024,half,0.4\na,all_gather,8,1024,half,0.35\na,all_gather,8,1024,int8,0.5\n";
  const auto read = tables(text, {{"system", "A"}});
  REQUIRE(read.tables.size() == 3);
  CHECK(read.tables[0].name == "t a all_gather 2");
  CHECK(read.tables[1].name == "t a all_to_all 2");
  CHECK(read.tables[2].name == "t a all_gather 8");
  REQUIRE(read.tables[2].rows.size() == 2);  // one for each type
  CHECK(read.tables[2].rows[0].time.value == near(0.35e-3));
  CHECK(tables(text, {{"system", "a"}}, CollectiveKind::all_to_all).tables.size() == 1);
  CHECK(error_of([&] {
          tables(text, {{"machine", "a"}});
        }) == Part{"t.csv:1:1: machine: the column is missing"});
}

TEST_CASE("tables that say nothing sensible are refused with their place") {
  const auto refusal = [](const std::string& text) { return error_of([&] { tables(text); }); };
  CHECK(refusal("") == Part{"t.csv:1:1: header: is missing: the file is empty"});
  CHECK(refusal("8,2,float,3\n") == Part{"t.csv:1:1: header: is missing: the first line has numbers"});
  CHECK(refusal("size_bytes,op,size_bytes\n") == Part{"t.csv:1:15: size_bytes: is there twice"});
  CHECK(refusal("count,time_us\n") ==
        Part{"t.csv:1:1: size_bytes: the column is missing: the size of the buffer"});
  CHECK(refusal("size,op\n") == Part{"t.csv:1:1: time_us: the column is missing"});
  CHECK(refusal("size,time_us\n8,1\n") == Part{"t.csv:1:1: collective: neither a column"});
  CHECK(refusal("# collective: all_gater\nsize,time_us\n8,1\n") == Part{"did you mean 'all_gather'?"});
  CHECK(refusal("# nodes: two\nsize,time_us,op\n") == Part{"nodes: 'two' is no number of them"});
}

TEST_CASE("a byte order mark before the first comment is none of it, and a line of returns is empty") {
  const auto read = tables("\xEF\xBB\xBF# collective: all_gather\nsize_bytes,time_us\n8,3.5\n");
  REQUIRE(read.tables.size() == 1);
  CHECK(read.tables[0].kind == CollectiveKind::all_gather);
  CHECK_THROWS_AS(tables("# collective: all_gather\n\r \r\n"), ConfigError);
}

TEST_CASE("a broken row costs itself and no other") {
  const auto read = tables(
      "size,op,time_us\n8,all_reduce,fast\n-8,all_reduce,1\n8,all_redcue,1\n8,all_reduce\n8,all_reduce,2\n");
  REQUIRE(read.tables.size() == 1);
  CHECK(read.tables[0].rows.size() == 1);
  REQUIRE(read.broken.size() == 4);
  CHECK(read.broken[0] == Part{"t.csv:5:3: row: has 2 cells, the header 3"});
  CHECK(read.broken[1] == Part{"t.csv:2:14: time_us: 'fast' is no time"});
  CHECK(read.broken[2] == Part{"t.csv:3:1: size: '-8' is no number of bytes"});
  CHECK(read.broken[3] == Part{"t.csv:4:3: op: unknown operation 'all_redcue'"});
}

TEST_CASE("a row of the map says how its table was measured, in any case and order") {
  const auto map = map_of(
      "launch,file,System,nodes,algorithm,protocol,where,sets\n"
      "Graph,a.csv,mi300x-8,1,RING,Simple,system=x; op = y,link_payload\n"
      ",b.csv,h100-sxm-8,,default,auto,,\n");
  REQUIRE(map.entries.size() == 2);
  CHECK(map.broken.empty());
  const MapEntry& graph = map.entries[0];
  CHECK(graph.launch == LaunchPath::graph);
  CHECK(graph.wish.algorithm == Algorithm::ring);
  CHECK(graph.wish.protocol == Protocol::simple);
  CHECK(graph.nodes == 1);
  CHECK(graph.sets == "link_payload");
  REQUIRE(graph.where.size() == 2);
  CHECK(graph.where[1].column == "op");
  CHECK(graph.where[1].value == "y");
  const MapEntry& chosen = map.entries[1];
  CHECK(chosen.launch == LaunchPath::eager);
  CHECK(chosen.wish.algorithm == std::nullopt);
  CHECK(!chosen.wish.protocol);
  CHECK(chosen.nodes == std::nullopt);
}

TEST_CASE("a row of the map limits channels and overrides keys, queue pairs first") {
  const auto map = map_of(
      "file,system,channels,min_channels,qps,set\n"
      "a.csv,h100-sxm-8,16,4,2,node.gpus=4; library.pxn = true\n"
      "b.csv,h100-sxm-8,,,,\n");
  REQUIRE(map.entries.size() == 2);
  CHECK(map.entries[0].wish.channels == ChannelLimits{.least = 4, .most = 16});
  CHECK(map.entries[0].overrides ==
        std::vector<std::string>{"library.qps=2", "node.gpus=4", "library.pxn=true"});
  CHECK(map.entries[1].wish.channels == ChannelLimits{});
  CHECK(map.entries[1].overrides.empty());
  const auto cluster = load_system(map.entries[0]);
  CHECK(cluster->library.qps == 2);
  CHECK(cluster->library.pxn);
  CHECK(cluster->node.gpus == 4);
  const auto broken =
      map_of("file,system,channels,min_channels,set\na.csv,h100-sxm-8,4,8,\nb.csv,h100-sxm-8,,,gpus\n").broken;
  REQUIRE(broken.size() == 2);
  CHECK(broken[0] == Part{"map.csv:2:20: min_channels: must not be above channels (4)"});
  CHECK(broken[1] == Part{"set: 'gpus' is not of the form key=value"});
  const auto unknown = map_of("file,system,set\na.csv,h100-sxm-8,library.qbs=4\n");
  CHECK(error_of([&] { load_system(unknown.entries.at(0)); }) == Part{"map.csv:2:18: set: --set:1:"});
}

TEST_CASE("mistakes in the map are named with their place") {
  CHECK(error_of([] { map_of("file,node\n"); }) == Part{"map.csv:1:1: node: unknown column 'node'"});
  CHECK(error_of([] { map_of("file\n"); }) == Part{"map.csv:1:1: system: the column is missing"});
  const auto broken = [](const std::string& row) {
    const auto map = map_of("file,system,nodes,algorithm,protocol,launch,where\n" + row + "\n");
    CHECK(map.entries.empty());
    CHECK(map.files.size() == 1);
    return map.broken.at(0);
  };
  CHECK(broken("a.csv,mi300-8,,,,,") == Part{"map.csv:2:7: system: unknown system 'mi300-8'"});
  CHECK(broken("a.csv,mi300-8,,,,,") == Part{"did you mean 'mi300x-8'?"});
  CHECK(broken("a.csv,,,,,,") == Part{"map.csv:2:7: system: is missing"});
  CHECK(broken(",mi300x-8,,,,,") == Part{"map.csv:2:1: file: is missing"});
  CHECK(broken("a.csv,mi300x-8,0,,,,") ==
        Part{"map.csv:2:16: nodes: must be a whole number from 1 on, not '0'"});
  CHECK(broken("a.csv,mi300x-8,,rings,,,") == Part{"algorithm: unknown algorithm 'rings'"});
  CHECK(broken("a.csv,mi300x-8,,,LL12,,") == Part{"protocol: unknown protocol 'LL12'"});
  CHECK(broken("a.csv,mi300x-8,,,,lazy,") == Part{"launch: unknown launch 'lazy'"});
  CHECK(broken("a.csv,mi300x-8,,,,,system") == Part{"where: 'system' is not of the form column=value"});
}

TEST_CASE("a table's software says the release of its library, or the ROCm that contains it") {
  const auto nccl = [](std::string_view text) { return library_release(text, TunerRules::nccl); };
  const auto rccl = [](std::string_view text) { return library_release(text, TunerRules::rccl); };
  CHECK(nccl("NCCL 2.26.2 CUDA 12.8") == LibraryVersion{2, 26, 2});
  CHECK(nccl("aws-ofi-nccl 1.7.3, nccl-2.27.3") == LibraryVersion{2, 27, 3});
  CHECK(nccl("NCCL 2.4.8") == kOldestNccl);
  CHECK_FALSE(nccl("CUDA 12.8"));
  CHECK(rccl("RCCL 2.22.3 develop, ROCm 6.3.0") == LibraryVersion{2, 22, 3});
  CHECK(rccl("ROCm 6.2.1, libfabric 1.23, aws-ofi-rccl") == kOldestRccl);
  CHECK(rccl("ROCm 6.4.1") == LibraryVersion{2, 22, 3});
  CHECK(rccl("ROCm 7") == LibraryVersion{2, 26, 6});
  CHECK(rccl("rocm-7.2.0") == LibraryVersion{2, 27, 7});
  CHECK(rccl("RCCL 2.30.4") == kNewestRccl);
  CHECK_FALSE(rccl("rccl-tests develop a52452e; ROCm not stated"));
}

TEST_CASE("errors are medians over rows, and a table with many rows does not rule the median table") {
  // Signed errors -30, 10 and 20 %: absolute 10, 20, 30.
  const auto score = score_of({-30.0, 10.0, 20.0});
  REQUIRE(score.has_value());
  CHECK(score->rows == 3);
  CHECK(score->median == near(20.0));
  CHECK(score->p90 == near(28.0));
  CHECK(score->bias == near(10.0));
  CHECK(score_of({}) == std::nullopt);
}

TEST_CASE("a token goes once to each rank that has one of its experts") {
  // One expert: one rank. All experts: all ranks. 2 of 4 experts on 2 ranks: both on one rank in 2 of 6
  // choices.
  CHECK(destinations({7168, 1, 256}, 8) == near(1.0));
  CHECK(destinations({7168, 256, 256}, 8) == near(8.0));
  CHECK(destinations({7168, 2, 4}, 2) == near(2.0 * 2.0 / 3.0 + 1.0 / 3.0));
  CHECK(dispatched_token({7168, 8, 256}) == Bytes{7168.0 + 224.0});
  CHECK(combined_token({7168, 8, 256}) == Bytes{14336.0});
}

TEST_CASE("simulations run in processes of their own, and what came of them comes back in their order") {
  SimulationJobs jobs;
  std::vector<std::string> got;
  int here = 0;
  for (int i = 1; i <= 50; ++i)
    jobs.push_back({.run =
                        [&here, i] {
                          here = i;
                          return SimulatedTime{.time = Seconds{static_cast<double>(i)},
                                               .said = fmt::format("row {}", i)};
                        },
                    .take =
                        [&got](const SimulatedTime& time) {
                          got.push_back(fmt::format("{} {}", time.time->value, time.said));
                        }});
  jobs.push_back({.run = []() -> SimulatedTime { throw InfeasibleError("no such link"); },
                  .take =
                      [&got](const SimulatedTime& time) {
                        CHECK_FALSE(time.time.has_value());
                        got.push_back(time.said);
                      }});
  run_simulations(jobs, [](std::size_t done, std::size_t total) { CHECK(done <= total); });
  REQUIRE(got.size() == 51);
  CHECK(got[0] == "1 row 1");
  CHECK(got[49] == "50 row 50");
  CHECK(got[50] == "no such link");
  CHECK(here == 0);
}

TEST_CASE("a simulation that fails or dies is an error, and never a missing row") {
  const auto run = [](const std::function<SimulatedTime()>& simulation) {
    run_simulations({{.run = simulation, .take = [](const SimulatedTime&) {}}},
                    [](std::size_t, std::size_t) {});
  };
  CHECK_THROWS_WITH_AS(run([]() -> SimulatedTime { throw std::logic_error("broken"); }), "broken",
                       std::runtime_error);
  CHECK_THROWS_WITH_AS(run([]() -> SimulatedTime { std::_Exit(3); }), "the process of a simulation died",
                       std::runtime_error);
}

}  // namespace c3::studies_collectives_test
