// The study's page: what is drawn where.

#include <doctest/doctest.h>

#include <string>

#include "studies/conccl/page.hpp"
#include "studies/conccl/page_sections.hpp"

namespace c3::studies_conccl_page_test { namespace {

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

StudyLine line(const std::string& id, const std::string& label, double simulated) {
  return {.figure = {.reference = {.id = id, .unit = "%", .source = "nobody"}, .simulated = simulated},
          .label = label};
}

/// SP at 60 %, 50 to 70 in draws, published as 42 and held to 30 to 54; ConCCL at 90.
StudyReport report() {
  StudyLine sp = line("sp", "SP", 60.0);
  sp.figure.p5 = 50.0;
  sp.figure.p95 = 70.0;
  sp.figure.reference.published = 42.0;
  sp.figure.reference.low = 30.0;
  sp.figure.reference.high = 54.0;
  sp.figure.reference.gate = Gate::band;
  StudyLine moved = line("tornado.gpu.hbm_copy", "gpu.hbm_copy 1..2", 15.0);
  moved.beside = {{"ConCCL low", -5.0}, {"ConCCL high", 10.0}, {"SP low", 0.0}, {"SP high", -10.0}};
  return {{.heading = "Shares", .lines = {sp, line("conccl", "ConCCL", 90.0)}, .notes = {}},
          {.heading = "Tornado", .lines = {moved}, .notes = {}}};
}

TEST_CASE("bars of the ladder reach their shares on an axis that holds all of them") {
  // The axis goes from 0 to 102 on 1200 units: 60 % are 705.88, 42 % are 41.18 % of the width.
  const std::string html = ladder_section(report());
  CHECK(contains(html, R"(<rect class="share" x="0" y="5" width="705.88")"));
  CHECK(contains(html, R"(<rect class="engines" x="0" y="5" width="1058.82")"));
  CHECK(contains(html, R"(<path class="whisker" d="M588.24 13H823.53)"));
  CHECK(contains(html, R"(style="left:41.18%" title="published: 42 %">)"));
}

TEST_CASE("the ladder's axis begins below 0 where a share does") {
  StudyReport with_loss = report();
  with_loss[0].lines[0].figure.p5 = -20.0;
  // The axis goes from -20 to 102.4 on 1200 units: 0 is at 196.08.
  CHECK(contains(ladder_section(with_loss), R"(<rect class="share" x="196.08")"));
}

TEST_CASE("a calibrated ladder has a table of its own, which says so") {
  StudyReport both = report();
  CHECK_FALSE(contains(ladder_section(both), "Calibrated"));
  both[0].lines.push_back(line("calibrated.sp", "SP", 40.0));
  CHECK(contains(ladder_section(both), "<h3>Calibrated: with a loss fitted"));
}

TEST_CASE("a prior's ends go to both sides of zero, on one scale for all strategies") {
  // -10 to 10 on 1200 units: 60 a point, 0 at 600.
  const std::string html = tornado_section(report());
  CHECK(contains(html, R"(<rect class="low" x="300" y="4" width="300" height="9">)"));
  CHECK(contains(html, R"(<rect class="high" x="600" y="13" width="600" height="9">)"));
  CHECK(contains(html, R"(<rect class="high" x="0" y="13" width="600" height="9">)"));
  CHECK(contains(html, "SP at the high end: -10.0 points"));
}

TEST_CASE("scenarios are shaded by their share, a loss in another colour, and no share is minus nothing") {
  const ScenarioShares scenario{.cells = {"a<b", "1 x 2 x 3", "2000"}, .shares = {40.0, -60.0, -0.2, 120.0}};
  const std::string html = scenarios_section({scenario});
  CHECK(contains(html, "a&lt;b"));
  CHECK(contains(html, R"(<td class="">1 x 2 x 3</td><td class="number">2000</td>)"));
  CHECK(contains(html, R"html(var(--cus) 20%, transparent)">40</td>)html"));
  CHECK(contains(html, R"html(var(--links) 30%, transparent)">-60</td>)html"));
  CHECK(contains(html, ">0</td>"));
  CHECK_FALSE(contains(html, ">-0</td>"));
  CHECK(contains(html, R"html(var(--cus) 50%, transparent)">120</td>)html"));
}

TEST_CASE("the page says how many targets are met and which are not, and leaves out what there is not") {
  StudyPage page{.conditions = "here & now", .report = report(), .plots = {}, .scenarios = {}};
  const std::string html = study_page(page);
  CHECK(contains(html, "0 of 1 figures are within their targets; not: sp."));
  CHECK(contains(html, "here &amp; now"));
  CHECK_FALSE(contains(html, R"(id="alone")"));
  CHECK_FALSE(contains(html, R"(id="scenarios")"));
  page.report.pop_back();
  CHECK_FALSE(contains(study_page(page), R"(id="tornado")"));
  for (const char* foreign : {"<script", "http://", "https://", "@import", "url("})
    CHECK_FALSE(contains(html, foreign));
}

}}  // namespace c3::studies_conccl_page_test
