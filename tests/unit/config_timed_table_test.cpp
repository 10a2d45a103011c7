#include <doctest/doctest.h>

#include <fstream>
#include <string>

#include "configs/tables/timed_table.hpp"
#include "configs/toml/config_error.hpp"
#include "tests/support/near.hpp"
#include "tests/support/temporary_folder.hpp"

namespace c3::config_timed_table_test { namespace {

class Table {
 public:
  explicit Table(const std::string& text) { std::ofstream(path()) << text; }
  std::filesystem::path path() const { return folder_ / "t.csv"; }
  InvocationTable kernels(const TimedColumns& columns = {}) const { return read_invocations(path(), columns); }
  /// What is wrong, without the name of the file.
  std::string error(const TimedColumns& columns = {}) const {
    try {
      kernels(columns);
    } catch (const ConfigError& wrong) {
      return std::string(wrong.what()).substr(path().string().size());
    }
    return "";
  }

 private:
  TemporaryFolder folder_;
};

TEST_CASE("columns are found by what they are called, and a unit in a name is taken") {
  for (const char* header : {"name,duration_ns", "Kernel Name,Duration (ns)", "kernel,ns", "NAME,Time [ns]"}) {
    CAPTURE(header);
    const InvocationTable table = Table(std::string(header) + "\nk,1500\nk,500\n").kernels();
    REQUIRE(table.invocations.size() == 2);
    CHECK(table.invocations.name(0) == "k");
    CHECK(table.invocations.duration(0).value == near(1.5e-6));
    CHECK_FALSE(table.unit_assumed);
  }
}

TEST_CASE("without a unit times are microseconds, or what the caller says") {
  const Table table("name,duration\nk,2\n");
  CHECK(table.kernels().unit_assumed);
  CHECK(table.kernels().invocations.duration(0).value == near(2e-6));
  CHECK(table.kernels({.unit = "ms"}).invocations.duration(0).value == near(2e-3));
}

TEST_CASE("quoted names keep their commas, other columns and comments are passed over") {
  const Table table("# made by hand\nid,name,x,duration_us\n1,\"f<a, b>(int)\",7,3\n\n2,g,8,4\r\n");
  const InvocationTable read = table.kernels();
  REQUIRE(read.invocations.size() == 2);
  CHECK(read.invocations.name(0) == "f<a, b>(int)");
  CHECK(read.invocations.total().value == near(7e-6));
}

TEST_CASE("a table of several pieces is read whole, and mistakes have their line") {
  std::string text = "name,us\n";
  for (int i = 0; i < 300'000; ++i)
    text += "kernel" + std::to_string(i % 10) + ",1\n";
  const Table table(text);
  CHECK(table.kernels().invocations.size() == 300'000);
  CHECK(table.kernels().invocations.names().size() == 10);
  CHECK(Table(text + "k,x\n").error() == ":300002:3: time: 'x' is not a number of at least 0");
}

TEST_CASE("a broken table says what is wrong and what is allowed") {
  CHECK(Table("").error() == ":1:1: header: is missing: the file has no line");
  CHECK(Table("name,us\n").error() == ":1:1: row: is missing: the table has no row");
  CHECK(Table("name,us\nk,-1\n").error() == ":2:3: time: '-1' is not a number of at least 0");
  CHECK(Table("name,us\nk,nan\n").error() == ":2:3: time: 'nan' is not a number of at least 0");
  CHECK(Table("name,us\nk\n").error() == ":2:1: row: has 1 cells, the header 2");
  CHECK(Table("name,size\nk,1\n").error() ==
        ":1:1: header: lacks a column, one of duration, time or latency, with or without a unit as in "
        "duration_us, "
        "or ms; it has name, size");
  CHECK(Table("op,us\nk,1\n").error() ==
        ":1:1: header: lacks a column, one of name, kernel, kernel name; it has op, us");
  CHECK(Table("op,us\nk,1\n").error({.key = "opp"}) ==
        ":1:1: header: unknown column 'opp'; did you mean 'op'? known: op, us");
  CHECK(Table("op,us\nk,1\n").kernels({.key = "op"}).invocations.size() == 1);
}

TEST_CASE("a log of iterations has lengths and times, without the first of an epoch") {
  const Table table(
      "run,epoch,iteration,ms,tokens_per_sentence\n0,0,0,451,65.2\n0,0,10,105,40.7\n0,0,20,155,65.7\n");
  const IterationTable log = read_iterations(table.path(), {});
  CHECK(log.warm_ups == 1);
  REQUIRE(log.iterations.size() == 2);
  CHECK(log.iterations[0].length == 40.7);
  CHECK(log.iterations[1].time.value == near(0.155));
}

}}  // namespace c3::config_timed_table_test
