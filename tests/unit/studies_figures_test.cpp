#include <doctest/doctest.h>

#include <atomic>
#include <stdexcept>

#include "configs/toml/config_error.hpp"
#include "files/io_error.hpp"
#include "studies/comparison.hpp"
#include "studies/figure.hpp"
#include "studies/jobs.hpp"
#include "studies/published_figures.hpp"
#include "studies/study_output.hpp"
#include "studies/study_table.hpp"
#include "tests/support/near.hpp"
#include "tests/unit/config_files.hpp"

namespace c3::studies_figures_test {
namespace {

const std::string kHeader = "id,unit,published,low,high,gate,known_miss,source\n";

PublishedFigures figures(const std::string& rows) {
  const ScratchFolder folder;
  return PublishedFigures(folder.write("f.csv", kHeader + rows));
}

/// Judged by low .. high, or not at all.
Figure figure(Gate gate, std::optional<double> simulated) {
  return {.reference = {.id = "a", .unit = "%", .low = 2.0, .high = 10.0, .gate = gate, .source = "here"},
          .simulated = simulated};
}

}  // namespace

TEST_CASE("a figure passes within its limits, both of which belong to them") {
  for (const double inside : {2.0, 5.0, 10.0})
    CHECK(passes(figure(Gate::band, inside)) == true);
  for (const double outside : {1.9, 10.1})
    CHECK(passes(figure(Gate::range, outside)) == false);
}

TEST_CASE("a figure without a gate is not judged, and one that was not computed has not passed its gate") {
  CHECK(passes(figure(Gate::none, 11.0)) == std::nullopt);
  CHECK(passes(figure(Gate::band, std::nullopt)) == false);
}

TEST_CASE("an exact figure is the published number") {
  Figure exact = figure(Gate::exact, 3.0);
  exact.reference.published = 3.0;
  CHECK(passes(exact) == true);
  exact.simulated = 3.1;
  CHECK(passes(exact) == false);
}

TEST_CASE("published figures have numbers, or none, and a source") {
  const auto found = figures("a.b,%,3.5,,10,band,\"too slow, and known\",paper\n").find("a.b");
  CHECK(found.published == 3.5);
  CHECK(found.low == std::nullopt);
  CHECK(found.high == 10.0);
  CHECK(found.gate == Gate::band);
  CHECK(found.known_miss == "too slow, and known");
  CHECK(found.source == "paper");
}

TEST_CASE("a detail of a published figure has its unit and source, and no limits") {
  const auto found = figures("a.b,ms,3.5,0,10,band,,paper\na,s,,,,none,,other\n").find("a.b.c.d");
  CHECK(found.id == "a.b.c.d");
  CHECK(found.unit == "ms");
  CHECK(found.source == "paper");
  CHECK(found.published == std::nullopt);
  CHECK(found.high == std::nullopt);
  CHECK(found.gate == Gate::none);
  CHECK_THROWS_AS(figures("a,s,,,,none,,other\n").find("b"), std::logic_error);
}

TEST_CASE("a published figure that says nothing sensible is refused at its cell") {
  const auto refusal = [](const std::string& row) { return error_of([&] { figures(row); }); };
  CHECK(refusal("a,%,x,,,none,,p\n") == Part{"f.csv:2:5: published: 'x' is not a number"});
  CHECK(refusal("a,%,,,1,bandit,,p\n") == Part{"f.csv:2:9: gate: must be band, range, order, exact or none"});
  CHECK(refusal("a,%,,,,none,,\n") == Part{"f.csv:2:14: source: is missing"});
  CHECK(refusal("a,%,,,,none,,p\na,%,,,,none,,p\n") == Part{"f.csv:3:1: id: 'a' is there twice"});
  CHECK(refusal("a,%\n") == Part{"f.csv:2:1: row: must have 8 cells"});
}

TEST_CASE("every study has a card, code or tables of cases, and figures with a source") {
  const std::vector<StudyCard> cards = study_cards();
  std::size_t with_code = 0;
  for (const StudyCard& study : cards) {
    CAPTURE(study.name);
    const bool has_code = study_runs().contains(study.name);
    with_code += has_code ? 1 : 0;
    CHECK((has_code || !study.tables.empty()));
    CHECK(PublishedFigures(study_file(study.name, "published.csv")).rows().size() > 0);
  }
  CHECK(with_code == study_runs().size());
}

TEST_CASE("an error is the mean over rows, and what stands beside it that of the rows that have it") {
  // Here 10 % too slow, 30 % too fast: 20 %. The roofline of the second row alone: 50 %.
  Comparison comparison;
  comparison.add({10.0_us, 11.0_us, 1}, {});
  comparison.add({10.0_us, 7.0_us, 2}, {{"roofline", 5.0_us}});
  comparison.skip();
  const StudyLine line =
      comparison.line({.id = "a", .unit = "%", .source = "p"}, FigureKind::predicted, "label");
  CHECK(line.figure.simulated.value() == near(20.0));
  CHECK(line.figure.p5.value() == near(10.0));
  CHECK(line.figure.p95.value() == near(30.0));
  CHECK(line.rows == 2);
  CHECK(line.skipped == 1);
  REQUIRE(line.beside.size() == 1);
  CHECK(line.beside[0].first == "roofline");
  CHECK(line.beside[0].second == near(50.0));
}

TEST_CASE("without rows the error was not computed") {
  const StudyLine line =
      Comparison().line({.id = "a", .unit = "%", .source = "p"}, FigureKind::fitted, "label");
  CHECK(line.figure.simulated == std::nullopt);
  CHECK(line.figure.p5 == std::nullopt);
}

TEST_CASE("every job is done once, and progress counts to the end") {
  std::atomic<int> sum = 0;
  Jobs jobs;
  for (int i = 1; i <= 100; ++i)
    jobs.emplace_back([&sum, i] { sum += i; });
  std::size_t last = 0;
  run_jobs(jobs, [&](std::size_t done, std::size_t total) {
    CHECK(done == last + 1);
    CHECK(total == 100);
    last = done;
  });
  CHECK(sum == 5050);
  CHECK(last == 100);
}

TEST_CASE("what a job throws is thrown to who asked for it") {
  const Jobs jobs = {[] {}, [] { throw std::runtime_error("broken"); }, [] {}};
  CHECK_THROWS_WITH_AS(run_jobs(jobs, [](std::size_t, std::size_t) {}), "broken", std::runtime_error);
}

TEST_CASE("a report shows limits and misses, and no column that has nothing in it") {
  StudyLine good{.figure = figure(Gate::band, 5.0), .label = "good", .rows = 7, .beside = {{"roofline", 40.0}}};
  StudyLine bad{.figure = figure(Gate::band, 11.0), .label = "bad", .rows = 8};
  bad.figure.reference.known_miss = "nobody knows why";
  const StudyReport report = {{.heading = "Errors", .lines = {good, bad}, .notes = {"A note."}}};
  CHECK(study_text(report) ==
        "Errors\n\n"
        "      rows  here [%]  roofline [%]  target             kind\n"
        "-----------------------------------------------------------\n"
        "good     7       5.0          40.0   2..10    ok  predicted\n"
        "bad      8      11.0                 2..10  MISS  predicted\n"
        "bad: nobody knows why\n"
        "A note.\n");
  CHECK_FALSE(passes(report));
  CHECK(passes(StudyReport{{.heading = "", .lines = {good}, .notes = {}}}));
}

TEST_CASE("a figure's JSON says null for what it does not have") {
  const StudyLine line{.figure = figure(Gate::band, std::nullopt), .label = "x"};
  const std::string json = study_json("s", {{.heading = "", .lines = {line}, .notes = {}}});
  for (const char* part : {R"("schema_version": 1)", R"("study": "s")", R"("id": "a")", R"("label": "x")",
                           R"("published": null)", R"("simulated": null)", R"("p5": null)", R"("p95": null)",
                           R"("low": 2.0)", R"("high": 10.0)", R"("gate": "band")", R"("pass": false)",
                           R"("kind": "predicted")", R"("known_miss": null)", R"("source": "here")"})
    CHECK(json == Part{part});
}

}  // namespace c3::studies_figures_test
