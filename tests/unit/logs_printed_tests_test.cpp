/// Tables of times as the versions and options of nccl-tests and rccl-tests print and write them.

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "importers/collective_times/measured_tables.hpp"
#include "tests/support/near.hpp"
#include "tests/support/printed_tests.hpp"
#include "tests/unit/config_files.hpp"

namespace c3::logs_printed_tests_test {
namespace {

MeasuredTables tables(const std::string& text, std::optional<CollectiveKind> op = std::nullopt) {
  const ScratchFolder folder;
  return read_measured_tables(HeadedTable(folder.write("t.txt", text)), {}, op);
}

std::string refusal(const std::string& text) {
  return error_of([&] { tables(text); });
}

const std::string kTwoRows = printed_row(1048576, 41.21, 40.88) + printed_row(2097152, 52.5, 53.5);
const std::string kPlain = printed_head() + printed_columns() + kTwoRows + kPrintedFoot;

void check_two_rows(const MeasuredTables& read) {
  CHECK(read.broken == std::vector<std::string>());
  REQUIRE(read.tables.size() == 1);
  REQUIRE(read.tables[0].rows.size() == 2);
  CHECK(read.tables[0].kind == CollectiveKind::all_reduce);
  CHECK(read.tables[0].ranks == 8);
  CHECK(read.tables[0].rows[0].out_of_place->value == near(41.21e-6));
  CHECK(read.tables[0].rows[0].in_place->value == near(40.88e-6));
  CHECK(read.tables[0].rows[1].time.value == near(52.5e-6));
}

}  // namespace

TEST_CASE("the output of nccl-tests says its collective, GPUs, hosts and the library's release") {
  const auto read = tables(kPlain);
  check_two_rows(read);
  CHECK(read.tables[0].hosts == 1);
  CHECK(read.tables[0].library == "NCCL 2.27.3");
  CHECK(read.tables[0].redop == "sum");
}

TEST_CASE("a time stamp of two words ends each row (-S 1)") {
  const std::string stamp = "  2026-11-29 10:11:12\n";
  const auto stamped = [&](std::string row) { return row.replace(row.size() - 1, 1, stamp); };
  check_two_rows(tables(printed_head() + printed_columns("time", "", "          timestamp") +
                        stamped(printed_row(1048576, 41.21, 40.88)) +
                        stamped(printed_row(2097152, 52.5, 53.5))));
}

TEST_CASE("the spread of iterations is read, of the place whose time counts (-I 1)") {
  const auto read = tables(
      printed_head() + printed_columns("time", "  i_min  i_max  i_p99  i_cv%") +
      "1048576 262144 float sum -1 41.21 25.4 44.5 0 40.0 45.0 44.9 2.1 40.88 25.6 44.8 0 39.0 44.0 43.9 1.1\n"
      "2097152 524288 float sum -1 52.50 25.4 44.5 0 50.0 55.0 54.9 2.5 53.50 25.6 44.8 0 49.0 64.0 63.9 "
      "9.1\n");
  check_two_rows(read);
  const MeasuredCollective& in_place = read.tables[0].rows[0];
  REQUIRE(in_place.spread);
  CHECK(in_place.spread->least.value == near(39e-6));
  CHECK(in_place.spread->most.value == near(44e-6));
  CHECK(in_place.spread->p99.value == near(43.9e-6));
  CHECK(in_place.spread->cv_percent == near(1.1));
  REQUIRE(read.tables[0].rows[1].spread);
  CHECK(read.tables[0].rows[1].spread->cv_percent == near(2.5));
}

TEST_CASE("host times are refused by name, once (-C 1)") {
  const auto read = tables(printed_head() + printed_columns("cputime") + kTwoRows);
  CHECK(read.tables.empty());
  REQUIRE(read.broken.size() == 1);
  CHECK(read.broken[0] == Part{"cputime: is how long the host took to start the calls (nccl-tests -C 1)"});
}

TEST_CASE("alltoallv_perf is refused by name") {
  CHECK(refusal(printed_head({.program = "alltoallv_perf"}) + printed_columns() + kTwoRows) ==
        Part{"collective: all_to_all_v is not compared: the file does not say how much each GPU sends"});
  CHECK(refusal(printed_head({.program = "hypercube_perf"}) + printed_columns() + kTwoRows) ==
        Part{"unknown operation 'hypercube_perf'"});
}

TEST_CASE("a size that is measured in several cycles has one row that says how many (-N 3)") {
  const auto read = tables(printed_head() + printed_columns() + printed_row(1048576, 45, 46) +
                           printed_row(1048576, 44, 41) + printed_row(1048576, 42, 43));
  REQUIRE(read.tables.size() == 1);
  REQUIRE(read.tables[0].rows.size() == 1);
  const MeasuredCollective& row = read.tables[0].rows[0];
  CHECK(row.repetitions == 3);
  CHECK(row.time.value == near(41e-6));
  CHECK(row.out_of_place->value == near(42e-6));
  CHECK(row.is_in_place());
}

TEST_CASE("types keep their names, and reductions are tables of their own (-d all, -o all)") {
  const auto read =
      tables(printed_head() + printed_columns() + printed_row(1048576, 45, 46, "double") +
             printed_row(1048576, 44, 41) + printed_row(1048576, 42, 43, "int32") +
             printed_row(1048576, 32, 33, "int8", "max") + printed_row(1048576, 30, 31, "f8e4m3", "max"));
  REQUIRE(read.tables.size() == 2);
  const auto& sums = read.tables[0].rows;
  REQUIRE(sums.size() == 3);
  CHECK(sums[0].other_type.name == "double");
  CHECK(sums[0].other_type.element == Bytes{8.0});
  CHECK(sums[1].other_type.name.empty());
  CHECK(sums[1].dtype == DType::fp32);
  CHECK(sums[2].other_type.name == "int32");
  CHECK(read.tables[1].redop == "max");
  REQUIRE(read.tables[1].rows.size() == 2);
}

TEST_CASE("marks of launchers before each line are none of it") {
  for (const std::string mark : {"[1,0]<stdout>:", "[1,0]<stdout>: ", "[prterun-node-0-17@1,12]<stdout>: ",
                                 "0: ", " 3: ", "12: ", "[rank0]:", "[default0]: "}) {
    CAPTURE(mark);
    check_two_rows(tables(marked(kPlain, mark)));
  }
}

TEST_CASE("messages of NCCL_DEBUG stand between rows, with marks of launchers or without") {
  const std::string message = "node-0:4000:4000 [0] NCCL INFO 24 coll channels, 16 nvls channels\n";
  const std::string text = printed_head() + message + printed_columns() + printed_row(1048576, 41.21, 40.88) +
                           message + printed_row(2097152, 52.5, 53.5) + message;
  check_two_rows(tables(text));
  check_two_rows(tables(marked(text, "[1,0]<stdout>:")));
}

TEST_CASE("two tests in one file are two tables, each of its own GPUs") {
  const std::string second =
      printed_head({.program = "all_gather_perf", .gpus_of_host = 4}) +
      printed_columns("time", "", "timestamp") +
      "4194304 262144 float none -1 21.5 1.0 1.0 0 20.5 1.0 1.0 N/A 2026-11-29 10:11:12\n" + kPrintedFoot;
  for (const std::string mark : {"", "0: "}) {
    const auto read = tables(marked(kPlain + second, mark));
    CHECK(read.broken.empty());
    REQUIRE(read.tables.size() == 2);
    CHECK(read.tables[0].ranks == 8);
    CHECK(read.tables[0].rows.size() == 2);
    CHECK(read.tables[1].kind == CollectiveKind::all_gather);
    CHECK(read.tables[1].ranks == 4);
    CHECK(read.tables[1].rows[0].time.value == near(20.5e-6));
    CHECK(read.tables[1].redop.empty());
  }
  // Some versions do not name their program: the caller says what they are.
  const std::string unnamed = printed_head({.program = "", .release = ""}) + printed_columns() + kTwoRows;
  CHECK(tables(unnamed + unnamed, CollectiveKind::broadcast).tables.at(0).rows.at(0).repetitions == 2);
  CHECK(refusal(unnamed) == Part{"collective: neither a column"});
}

TEST_CASE("a row that is cut off is named, and the others stay") {
  const auto read = tables(printed_head() + printed_columns() + kTwoRows + "  4194304  1048576  float  su");
  REQUIRE(read.tables.size() == 1);
  CHECK(read.tables[0].rows.size() == 2);
  REQUIRE(read.broken.size() == 1);
  CHECK(read.broken[0] == Part{"row: has 4 words, its header 13"});
}

TEST_CASE("numbers that other programs print before the table are none of it") {
  check_two_rows(tables("10 20 GB free\n" + kPlain));
  CHECK(refusal("10 20 GB free\n") == Part{"size_bytes: the column is missing"});
}

TEST_CASE("groups of ranks that run side by side count one by one (NCCL_TESTS_SPLIT)") {
  std::string text = kPlain;
  for (int rank = 4; rank < 8; ++rank) {
    const std::string rank_line = fmt::format("Rank {:2} Group  ", rank);
    text.replace(text.find(rank_line) + rank_line.size(), 1, "1");
  }
  CHECK(tables(text).tables.at(0).ranks == 4);
}

TEST_CASE("one place alone is the place that the header names (rccl-tests -O 0)") {
  const std::string columns = "# size count type redop root time algbw busbw #wrong\n";
  const std::string row = "1048576 262144 float sum -1 41.21 1.0 1.0 0\n";
  const auto inside = tables(printed_head() + "#          in-place\n" + columns + row);
  CHECK(inside.tables.at(0).rows.at(0).is_in_place());
  const auto outside = tables(printed_head() + "#          out-of-place\n" + columns + row);
  CHECK_FALSE(outside.tables.at(0).rows.at(0).in_place);
  CHECK(outside.tables.at(0).rows.at(0).out_of_place->value == near(41.21e-6));
}

TEST_CASE("rccl-tests names its library, and its column of event times is no other time") {
  std::string text =
      printed_head({.gpu = "AMD Instinct MI300X"}) +
      "#      out-of-place          in-place\n"
      "# size count type redop root time hipevt algbw busbw #wrong time hipevt algbw busbw #wrong\n"
      "1048576 262144 float sum -1 41.21 9.0 1.0 1.0 0 40.88 9.5 1.0 1.0 0\n";
  const std::string nccl = "# nccl-tests version 2.19.6 nccl-headers=22703 nccl-library=22703";
  text.replace(text.find(nccl), nccl.size(),
               "# rccl-tests version 2.17.8-ab12 rccl-headers=22606 rccl-library=22606");
  const auto read = tables(text);
  CHECK(read.tables.at(0).library == "RCCL 2.26.6");
  CHECK(read.tables.at(0).rows.at(0).time.value == near(40.88e-6));
}

TEST_CASE("rccl-tests says how each size was run (-A 1)") {
  const ScratchFolder folder;
  const HeadedTable file(
      folder.write("t.txt", printed_head() + printed_columns("time", "", "algo proto nchannels") +
                                "1048576 262144 float sum -1 41 1 1 0 40 1 1 0 Ring LL128 32\n"
                                "2097152 524288 float sum -1 52 1 1 0 53 1 1 0 Tree Simple 48\n"));
  REQUIRE(file.log().choices.size() == 2);
  CHECK(file.log().choices[0].kind == CollectiveKind::all_reduce);
  CHECK(file.log().choices[0].bytes == Bytes{1048576.0});
  CHECK(file.log().choices[0].algorithm == "ring");
  CHECK(file.log().choices[0].protocol == "ll128");
  CHECK(file.log().choices[1].channels == 48);
}

TEST_CASE("the CSV of rccl-tests has a row for each place and cycle (-Z csv)") {
  const auto read = tables(
      "numCycle,collective,nodes,ranks,ranksPerNode,gpusPerRank,size,type,redop,inplace,time,algbw,busbw,#"
      "wrong\n"
      "0,AllReduce,2,4,2,4,1048576,float,sum,0,45,1,1,0\n0,AllReduce,2,4,2,4,1048576,float,sum,1,44,1,1,0\n"
      "1,AllReduce,2,4,2,4,1048576,float,sum,0,43,1,1,0\n1,AllReduce,2,4,2,4,1048576,float,sum,1,46,1,1,N/A\n");
  CHECK(read.broken.empty());
  REQUIRE(read.tables.size() == 1);
  CHECK(read.tables[0].ranks == 16);
  CHECK(read.tables[0].nodes == 2);
  REQUIRE(read.tables[0].rows.size() == 1);
  const MeasuredCollective& row = read.tables[0].rows[0];
  CHECK(row.repetitions == 2);
  CHECK(row.out_of_place->value == near(43e-6));
  CHECK(row.in_place->value == near(44e-6));
  CHECK_FALSE(row.is_in_place());
  CHECK(tables("numCycle,collective,gpus,size,type,redop,inplace,time\n0,AllReduce,8,8,float,sum,2,4\n")
            .broken.at(0) == Part{"t.txt:2:27: inplace: '2' must be 0 or 1"});
}

TEST_CASE("the JSON of rccl-tests says the same (-Z json)") {
  const auto read = tables(
      "[\n{\"numCycle\":0, \"name\":\"AllReduce\", \"gpus\":8, \"size\":1048576, \"type\":\"float\", "
      "\"redop\":\"sum\", "
      "\"inPlace\":0, \"time\":45.5, \"algBw\":1, \"busBw\":1, \"wrong\":\"0\"},\n"
      "{\"numCycle\":0, \"name\":\"AllReduce\", \"gpus\":8, \"size\":1048576, \"type\":\"float\", "
      "\"redop\":\"sum\", "
      "\"inPlace\":1, \"time\":44.5, \"algBw\":1, \"busBw\":1, \"wrong\":\"N/A\"}\n]\n");
  REQUIRE(read.tables.size() == 1);
  CHECK(read.tables[0].ranks == 8);
  CHECK(read.tables[0].kind == CollectiveKind::all_reduce);
  REQUIRE(read.tables[0].rows.size() == 1);
  CHECK(read.tables[0].rows[0].is_in_place());
  CHECK(read.tables[0].rows[0].out_of_place->value == near(45.5e-6));
}

}  // namespace c3::logs_printed_tests_test
