/// The JSON that nccl-tests writes, and texts with mistakes in every format of measured times.

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "files/io_error.hpp"
#include "importers/collective_times/measured_tables.hpp"
#include "tests/support/mutated_text.hpp"
#include "tests/support/near.hpp"
#include "tests/support/printed_tests.hpp"
#include "tests/unit/config_files.hpp"

namespace c3::logs_json_tests_test {
namespace {

struct ReadFile {
  HeadedTable file;
  MeasuredTables found;
};

ReadFile read_file_of(const std::string& text, std::optional<CollectiveKind> op = std::nullopt) {
  const ScratchFolder folder;
  HeadedTable file(folder.write("t.json", text));
  MeasuredTables found = read_measured_tables(file, {}, op);
  return {std::move(file), std::move(found)};
}

/// A job of two processes of four GPUs, with \p rows.
std::string json_job(const std::string& rows, const std::string& program = "/opt/bin/all_reduce_perf") {
  return R"({"version":3,"start_time":"2026-11-29 10:11:12","args":[")" + program +
         R"(","-b","8"],"env":["PATH=\/bin","NCCL_ALGO=Ring","NCCL_DEBUG=INFO"],"nccl_version":22703,)"
         R"("config":{"nthreads":1,"ngpus":4,"minimum_bytes":8,"maximum_bytes":16,"step_factor":2,)"
         R"("warmup_iters":1,"iterations":20,"aggregated_iterations":1,"validation":1,"graph":1,)"
         R"("blocking_collectives":"false","parallel_init":"false","devices":[)"
         R"({"rank":0,"group":0,"pid":40,"hostname":"node-0","device":0,"device_hex":"0000:00:00","device_info":"NVIDIA B200"},)"
         R"({"rank":4,"group":0,"pid":41,"hostname":"node-1","device":0,"device_hex":"0000:00:00","device_info":"NVIDIA B200"}]},)"
         R"("results":[)" +
         rows + R"(],"out_of_bounds":{"count":0,"okay":"true"},"errors":[],"end_time":"2026-11-29 10:11:20"})";
}

std::string json_row(const std::string& inside, const std::string& more = "") {
  return R"({"size":1048576,"count":262144,"type":"float","redop":"sum","root":"    -1",)"
         R"("out_of_place":{"time":41.21,"alg_bw":25.4,"bus_bw":44.5,"nwrong":0.0},"in_place":)" +
         inside + more + R"(,"actual_iterations":20,"experiment_name":""})";
}

const std::string kInside = R"({"time":40.88,"alg_bw":25.4,"bus_bw":44.5,"nwrong":null})";
const std::string kSpread =
    R"(,"in_place_per_iter":{"skipped_iterations":0,"min_us":39.0,"max_us":44.0,"avg_us":41.0,"p50_us":41.0,)"
    R"("p95_us":43.0,"p99_us":43.9,"stdev_us":1.0,"cv_pct":1.1,"times_us":[39.0,44.0]})";

std::string refusal(const std::string& text) {
  return error_of([&] { read_file_of(text); });
}

}  // namespace

TEST_CASE("the JSON of nccl-tests says times, devices, variables and the library's release (-J)") {
  const ReadFile read = read_file_of(json_job(json_row(kInside, kSpread)));
  CHECK(read.found.broken == std::vector<std::string>());
  REQUIRE(read.found.tables.size() == 1);
  const CollectiveTable& table = read.found.tables[0];
  CHECK(table.kind == CollectiveKind::all_reduce);
  CHECK(table.ranks == 8);
  CHECK(table.hosts == 2);
  CHECK(table.library == "NCCL 2.27.3");
  REQUIRE(table.rows.size() == 1);
  CHECK(table.rows[0].out_of_place->value == near(41.21e-6));
  CHECK(table.rows[0].in_place->value == near(40.88e-6));
  REQUIRE(table.rows[0].spread);
  CHECK(table.rows[0].spread->p99.value == near(43.9e-6));
  const LibraryLog& log = read.file.log();
  CHECK(log.gpu() == "NVIDIA B200");
  CHECK(log.graph_launches == true);
  CHECK(log.gpus_per_thread == 4);
  REQUIRE(log.variables.size() == 2);
  CHECK(log.variables.at("NCCL_ALGO").value == "Ring");
}

TEST_CASE("host times in JSON are refused by name, and a row without one place has the other") {
  const ReadFile host = read_file_of(json_job(
      R"({"size":8,"count":2,"type":"float","redop":"sum","root":"-1","in_place":{"cpu_time":4.0,"nwrong":null}})"));
  REQUIRE(host.found.broken.size() == 1);
  CHECK(host.found.broken[0] == Part{"t.json:1:1: results[0].cputime: is how long the host took"});
  const ReadFile one = read_file_of(json_job(json_row("null")));
  CHECK_FALSE(one.found.tables.at(0).rows.at(0).in_place);
}

TEST_CASE("a time that is no number costs its row, which is named") {
  const ReadFile read =
      read_file_of(json_job(json_row(R"({"time":"nan","nwrong":0})") + "," + json_row(kInside)));
  REQUIRE(read.found.tables.at(0).rows.size() == 1);
  REQUIRE(read.found.broken.size() == 1);
  CHECK(read.found.broken[0] == Part{"t.json:1:1: results[0].ip_time_us: 'nan' is no time"});
}

TEST_CASE("JSON that ends too early, is nested too deeply or is of another tool is refused") {
  const std::string whole = json_job(json_row(kInside));
  CHECK(refusal(whole.substr(0, whole.size() / 2)) == Part{"file: is no whole JSON document"});
  CHECK(refusal("{\"a\":" + std::string(64, '[') + std::string(64, ']') + "}") ==
        Part{"file: is nested deeper than 64 levels"});
  CHECK(refusal("{\"a\":\"" + std::string(64, '[') + "\"}") == Part{"is JSON, but neither what nccl-tests -J"});
  CHECK(refusal("{}") == Part{"is JSON, but neither"});
  std::string many = whole;
  many.replace(many.find("\"ngpus\":4"), 9, "\"ngpus\":4000000");
  CHECK(refusal(many) == Part{"config: 1 threads of 4000000 GPUs are no number of them"});
}

TEST_CASE("whatever is wrong with a file of measured times, it is read or refused") {
  const std::string printed = printed_head() + printed_columns() + printed_row(1048576, 41, 42) +
                              "node-0:1:1 [0] NCCL INFO AllReduce: 8 Bytes -> Algo RING proto LL "
                              "channel{Lo..Hi}={0..1}\n" +
                              kPrintedFoot;
  const std::string formats[] = {printed, marked(printed, "[1,0]<stdout>:"),
                                 json_job(json_row(kInside, kSpread)),
                                 "[\n{\"numCycle\":0, \"name\":\"AllReduce\", \"gpus\":8, \"size\":8, "
                                 "\"type\":\"float\", \"redop\":\"sum\", "
                                 "\"inPlace\":1, \"time\":44.5, \"wrong\":\"0\"}\n]\n",
                                 "numCycle,collective,nodes,ranks,ranksPerNode,gpusPerRank,size,type,redop,"
                                 "inplace,time,algbw,busbw,#wrong\n"
                                 "0,AllReduce,2,4,2,4,1048576,float,sum,0,45,1,1,0\n"};
  for (const std::string& text : formats) {
    std::mt19937 random(1);
    std::size_t read = 0;
    for (int turn = 0; turn < 2000; ++turn) {
      const std::string broken = mutated(text, random);
      try {
        read += read_file_of(broken, CollectiveKind::all_reduce).found.tables.size();
      } catch (const ConfigError&) {
      } catch (const IoError&) {
      }
    }
    CHECK(read > 20);  // a mistake in a text costs a row, in JSON mostly the file
  }
}

}  // namespace c3::logs_json_tests_test
