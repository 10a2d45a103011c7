/// [sweep]: values, ranges, filters, and that a point is the experiment that its --set options make.

#include "configs/jobs/sweep.hpp"

#include <doctest/doctest.h>

#include <set>
#include <string>
#include <vector>

#include "configs/sweeps/sweep_range.hpp"
#include "configs/toml/toml_text.hpp"
#include "tests/unit/config_files.hpp"

namespace c3::config_sweep_test { namespace {

std::string values_of(const std::string& text) {
  const Node document = parse_toml("x = " + text, "range.toml");
  std::string out;
  for (const Node& value : axis_values(*document.table()->find("x"), "x"))
    out += (out.empty() ? "" : ", ") + write_value(value);
  return out;
}

bool passes(const std::string& condition, std::vector<SweepCell> cells) {
  const Node text{condition, {std::make_shared<const std::string>("f"), 1, 1}};
  return SweepFilter(text, {"cus", "size", "op"})(cells);
}

bool passes(const std::string& condition) {
  return passes(condition, {{std::int64_t{64}, "1"}, cell_of("256 MiB"), {std::string("all_gather"), ""}});
}

std::string error_in(const std::string& condition) {
  return error_of([&] { passes(condition); });
}

/// A pair of streams with `sweep` behind it.
std::string experiment(const std::string& sweep) {
  return "schema = 1\nsystem = \"mi300x-8\"\n"
         "[[stream]]\nname = \"compute\"\nrun = [{ gemm = { m = 512, n = 512, k = 512, dtype = \"bf16\" } }]\n"
         "[[stream]]\nname = \"comm\"\nrun = [{ all_gather = \"1 MiB\" }]\n"
         "[strategy.partitioned]\ncomm.cus = 8\n" +
         sweep;
}

class SweepFileTest {
 public:
  Sweep load(const std::string& sweep, const std::vector<std::string>& sets = {}) const {
    return Sweep::load(folder.write("s.toml", experiment(sweep)), sets);
  }
  std::string error(const std::string& sweep) const {
    return error_of([&] { load(sweep); });
  }

  ScratchFolder folder;
};

TEST_CASE("values are lists, or ranges that are counted out") {
  CHECK(values_of("[8, 16]") == "8, 16");
  CHECK(values_of("{ from = 8, to = 32, step = 8 }") == "8, 16, 24, 32");
  CHECK(values_of("{ from = 8, to = 31, step = 8 }") == "8, 16, 24");
  CHECK(values_of("{ from = 0.1, to = 0.3, step = 0.1 }") == "0.1, 0.2, 0.3");
  CHECK(values_of("{ from = \"1 MiB\", to = \"1 GiB\", factor = 8 }") ==
        R"("1 MiB", "8 MiB", "64 MiB", "512 MiB")");
  CHECK(values_of("{ from = \"3 TB/s\", to = \"5 TB/s\", step = \"500 GB/s\" }") ==
        R"("3 TB/s", "3.5 TB/s", "4 TB/s", "4.5 TB/s", "5 TB/s")");
  CHECK(values_of("{ from = 1, to = 64, count = 4, scale = \"log\" }") == "1, 4, 16, 64");
  CHECK(values_of("{ from = 1, to = 2, count = 9 }") == "1, 2");  // whole numbers, each once
  CHECK(values_of("{ from = 1.0, to = 2.0, count = 3 }") == "1.0, 1.5, 2.0");
  CHECK(values_of("{ from = 5, to = 5, step = 1 }") == "5");
}

TEST_CASE("ranges that are none") {
  const auto error = [](const std::string& text) { return error_of([&] { values_of(text); }); };
  CHECK(error("3") == Part{"must be a list of values, or a range"});
  CHECK(error("[]") == Part{"has no value"});
  CHECK(error("[[1]]") == Part{"not an array"});
  CHECK(error("{ from = 8, to = 4, step = 1 }") == Part{"x.to: must not be below 'from'"});
  CHECK(error("{ from = 1, to = 4 }") == Part{"needs one of 'step', 'factor' and 'count'"});
  CHECK(error("{ from = 1, to = 4, step = 1, count = 2 }") == Part{"needs one of"});
  CHECK(error("{ from = 1, to = 4, stp = 1, step = 1 }") == Part{"did you mean 'step'?"});
  CHECK(error("{ from = 1, to = 4, factr = 2 }") == Part{"did you mean 'factor'?"});
  CHECK(error("{ from = 1, to = 4, step = 1, scale = \"log\" }") == Part{"x.scale: goes with 'count'"});
  CHECK(error("{ from = 1, to = 4, step = 0 }") == Part{"x.step: must be above 0"});
  CHECK(error("{ from = 1, to = 4, factor = 1 }") == Part{"x.factor: must be a number above 1"});
  CHECK(error("{ from = 0, to = 4, factor = 2 }") == Part{"x.from: must be above 0"});
  CHECK(error("{ from = 1, to = \"4 GB\", step = 1 }") == Part{"must be of one kind"});
  CHECK(error("{ from = \"1 s\", to = \"4 GB\", step = \"1 s\" }") == Part{"must be of one kind"});
  CHECK(error("{ from = \"x\", to = 4, step = 1 }") == Part{"x.from: must be a number"});
  CHECK(error("{ from = 1, to = 4000000, step = 1 }") == Part{"more than 100000 values"});
}

TEST_CASE("filters compare numbers with units, and texts") {
  CHECK(passes("cus <= 64"));
  CHECK_FALSE(passes("cus < 64"));
  CHECK(passes("size == 0.25 GiB"));
  CHECK(passes("size >= 268435456B and op == 'all_gather'"));
  CHECK(passes("op != \"all_to_all\""));
  CHECK(passes("size / cus == 4 MiB"));
  CHECK(passes("size / 64 MiB * 2 - 1 == 7"));
  CHECK(passes("cus == 1 or cus == 64 and size > 1 B"));            // `and` is stronger
  CHECK_FALSE(passes("(cus == 64 or cus == 1) and size > 1 GiB"));  // unless parentheses say otherwise
  CHECK(passes("not cus == 1"));
  CHECK(passes("${op} == 'all_gather' and not not cus == 64"));
}

TEST_CASE("conditions that are none") {
  CHECK(error_in("cus") == Part{"64, without a unit is no condition"});
  CHECK(error_in("cus = 64") == Part{"did you mean '=='?"});
  CHECK(error_in("cuss == 64") == Part{"did you mean 'cus'?"});
  CHECK(error_in("cus == 64 MiB") == Part{"cannot be compared"});
  CHECK(error_in("cus == 'all_gather'") == Part{"cannot be compared"});
  CHECK(error_in("size + cus == 1 B") == Part{"cannot be added"});
  CHECK(error_in("size * size > 1 B") == Part{"cannot be multiplied"});
  CHECK(error_in("op * 2 == 1") == Part{"are not numbers"});
  CHECK(error_in("cus == 64 64") == Part{"nothing can follow before '64'"});
  CHECK(error_in("(cus == 64") == Part{"a ')' is missing"});
  CHECK(error_in("op == 'all") == Part{"a closing ' is missing"});
  CHECK(error_in("cus ==") == Part{"it ends where"});
  CHECK(error_in("") == Part{"it ends where"});
  CHECK(error_in(std::string(10000, '(')) == Part{"is too long"});
  CHECK(error_in(std::string(100, '(')) == Part{"nests too deeply"});
}

TEST_CASE("points are all combinations, the last key fastest, groups that go together as one") {
  const SweepFileTest test;
  const Sweep sweep = test.load(
      "[[sweep.zip]]\n\"gpu.hbm_read\" = [\"3 TB/s\", \"4 TB/s\"]\nlabel = [\"slow\", \"fast\"]\n"
      "[sweep.product]\nstrategy.partitioned.comm.cus = [8, 16]\n[sweep]\nseeds = 2\n");
  CHECK(sweep.names() ==
        std::vector<std::string>{"gpu.hbm_read", "label", "strategy.partitioned.comm.cus", "seed"});
  REQUIRE(sweep.points().size() == 8);
  std::vector<std::string> rows;
  for (const SweepPoint& point : sweep.points()) {
    const std::vector<SweepCell> cells = sweep.cells(point);
    rows.push_back(std::get<std::string>(cells[1].value) + std::to_string(static_cast<int>(cells[2].number())) +
                   std::to_string(static_cast<int>(cells[3].number())));
  }
  CHECK(rows == std::vector<std::string>{"slow81", "slow82", "slow161", "slow162", "fast81", "fast82",
                                         "fast161", "fast162"});
  CHECK(sweep.cells(sweep.points()[4])[0] == SweepCell{4e12, "B/s"});
}

TEST_CASE("a point is the experiment that its --set options make, and no two are alike") {
  const SweepFileTest test;
  const std::string text =
      "[sweep.product]\nop = [\"all_gather\", \"all_to_all\"]\nsize = [\"1 MiB\", \"2 MiB\"]\n"
      "gpu.hbm_read = [\"3 TB/s\", \"4 TB/s\"]\ncus = [8, 16]\n"
      "[sweep.set]\nstream.1.run = [{ \"${op}\" = \"${size}\" }]\n\"strategy.partitioned.comm.cus\" = "
      "\"${cus}\"\n"
      "[sweep]\nwhere = [\"cus == 8 or size == 2 MiB\", \"op == 'all_gather' or gpu.hbm_read > 3 TB/s\"]\n";
  const Sweep sweep = test.load(text);
  CHECK(sweep.points().size() == 9);
  const std::string file = test.folder / "s.toml";
  std::set<std::string> different;
  for (const SweepPoint& point : sweep.points()) {
    const std::vector<std::string> sets = sweep.sets(point);
    const std::string resolved = sweep.experiment(point).resolved_toml();
    CHECK(resolved == ExperimentFile::load(file, sets).resolved_toml());
    CHECK(resolved.find("sweep") == std::string::npos);
    different.insert(resolved);
  }
  CHECK(different.size() == sweep.points().size());
}

TEST_CASE("a name within a text, in lists and in keys") {
  const std::vector<std::string> names = {"n", "size"};
  const Node number{std::int64_t{8}, {}}, text{std::string("1 MiB"), {}};
  const auto value_of = [&](std::size_t i) -> const Node& { return i == 0 ? number : text; };
  const auto put = [&](const std::string& toml) {
    const Node document = parse_toml("x = " + toml, "set.toml");
    return write_value(substitute(*document.table()->find("x"), names, value_of));
  };
  CHECK(put("\"${n}\"") == "8");
  CHECK(put("\"best ${n}..${n}0\"") == "\"best 8..80\"");
  CHECK(put("[{ \"k${n}\" = \"${size}\", z = 1.5 }, true]") == "[{ k8 = \"1 MiB\", z = 1.5 }, true]");
  CHECK(error_of([&] { put("\"${m}\""); }) == Part{"unknown swept key 'm'"});
  CHECK(error_of([&] { put("\"a ${n\""); }) == Part{"a '}' is missing"});
}

TEST_CASE("columns are of one kind") {
  const SweepFileTest test;
  const auto kinds = [&](const std::string& values) {
    const Sweep sweep = test.load("[[sweep.zip]]\nx = " + values + "\nsystem = [\"mi300x-8\", \"mi300x-8\"]\n");
    std::string out;
    for (const SweepPoint& point : sweep.points())
      out += sweep.cells(point)[0].units + std::to_string(sweep.cells(point)[0].value.index()) + " ";
    return out;
  };
  CHECK(kinds("[1, 2]") == "10 10 ");
  CHECK(kinds("[1, 2.5]") == "11 11 ");
  CHECK(kinds("[\"1 GB\", \"2 MiB\"]") == "B1 B1 ");
  CHECK(kinds("[\"1 GB\", \"2 s\"]") == "2 2 ");
  CHECK(kinds("[\"1 GB\", \"x\"]") == "2 2 ");
  CHECK(kinds("[true, 2]") == "2 2 ");
}

TEST_CASE("sweeps that are none") {
  const SweepFileTest test;
  CHECK(test.error("") == Part{"s.toml:1:1: sweep: is missing"});
  CHECK(test.error("[sweep]\nseeds = 1\n") == Part{"there is nothing to sweep"});
  CHECK(test.error("[sweep]\nsedes = 2\nseeds = 2\n") == Part{"did you mean 'seeds'?"});
  CHECK(test.error("[sweep.product]\nsytem = [\"mi300x-8\"]\n") == Part{"did you mean 'system'?"});
  CHECK(test.error("[sweep.product]\nstatus = [1]\n") == Part{"take another name"});
  CHECK(test.error("[sweep.product]\nseed = [1]\n") == Part{"is what 'seeds' counts"});
  CHECK(test.error("[sweep.product]\ngpu.xcds = [1]\n[sweep.zip]\ngpu.xcds = [2]\n") ==
        Part{"is swept already"});
  CHECK(test.error("[sweep.product]\nmeasure.seed = [1]\n[sweep]\nseeds = 2\n") == Part{"is swept already"});
  CHECK(test.error("[sweep.zip]\na = [1, 2]\ngpu.xcds = [1]\n") == Part{"has 1 values where 'a' has 2"});
  CHECK(test.error("[sweep.product]\nnodes = [1]\n[sweep]\nwhere = \"nodes == 2\"\n") ==
        Part{"leaves no point"});
  CHECK(test.error("[sweep.product]\nnodes = [1]\n[sweep]\nwhere = 3\n") == Part{"must be a condition"});
  CHECK(test.error("[sweep.product]\na.b = { from = 1, to = 10000, step = 1 }\n"
                   "a.c = { from = 1, to = 10000, step = 1 }\n") ==
        Part{"100000000 combinations; at most 1000000"});
  const Sweep broken = test.load("[sweep.product]\ngpu.hbm_red = [\"3 TB/s\"]\n");
  CHECK(error_of([&] { broken.experiment(broken.points()[0]); }) == Part{"s.toml:12:16: gpu.hbm_red: "});
}

TEST_CASE("a run of a file with a sweep is of the file's own values, and the sweep is checked") {
  const SweepFileTest test;
  const std::string file = test.folder.write("r.toml", experiment("[sweep.product]\nnodes = [1, 2]\n"));
  CHECK(ExperimentFile::load(file).resolved_toml().find("sweep") == std::string::npos);
  const std::vector<std::string> set = {"sweep.product.nodes=3"};
  CHECK(error_of([&] { ExperimentFile::load(file, set); }) == Part{"sweep.product.nodes: must be a list"});
}

}}  // namespace c3::config_sweep_test
