// Sections that tables of a card make of numbers that a study's code finds.

#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "studies/cases/found_tables.hpp"
#include "tests/support/near.hpp"
#include "tests/unit/config_files.hpp"

namespace c3::studies_found_tables_test { namespace {

using Beside = std::vector<std::pair<std::string, double>>;

/// The sections of a study of the user's with one table, whose rows are of `a`, `b` and `c`.
StudyReport sections(const std::string& table, const FoundNumbers& found, const FoundRole& role = {}) {
  const ScratchFolder folder;
  folder.write("studies/found/study.toml",
               "about = \"Mine\"\n[[table]]\nheading = \"of ${whom}\"\ncases = \"cases.csv\"\n"
               "found = \"${name}\"\nid = \"f\"\nlabel = \"${name}\"\n" +
                   table);
  folder.write("studies/found/cases.csv", "name,factor,more\na,2,\nb,3,y\nc,4,y\n");
  folder.write("published.csv",
               "id,unit,published,low,high,gate,known_miss,source\nf,%,,,,none,,here\nnew.f,%,,,,none,,here\n");
  setenv("C3SIM_CONFIGS", folder.path().c_str(), 1);
  StudyReport report;
  for (const StudyCard& card : study_cards())
    if (card.name == "found")
      report = found_sections(card, found, PublishedFigures(folder.path() / "published.csv"), role);
  unsetenv("C3SIM_CONFIGS");
  return report;
}

const FoundNumbers kFound = {{"a",
                              {.nominal = {{{"x", 1.0}}, {{"x", 3.0}}},
                               .draws = {{{"x", 4.0}}, {{"x", 5.0}}, {{"x", 9.0}}},
                               .texts = {{"whom", "us"}}}},
                             {"b", {.nominal = {{{"x", 7.0}, {"y", 8.0}}}, .rows = 6}}};

TEST_CASE("a figure is the median over draws, beside the mean of seeds at nominal values") {
  const StudyReport report = sections("value = \"factor * x\"\n", kFound);
  REQUIRE(report.size() == 1);
  CHECK(report[0].heading == "of us");
  REQUIRE(report[0].lines.size() == 2);  // nothing was found of c
  const StudyLine& drawn = report[0].lines[0];
  CHECK(*drawn.figure.simulated == near(10.0));
  CHECK(*drawn.figure.p5 == near(8.2));
  CHECK(*drawn.figure.p95 == near(17.2));
  CHECK(drawn.beside == Beside{{"nominal", 4.0}});
  const StudyLine& nominal = report[0].lines[1];
  CHECK(*nominal.figure.simulated == near(21.0));
  CHECK_FALSE(nominal.figure.p5.has_value());
  CHECK(nominal.beside.empty());
  CHECK(nominal.rows == 6);
}

TEST_CASE("what stands beside is of draws or nominal, of other rows, and left out where it is not there") {
  const StudyReport report = sections(R"(value = "x"
spread = false
input = ".*"
beside = [{ name = "mean", value = "x", over = "mean" }, { name = "nominal", value = "x", over = "nominal" }, { name = "y", value = "y" }, { name = "empty", value = "${more}" }, { name = "b", value = "x / b:x" }]
)",
                                      kFound);
  REQUIRE(report.size() == 1);
  const std::vector<StudyLine>& lines = report[0].lines;
  CHECK_FALSE(lines[0].figure.p5.has_value());
  CHECK(lines[0].figure.kind == FigureKind::input);
  // b has no draws, so that of it only the nominal case is there.
  CHECK(lines[0].beside == Beside{{"mean", 6.0}, {"nominal", 2.0}});
  CHECK(lines[1].beside == Beside{{"nominal", 7.0}, {"y", 8.0}, {"empty", 8.0}, {"b", 1.0}});
}

TEST_CASE("a role has its ids, headings and kind, and a table of which nothing was found is left out") {
  const FoundRole role{.id = "new.", .heading = "New: ", .kind = FigureKind::fitted};
  const StudyReport report = sections("value = \"x\"\n", kFound, role);
  REQUIRE(report.size() == 1);
  CHECK(report[0].heading == "New: of us");
  CHECK(report[0].lines[0].figure.reference.id == "new.f");
  CHECK(report[0].lines[0].figure.kind == FigureKind::fitted);
  CHECK(sections("value = \"x\"\n", {}).empty());
}

TEST_CASE("a number that was not computed has no figure, and one that is not there is refused") {
  const FoundNumbers found = {
      {"a", {.nominal = {{{"x", std::nan("")}, {"rate", 2.0}}}, .texts = {{"whom", ""}}}}};
  CHECK_FALSE(sections("value = \"x\"\n", found)[0].lines[0].figure.simulated.has_value());
  CHECK_THROWS_WITH_AS(
      sections("value = \"rat\"\n", found),
      doctest::Contains("cases.csv:2:1: value: unknown number that was found 'rat'; did you mean 'rate'?"),
      ConfigError);
}

}}  // namespace c3::studies_found_tables_test
