/// A sweep's folder and its table: what is written is read back, whatever is missing is absent and not 0.

#include "results/sweep/sweep_table.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "files/io_error.hpp"
#include "tests/support/temporary_folder.hpp"

namespace c3::results_sweep_test { namespace {

PointNumber number(const std::string& strategy, const std::string& name, double value) {
  return {.strategy = strategy, .name = name, .units = "us", .long_name = "of " + name, .value = value};
}

/// Four points of two keys.
SweepManifest manifest() {
  return {.experiment = "s",
          .file = "s.toml",
          .command_line = "c3sim sweep s.toml",
          .definition = "[sweep]\n",
          .software_version = "0.1.0",
          .git_commit = "abc",
          .axes = {{.spec = {"size", "B", "swept"}, .values = std::vector<double>{1, 2, 1, 2}},
                   {.spec = {"op", "1", "swept"},
                    .values = std::vector<std::string>{"a", "a", "b,\"c\"", "b,\"c\""}}},
          .ids = {"id0", "id1", "id2", "id3"},
          .commands = {"c0", "c1", "c2", "c3"}};
}

/// The first point is done, the second failed, the third has other numbers, the fourth was not run.
class SweptFolder {
 public:
  SweptFolder() : folder(scratch / "sweep") {
    folder.write_manifest(manifest());
    folder.write("id0", {.error = {}, .numbers = {number("cu", "time", 0.1), number("dma", "time", 7)}});
    folder.write("id1", {.status = PointStatus::failed, .error = "x.toml:1:2: no\nsecond line", .numbers = {}});
    folder.write(
        "id2",
        {.status = PointStatus::out_of_memory, .error = "too large", .numbers = {number("cu", "memory", 3)}});
  }

  TemporaryFolder scratch;
  SweepFolder folder;
};

const std::vector<double>& numbers(const SweepTable& table, const std::string& column) {
  REQUIRE(table.find(column) != nullptr);
  return std::get<std::vector<double>>(table.find(column)->values);
}

TEST_CASE("a sweep's folder gives back what was written") {
  const SweptFolder swept;
  const auto read = swept.folder.manifest();
  REQUIRE(read.has_value());
  CHECK(read->ids == manifest().ids);
  CHECK(read->axes[0].spec.units == "B");
  CHECK(std::get<std::vector<std::string>>(read->axes[1].values) ==
        std::get<std::vector<std::string>>(manifest().axes[1].values));
  CHECK(swept.folder.has("id0"));
  CHECK_FALSE(swept.folder.has("id1"));
  CHECK(swept.folder.has_failed("id1"));
  CHECK_FALSE(swept.folder.has_failed("id3"));
  CHECK_FALSE(swept.folder.read("id3").has_value());
  CHECK(swept.folder.read("id0")->numbers[0].value == 0.1);
  CHECK_FALSE(SweepFolder(swept.scratch / "none").manifest().has_value());
}

TEST_CASE("a result takes the place of a failure") {
  const SweptFolder swept;
  swept.folder.write("id1", {.error = {}, .numbers = {number("cu", "time", 2)}});
  CHECK(swept.folder.has("id1"));
  CHECK_FALSE(swept.folder.has_failed("id1"));
  CHECK(swept.folder.read("id1")->status == PointStatus::ok);
}

TEST_CASE("the table has a row a point, and what is absent is absent") {
  const SweptFolder swept;
  const SweepTable table = merge_sweep(swept.folder);
  REQUIRE(table.rows() == 4);
  std::string names;
  for (const ColumnData& column : table.columns)
    names += column.spec.name + " ";
  CHECK(names == "id size op status error cu.time dma.time cu.memory command ");
  CHECK(table.axes == 2);
  CHECK(table.texts("status") == std::vector<std::string>{"ok", "failed", "out_of_memory", "missing"});
  CHECK(table.count("missing") == 1);
  CHECK(numbers(table, "cu.time")[0] == 0.1);
  CHECK(std::isnan(numbers(table, "cu.time")[1]));
  CHECK(std::isnan(numbers(table, "cu.memory")[0]));
  CHECK(numbers(table, "cu.memory")[2] == 3);
  CHECK(sweep_csv(table) ==
        "id,size_B,op,status,error,cu.time_us,dma.time_us,cu.memory_us,command\n"
        "id0,1,a,ok,,0.1,7,,c0\n"
        "id1,2,a,failed,\"x.toml:1:2: no\nsecond line\",,,,c1\n"
        "id2,1,\"b,\"\"c\"\"\",out_of_memory,too large,,,3,c2\n"
        "id3,2,\"b,\"\"c\"\"\",missing,,,,,c3\n");
}

TEST_CASE("a label that a spreadsheet would compute has an apostrophe in the CSV, a negative number has none") {
  SweepTable table{.attributes = {}, .columns = {}, .axes = 0};
  const std::vector<std::string> labels{"=1+cmd|' /C calc'!A0", "+1", "-1", "@x", "\tx", "a=1", ""};
  table.columns.push_back({.spec = {"=label", "1", ""}, .values = labels});
  table.columns.push_back({.spec = {"x", "1", ""}, .values = std::vector<double>(labels.size(), -1.5)});
  CHECK(sweep_csv(table) ==
        "'=label,x\n'=1+cmd|' /C calc'!A0,-1.5\n'+1,-1.5\n'-1,-1.5\n'@x,-1.5\n'\tx,-1.5\na=1,-1.5\n,-1.5\n");
}

TEST_CASE("the merged file is the table") {
  const SweptFolder swept;
  const SweepTable table = merge_sweep(swept.folder);
  const auto file = swept.scratch / "sweep.h5";
  write_sweep_file(file, table);
  CHECK(is_sweep_file(file));
  const SweepTable read = read_sweep_file(file);
  CHECK(sweep_csv(read) == sweep_csv(table));
  CHECK(read.attributes == table.attributes);
  CHECK(read.axes == 2);
  CHECK(read.find("size")->spec.units == "B");
}

TEST_CASE("what a killed process left among the points is removed, results are not") {
  const SweptFolder swept;
  const auto points = swept.folder.path() / "points";
  const auto stale = points / "old.json.c3sim-00000000-0.tmp";  // of another machine
  for (const auto& path : {stale, points / "old.json", points / "mine.tmp"})
    std::ofstream(path) << "{";
  const auto long_ago = std::filesystem::file_time_type::clock::now() - std::chrono::hours(48);
  for (const auto& path : {stale, points / "old.json", points / "mine.tmp"})
    std::filesystem::last_write_time(path, long_ago);
  swept.folder.remove_leftovers();
  CHECK_FALSE(std::filesystem::exists(stale));
  CHECK(std::filesystem::exists(points / "old.json"));
  CHECK(std::filesystem::exists(points / "mine.tmp"));
}

std::string text_of(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

void replace(const std::filesystem::path& path, const std::string& from, const std::string& to) {
  std::string text = text_of(path);
  REQUIRE(text.find(from) != std::string::npos);
  std::ofstream(path, std::ios::binary) << text.replace(text.find(from), from.size(), to);
}

TEST_CASE("a point that was edited is no result: it is simulated again, and merging it is refused") {
  for (const auto& [from, to] :
       std::vector<std::pair<std::string, std::string>>{{"0.1", "0.2"},
                                                        {"0.1", "-0.1"},
                                                        {"\"ok\"", "\"out_of_memory\""},
                                                        {"\"cu\"", "\"ca\""},
                                                        {"\n}\n", "\n}"}}) {
    CAPTURE(from);
    CAPTURE(to);
    const SweptFolder swept;
    const auto point = swept.folder.path() / "points" / "id0.json";
    replace(point, from, to);
    CHECK_FALSE(swept.folder.has("id0"));
    CHECK_THROWS_WITH_AS(
        merge_sweep(swept.folder),
        (point.string() +
         ": cannot read: it was changed after c3sim wrote it: its SHA-256 is not the one it was "
         "sealed with; repeat c3sim sweep, which simulates it again")
            .c_str(),
        IoError);
    CHECK(swept.folder.remove_changed(manifest().ids) == std::vector{point});
    CHECK(merge_sweep(swept.folder).count("missing") == 2);
  }
}

TEST_CASE("a failed point that was edited, and one copied over another, are no results") {
  const SweptFolder swept;
  const auto points = swept.folder.path() / "points";
  replace(points / "id1.failed.json", "1:2", "1:3");
  std::filesystem::copy_file(points / "id0.json", points / "id3.json");
  CHECK_FALSE(swept.folder.has_failed("id1"));
  CHECK_FALSE(swept.folder.has("id3"));
  CHECK_THROWS_AS(swept.folder.read("id1"), IoError);
  CHECK_THROWS_WITH_AS(
      swept.folder.read("id3"),
      ((points / "id3.json").string() + ": cannot read: it is a copy of another point").c_str(), IoError);
  CHECK(swept.folder.remove_changed(manifest().ids) ==
        std::vector{points / "id1.failed.json", points / "id3.json"});
  CHECK(swept.folder.has("id0"));
}

TEST_CASE("a point of a version without checksums is refused, and simulated again") {
  const SweptFolder swept;
  const auto point = swept.folder.path() / "points" / "id0.json";
  std::string text = "{\n" + text_of(point).substr(text_of(point).find('\n') + 1);
  std::ofstream(point, std::ios::binary) << text;
  replace(point, "\"schema_version\": 2", "\"schema_version\": 1");
  CHECK_FALSE(swept.folder.has("id0"));
  CHECK_THROWS_WITH_AS(
      merge_sweep(swept.folder),
      (point.string() + ": cannot read: another version of c3sim made it; repeat c3sim sweep with this one")
          .c_str(),
      IoError);
}

TEST_CASE("a manifest whose swept values were edited is refused, and known to a later sweep") {
  const SweptFolder swept;
  replace(swept.folder.path() / "manifest.json", "\"units\": \"B\"", "\"units\": \"s\"");
  CHECK_THROWS_AS(merge_sweep(swept.folder), IoError);
  const auto earlier = swept.folder.earlier();
  REQUIRE(earlier.has_value());
  CHECK_FALSE(earlier->is_intact);
  CHECK(earlier->manifest.definition == manifest().definition);
  swept.folder.write_manifest(manifest());
  CHECK(swept.folder.earlier()->is_intact);
}

TEST_CASE("what is no sweep is refused") {
  const SweptFolder swept;
  CHECK_THROWS_AS(merge_sweep(SweepFolder(swept.scratch / "none")), IoError);
  std::ofstream(swept.folder.path() / "points" / "id0.json")
      << "{\"schema\": \"c3sim.sweep_point\", \"schema_version\": 1}";
  CHECK_THROWS_AS(merge_sweep(swept.folder), IoError);
  std::ofstream(swept.folder.path() / "points" / "id0.json")
      << "{\"schema\": \"c3sim.sweep_point\", \"schema_version\": 2}";
  CHECK_THROWS_AS(merge_sweep(swept.folder), IoError);
  CHECK_THROWS_AS(read_sweep_file(swept.folder.path() / "manifest.json"), IoError);
}

TEST_CASE("a point is named by its configuration") {
  CHECK(point_id("a") == point_id("a"));
  CHECK(point_id("a") != point_id("b"));
  CHECK(point_id("a").size() == 24);
}

}}  // namespace c3::results_sweep_test
