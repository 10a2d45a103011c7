// Curves with axes and words: where points go, what ticks say.

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "results/report/curve_svg.hpp"
#include "results/report/html.hpp"
#include "results/report/value_scale.hpp"
#include "tests/support/near.hpp"

namespace c3::results_curve_test { namespace {

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::vector<std::string> texts(const CurveAxis& axis) {
  std::vector<std::string> result;
  for (const AxisTick& tick : axis.ticks)
    result.push_back(tick.text);
  return result;
}
using Texts = std::vector<std::string>;

TEST_CASE("a curve's points are where its axes say, sizes by factors") {
  // x from 1 to 1024 on pixels 40 to 446; y from 0 to 4 on pixels 258 to 12.
  const CurvePlot plot{
      .title = "curve",
      .x = {.name = "size", .low = 1, .high = 1024, .is_log = true, .ticks = {{1024, "1 KiB"}}},
      .y = axis_from_zero("ratio", 1, 3.5),
      .curves = {{.label = "it",
                  .points = {{.x = 1, .y = 2}, {.x = 32, .y = 1, .title = "a <"}, {.x = 1024, .y = 3.5}}}},
      .published = {{"other", {.x = 1024, .y = 1}}}};
  const std::string html = curve_figure(plot);
  CHECK(contains(html, R"(<g class="curve-0"><path d="M40 135L243 196.5L446 42.75"/>)"));
  CHECK(contains(html, R"(<path class="published" d="M446 190.5L452 196.5L446 202.5L440 196.5Z">)"));
  CHECK(contains(html, R"(<text class="tick-x" x="446" y="274">1 KiB</text>)"));
  CHECK(contains(html, R"(<circle cx="243" cy="196.5" r="3"><title>a &lt;</title>)"));
}

TEST_CASE("a line is broken at a point without a value, and a band goes from low to high") {
  const double none = std::numeric_limits<double>::quiet_NaN();
  CurvePlot plot{.title = "gap",
                 .x = {.name = "x", .low = 0, .high = 4, .ticks = {}},
                 .y = {.name = "y", .low = 0, .high = 246, .ticks = {}},  // a pixel each
                 .curves = {{.label = "it",
                             .points = {{.x = 0, .y = 10, .low = 5, .high = 20},
                                        {.x = 1, .y = 10, .low = 10, .high = 10},
                                        {.x = 2, .y = none},
                                        {.x = 4, .y = 0, .low = 0, .high = 0, .stands_out = true}},
                             .has_band = true}}};
  const std::string html = curve_figure(plot);
  CHECK(contains(html, R"(<path d="M40 248L141.5 248M446 258"/>)"));
  CHECK(contains(html, R"(<path class="band" d="M40 238L141.5 248L141.5 248L40 253ZM446 258L446 258Z"/>)"));
  CHECK_FALSE(contains(html, "nan"));
  CHECK(contains(html, R"(<circle cx="446" cy="258" r="5">)"));
}

TEST_CASE("an axis of values has round ticks around them, from 0 where that is near") {
  const CurveAxis speedup = value_axis("speedup", 0.35, 1.68, false);
  CHECK(speedup.low == 0);
  CHECK(speedup.high == 2);
  CHECK(texts(speedup) == Texts{"0", "0.5", "1", "1.5", "2"});
  CHECK(value_axis("speedup", 0.6, 1.9, false).low == 0);  // by steps alone it would be 0.5
  const CurveAxis far = value_axis("time [ms]", 3.264, 3.281, false);
  CHECK(far.low <= 3.264);
  CHECK(far.high >= 3.281);
  CHECK(far.low > 3);
  CHECK(texts(value_axis("t", 3, 280, true)) == Texts{"5", "10", "20", "50", "100", "200"});
  CHECK(value_axis("nothing", 0, 0, false).high > 0);
  const CurveAxis flat = value_axis("flat", 7, 7, false);
  CHECK(flat.low < flat.high);
  CHECK(flat.low <= 7);
  CHECK(flat.high >= 7);
}

TEST_CASE("ticks at swept values are thinned evenly until their labels have room") {
  std::vector<double> values;
  std::vector<std::string> labels;
  for (int cus = 8; cus <= 128; cus += 8) {
    values.push_back(cus);
    labels.push_back(std::to_string(cus));
  }
  // 27 pixels apart; three digits take 31.5.
  CHECK(texts(level_axis("cus", values, labels, false)) ==
        Texts{"8", "24", "40", "56", "72", "88", "104", "120"});
  CHECK(texts(level_axis("size", {1024, 4096, 16384}, {"1 KiB", "4 KiB", "16 KiB"}, true)) ==
        Texts{"1 KiB", "4 KiB", "16 KiB"});
}

TEST_CASE("values have the unit in which they are read") {
  const std::vector<double> times{900, 3265.46};
  const ValueScale ms = scale_for("us", times, false);
  CHECK(ms.with_unit(3265.46) == "3.265 ms");
  CHECK(ms.name_of("time") == "time [ms]");
  CHECK(scale_for("us", std::vector<double>{12.5}, false).with_unit(12.5) == "12.5 us");
  CHECK(scale_for("1", times, true).with_unit(0.7221) == "72.21%");
  CHECK(scale_for("1", times, false).with_unit(1.66113) == "1.661");
  CHECK(scale_for("1/s", std::vector<double>{412345.0}, false).with_unit(412345) == "412.3 1000/s");
  CHECK(scale_for("B", std::vector<double>{80e9}, false).with_unit(64e9) == "64 GB");
}

TEST_CASE(
    "swept values are labelled with their own units, sizes by powers of 1024 or 1000, whichever is shorter") {
  const double mebi = 1024.0 * 1024;
  CHECK(level_labels("B", std::vector{14 * mebi, 896 * mebi, 1024 * mebi}) ==
        Texts{"14 MiB", "896 MiB", "1 GiB"});
  CHECK(level_labels("B", std::vector{20e9, 80e9}) == Texts{"20 GB", "80 GB"});
  CHECK(level_labels("B/s", std::vector{450e9, 1.2e12}) == Texts{"450 GB/s", "1.2 TB/s"});
  CHECK(level_labels("s", std::vector{2e-6, 0.0015}) == Texts{"2 us", "1.5 ms"});
  CHECK(level_labels("1", std::vector{8.0, 16384.0, 0.25}) == Texts{"8", "16384", "0.25"});
}

TEST_CASE("sizes are spaced by factors, counts by steps") {
  CHECK(is_spaced_by_factors(std::vector<double>{14, 56, 224, 896}));
  CHECK(is_spaced_by_factors(std::vector<double>{1, 2, 4, 8, 12, 16}));
  CHECK_FALSE(is_spaced_by_factors(std::vector<double>{8, 16, 24, 32, 40}));
  CHECK_FALSE(is_spaced_by_factors(std::vector<double>{0, 1, 10, 100}));
  CHECK_FALSE(is_spaced_by_factors(std::vector<double>{1, 1024}));
}

TEST_CASE("numbers have four digits or more, and no exponent in between") {
  CHECK(number_text(1.66113) == "1.661");
  CHECK(number_text(16384) == "16384");
  CHECK(number_text(0.0123456) == "0.01235");
  CHECK(number_text(-505.77) == "-505.8");
  CHECK(number_text(0) == "0");
  CHECK(number_text(3.1e-7) == "3.1e-07");
}

}}  // namespace c3::results_curve_test
