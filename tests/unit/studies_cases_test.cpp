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
#include "studies/cases/source.hpp"
#include "tests/support/near.hpp"
#include "tests/unit/config_files.hpp"

namespace c3 { namespace {

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

TEST_CASE("numbers of an answer are called by the keys that lead to them") {
  const auto numbers = numbers_of_answer(
      R"({"a":1,"b":[{"name":"x y","t":2.5},{"t":3}],"fits":true,"off":false,"s":"text","n":null})");
  CHECK(numbers == std::map<std::string, double>{
                       {"a", 1.0}, {"b.x_y.t", 2.5}, {"b.1.t", 3.0}, {"fits", 1.0}, {"off", 0.0}});
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

}}  // namespace c3
