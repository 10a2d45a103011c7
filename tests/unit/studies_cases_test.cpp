// Sections of studies that are tables of cases.

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <map>
#include <stdexcept>
#include <string>

#include "engine/errors.hpp"
#include "studies/cases/case_tables.hpp"
#include "studies/cases/formula.hpp"
#include "studies/cases/measured_tables.hpp"
#include "studies/cases/source.hpp"
#include "tests/support/near.hpp"
#include "tests/unit/config_files.hpp"

namespace c3::studies_cases_test { namespace {

constexpr const char* kProduct = R"(schema = 1
system = "mi300x-8"
[[stream]]
name = "s"
run = [{ gemm = { m = 4096, n = 4096, k = 4096, dtype = "fp16" } }]
[strategy.a]
)";

/// A study `mine` of the user's.
class MyStudy {
 public:
  explicit MyStudy(const std::string& table, const std::string& cases) {
    setenv("C3SIM_CONFIGS", folder_.path().c_str(), 1);
    write("study.toml", "about = \"Mine\"\n[[table]]\nheading = \"h\"\ncases = \"cases.csv\"\n" + table);
    write("cases.csv", cases);
    write("product.toml", kProduct);
    write("published.csv",
          "id,unit,published,low,high,gate,known_miss,source\nf,%,,,,none,,here\nmean,%,,,,none,,here\n");
  }
  MyStudy(const MyStudy&) = delete;
  MyStudy& operator=(const MyStudy&) = delete;
  ~MyStudy() { unsetenv("C3SIM_CONFIGS"); }

  /// Runs what its tables plan, here.
  StudySection section() {
    const StudyCard card = study_cards_called("mine");
    CaseTables tables(card, folder_.path(), PublishedFigures(study_file("mine", "published.csv")));
    SimulationJobs jobs;
    tables.plan(jobs);
    runs = jobs.size();
    for (const SimulationJob& job : jobs) {
      try {
        job.take(job.run());
      } catch (const InfeasibleError& error) {
        job.take(SimulatedTime{.said = error.what()});
      }
    }
    const StudyReport report = tables.sections(broken);
    REQUIRE(report.size() == 1);
    rows_csv = tables.rows_csv();
    return report.front();
  }

  std::string refusal() {
    try {
      section();
    } catch (const ConfigError& error) {
      const std::string what = error.what();
      return what.substr(what.rfind('/') + 1);
    }
    return "";
  }

  std::size_t runs = 0;
  std::vector<std::string> broken;
  std::string rows_csv;

 private:
  static StudyCard study_cards_called(std::string_view name) {
    for (StudyCard& card : study_cards())
      if (card.name == name) return std::move(card);
    throw std::logic_error("no such study");
  }
  void write(const std::string& name, std::string_view text) const {
    folder_.write("studies/mine/" + name, text);
  }

  ScratchFolder folder_;
};

TEST_CASE("a formula knows its names and its value") {
  const Formula formula("100 * (a.time / other:time - 1)");
  CHECK(formula.names() == std::set<std::string>{"a.time", "other:time"});
  CHECK(formula.value([](const std::string& name) { return name == "a.time" ? 3.0 : 2.0; }) == near(50.0));
  CHECK(Formula("max(abs(-2), 1)").value({}) == near(2.0));
  // The colon of a name and that of a choice are told apart by spaces.
  CHECK(Formula("1 > 2 ? row:time : 7").names() == std::set<std::string>{"row:time"});
  CHECK(Formula("1 > 2 ? row:time : 7").value([](const std::string&) { return 3.0; }) == near(7.0));
  CHECK_THROWS_WITH_AS(Formula("1 +"), doctest::Contains("'1 +': Unexpected end of expression"),
                       std::invalid_argument);
}

TEST_CASE("a name in brackets has any letters, and texts are compared") {
  const Formula formula("'a b' == 'a b' ? [h100-sxm: x, 8 SMs]:time_us * 2 : row:time");
  CHECK(formula.names() == std::set<std::string>{"h100-sxm: x, 8 SMs:time_us", "row:time"});
  CHECK(formula.value([](const std::string& name) { return name == "row:time" ? 1.0 : 4.0; }) == near(8.0));
  CHECK(Formula("('a' != 'a') + ('' == '') * 2").value({}) == near(2.0));
}

TEST_CASE("a formula writes out what it says of several elements") {
  CHECK(Formula("sum([0..2: row:r.#.a / #]) - min([7..7: b])").names() ==
        std::set<std::string>{"b", "row:r.0.a", "row:r.1.a", "row:r.2.a"});
  CHECK(Formula("max([1..3: # - a], 0)").value([](const std::string&) { return 1.0; }) == near(2.0));
  CHECK_THROWS_WITH_AS(Formula("sum([2..1: a])"),
                       doctest::Contains("'[2..1: a]': must be as [0..7: rows.#.time]"), std::invalid_argument);
  CHECK_THROWS_WITH_AS(Formula("sum([0..1 a])"), doctest::Contains("must be as"), std::invalid_argument);
  CHECK_THROWS_WITH_AS(Formula("sum([0..1: a)"), doctest::Contains("has no ']'"), std::invalid_argument);
}

TEST_CASE("an element that begins with a text is called by it, too") {
  const auto numbers = numbers_of_answer(R"({"classes":[{"class":"late ranks","t":1},{"class":"b","t":2}]})");
  CHECK(numbers ==
        std::map<std::string, double>{
            {"classes.0.t", 1.0}, {"classes.late_ranks.t", 1.0}, {"classes.1.t", 2.0}, {"classes.b.t", 2.0}});
}

TEST_CASE("settings of a text are apart") {
  CHECK(listed(" a=1;; b='x y' ") == std::vector<std::string>{"a=1", "b='x y'"});
  CHECK(listed("").empty());
}

TEST_CASE("numbers of an answer are called by the keys that lead to them") {
  const auto numbers = numbers_of_answer(
      R"({"a":1,"b":[{"name":"x y","t":2.5},{"t":3}],"fits":true,"off":false,"s":"text","n":null})");
  CHECK(numbers == std::map<std::string, double>{
                       {"a", 1.0}, {"b.x_y.t", 2.5}, {"b.1.t", 3.0}, {"fits", 1.0}, {"off", 0.0}});
}

TEST_CASE("columns with other letters and texts with numbers are numbers, too") {
  MyStudy study(
      "id = \"f\"\nname = \"${label}\"\nvalue = \"step_time__ms_ + rate.1\"\nsummary = [{ id = \"mean\", label "
      "= \"all\", kind = \"total\" }]\n",
      "label,step time (ms),rate\na,2,37 (36.5)\nb,3,1 2e1\n");
  const StudySection section = study.section();
  REQUIRE(section.lines.size() == 3);
  CHECK(*section.lines[0].figure.simulated == near(61.5));
  CHECK(*section.lines[1].figure.simulated == near(38.5));
  CHECK(*section.lines[2].figure.simulated == near(23.0));
}

TEST_CASE("rows of a measured table are found by their cells") {
  const ScratchFolder folder;
  folder.write("t.csv", "GPU,gpus,ms\nA100,8,1\nH100 SXM,8,2\nH100 PCIe,8,3\n");
  MeasuredTables tables(folder.path());
  CHECK(tables.rows("t.csv", "").size() == 3);
  CHECK(tables.rows("t.csv", "gpu~H100; gpus=8").size() == 2);
  CHECK(tables.row("t.csv", "gpu~H100; ms=3").text("${gpu}", "gpu") == "H100 PCIe");
  CHECK_THROWS_WITH_AS(tables.row("t.csv", "gpu=H100"), doctest::Contains("t.csv are 'gpu=H100', not one"),
                       std::invalid_argument);
  CHECK_THROWS_WITH_AS(tables.row("t.csv", "gpi=A100"), doctest::Contains("unknown column 'gpi'; did you mean"),
                       std::invalid_argument);
}

TEST_CASE("a row runs its experiment and computes with its columns and other rows' numbers") {
  MyStudy study(R"(experiment = "product.toml"
set = ["stream.0.run.0.gemm.k=${k}"]
name = "${name}"
id = "f"
value = "time / ${of}:time"
beside = [{ name = "k", value = "k" }, { name = "gpus", value = "gpus" }]
)",
                "name,label,k,of\nsmall,,4096,small\nlarge,large,8192,small\n");
  const StudySection section = study.section();
  CHECK(study.runs == 2);
  REQUIRE(section.lines.size() == 1);  // a row without a label is there for others only
  CHECK(section.lines[0].label == "large");
  CHECK(*section.lines[0].figure.simulated > 1.5);
  CHECK(*section.lines[0].figure.simulated < 2.2);
  CHECK(section.lines[0].beside == std::vector<std::pair<std::string, double>>{{"k", 8192.0}, {"gpus", 8.0}});
  CHECK(study.broken.empty());
}

TEST_CASE("summaries are of the rows that have the same words, and come first") {
  MyStudy study(R"(id = "f"
name = "${label}"
where = "${x}"
value = "x"
summary = [{ by = "${group}", id = "mean", label = "${group}", kind = "mean_size" }]
)",
                "label,group,x\na,one,-1\nb,one,3\nc,two,5\nd,two,\n");
  const StudySection section = study.section();
  CHECK(study.runs == 0);
  REQUIRE(section.lines.size() == 5);  // d is left out
  CHECK(section.lines[0].label == "one");
  CHECK(section.lines[0].rows == 2);
  CHECK(*section.lines[0].figure.simulated == near(2.0));
  CHECK(*section.lines[1].figure.simulated == near(5.0));
  CHECK(section.lines[2].label == "a");
  CHECK(*section.lines[2].figure.simulated == near(-1.0));
}

TEST_CASE("a summary has columns of its own rows, kinds and an interval") {
  MyStudy study(R"(id = "f"
lists_rows = false
let = [{ name = "twice", value = "2 * x" }, { name = "more", value = "twice + 1" }]
value = "x"
summary = [{ by = "${group}", id = "mean", label = "${group}", kind = "mean", where = "x < 10 && '${skip}' == ''", blocks = "${x}", beside = [{ name = "more", value = "more", kind = "largest" }, { name = "spread", kind = "spread" }, { name = "deviation", kind = "deviation" }, { name = "all", where = "1" }] }]
fitted = "one"
input = "t.*"
)",
                "group,x,skip\none,1,\none,3,\none,12,\none,4,y\ntwo,5,\nthree,11,\n");
  const StudySection section = study.section();
  REQUIRE(section.lines.size() == 2);  // three has no row that counts
  const StudyLine& one = section.lines[0];
  CHECK(one.figure.kind == FigureKind::fitted);
  CHECK(section.lines[1].figure.kind == FigureKind::input);
  CHECK(one.rows == 2);
  CHECK(*one.figure.simulated == near(2.0));
  CHECK(*one.figure.p5 == near(1.0));  // two blocks: one of them twice at the ends
  CHECK(*one.figure.p95 == near(3.0));
  CHECK(one.beside[0] == std::pair<std::string, double>{"more", 7.0});
  CHECK(one.beside[1].second == near(200.0));
  CHECK(one.beside[2].second == near(100.0 * std::sqrt(2.0) / 2.0));
  CHECK(one.beside[3].second == near(5.0));
  CHECK_FALSE(section.lines[1].figure.p5.has_value());  // one block
}

TEST_CASE("a table without a heading is only there for others, and one may list its rows") {
  MyStudy study(R"(id = "f"
name = "shown ${n}"
where = "'${n}' != '2'"
value = "[hidden ${n}]:x"
listed = [{ cells = "${label}", values = ["n", "[hidden ${n}]:x"] }]
[[table]]
cases = "cases.csv"
name = "hidden ${n}"
)",
                "label,n,x\na,1,0.5\nb,2,7\nc,3,1e9\n");
  const StudySection section = study.section();
  REQUIRE(section.lines.size() == 2);
  CHECK(*section.lines[0].figure.simulated == near(0.5));
  CHECK(study.rows_csv == "a,1,0.5\nc,3,1e+09\n");
}

TEST_CASE("a row may call a function, which knows what is set before its cells") {
  MyStudy study(R"(call = "kernel"
set = ["gpu.clock_state=burst", "op=gemm; dtype=bf16; n=4096; k=4096"]
id = "f"
value = "time_us"
beside = [{ name = "launch", value = "launch_us" }]
)",
                "label,gpu,m,n,k,sms\na,h100-sxm,4096,1,1,\nb,h100-sxm,4096,1,1,66\n");
  const StudySection section = study.section();
  CHECK(study.runs == 2);
  REQUIRE(section.lines.size() == 2);
  CHECK(*section.lines[0].figure.simulated > 150.0);
  CHECK(*section.lines[1].figure.simulated > 1.8 * *section.lines[0].figure.simulated);
  CHECK(section.lines[0].beside[0].second > 0.5);
}

TEST_CASE("what a function cannot read is refused with its place") {
  const auto refusal = [](const char* function, const char* row) {
    return MyStudy(fmt::format("call = \"{}\"\nid = \"f\"\nvalue = \"time_us\"\n", function),
                   std::string("label,gpu,op,dtype,m,n,k,sms\n") + row)
        .refusal();
  };
  CHECK(refusal("kernels", "a,h100-sxm,gemm,bf16,1,1,1,\n").find("unknown function 'kernels'") !=
        std::string::npos);
  CHECK(refusal("kernel", "a,h100-sxm,gemm,bf16,0,1,1,\n").starts_with("cases.csv:2:1: "));
  CHECK(refusal("kernel", "a,,gemm,bf16,1,1,1,\n").find("gpu: is missing") != std::string::npos);
  CHECK(refusal("kernel", "a,h100-sxm,gemm,bf16,1,1,1,-1\n").find("must be a whole number from 1 to 1024") !=
        std::string::npos);
}

TEST_CASE("a step names only those before it") {
  const auto refusal = [](const char* steps) {
    return MyStudy(fmt::format("id = \"f\"\nvalue = \"a\"\nlet = {}\n", steps), "label,x\na,1\n").refusal();
  };
  CHECK(refusal(R"([{ name = "a", value = "b" }, { name = "b", value = "x" }])") ==
        "cases.csv:2:1: let: 'a' names 'b', which is not before it");
  CHECK(refusal(R"([{ name = "a", value = "x" }, { name = "a", value = "x" }])") ==
        "cases.csv:2:1: let: 'a' is there twice");
}

TEST_CASE("measurements of a figure, and those left out, are counted by formulas") {
  MyStudy study("id = \"f\"\nname = \"${label}\"\nvalue = \"x\"\nrows = \"2 * x\"\nskipped = \"x - 9\"\n",
                "label,x\na,4\nb,12\n");
  const StudySection section = study.section();
  REQUIRE(section.lines.size() == 2);
  CHECK(section.lines[0].rows == 8);
  CHECK(section.lines[0].skipped == 0);
  CHECK(section.lines[1].skipped == 3);
}

TEST_CASE("a row that cannot run has no value, and neither has what needs it") {
  MyStudy study(
      R"(experiment = "product.toml"
set = ["stream.0.run.0.gemm.dtype=${dtype}", "system=${system}"]
name = "${label}"
id = "f"
value = "${formula}"
summary = [{ id = "mean", label = "all", kind = "mean" }]
)",
      "label,system,dtype,formula\na,v100-sxm2-8,fp8,time\nb,mi300x-8,fp8,time / a:time\nc,mi300x-8,fp8,tim\n");
  const StudySection section = study.section();
  REQUIRE(section.lines.size() == 4);
  for (const StudyLine& line : section.lines)
    CHECK_FALSE(line.figure.simulated.has_value());
  REQUIRE(study.broken.size() == 2);
  CHECK(study.broken[0].find("cases.csv:2:1: a: ") != std::string::npos);
  CHECK(study.broken[1].find("cases.csv:4:1: c: unknown number of this row 'tim'; did you mean 'time'?") !=
        std::string::npos);
}

TEST_CASE("an id without a published row is refused") {
  MyStudy study("id = \"g.${label}\"\nname = \"${label}\"\nvalue = \"x\"\n", "label,x\na,1\n");
  CHECK(study.refusal() ==
        "cases.csv:2:1: id: published.csv has no row 'g.a', nor one whose id it begins with");
}

TEST_CASE("what a card or a row names and what there is not is refused with its place") {
  const auto refusal = [](const char* value, const char* cases) {
    return MyStudy(fmt::format("id = \"f\"\nname = \"${{label}}\"\nvalue = \"{}\"\n", value), cases).refusal();
  };
  CHECK(refusal("${y}", "label,x\na,1\n").starts_with("cases.csv:2:1: value: unknown column 'y'"));
  CHECK(refusal("x +", "label,x\na,1\n").starts_with("cases.csv:2:1: value: 'x +': Unexpected end"));
  CHECK(refusal("time", "label,x\na,1\n") ==
        "cases.csv:2:1: value: 'time' is no column of numbers, and 'a' runs nothing");
  CHECK(refusal("b:x", "label,x\na,1\n").starts_with("cases.csv:2:1: value: unknown row 'b'"));
  CHECK(
      refusal("x", "label,x\n,1\n").starts_with("study.toml:4:9: cases: 'cases.csv' has no row that is shown"));
  CHECK(refusal("x", "label,x\na,1\na,2\n") == "cases.csv:3:1: name: 'a' is there twice");
  CHECK(refusal("${x", "label,x\na,1\n") == "cases.csv:2:1: value: '${x' has no '}'");
}

}}  // namespace c3::studies_cases_test
