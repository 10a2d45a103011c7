#include "configs/toml/section.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <set>
#include <string>

#include "configs/toml/toml_text.hpp"
#include "tests/support/print_units.hpp"
#include "tests/unit/config_files.hpp"

namespace c3::config_section_test { namespace {

/// What reading \p text with \p read is refused with.
template <class Read>
std::string refusal(std::string_view text, Read read, Provenance provenance = Provenance::optional) {
  return error_of([&] {
    const Node node = parse_toml(text, "g.toml");
    Section section(node, "gpu", {}, provenance);
    read(section);
    section.finish();
  });
}

TEST_CASE("an unknown key is refused at its own position with the nearest key that was asked for") {
  const auto read = [](Section& section) {
    section.text("name");
    section.integer("cu_count", 1, 1024);
  };
  CHECK(refusal("name = \"x\"\ncu_count = 8\n", read) == "no error");
  CHECK(refusal("name = \"x\"\ncu_count = 8\n  cu_cuont = 9\n", read) ==
        "g.toml:3:3: gpu.cu_cuont: unknown key; did you mean 'cu_count'?");
  CHECK(refusal("name = \"x\"\ncu_count = 8\nbandwidth = 9\n", read) ==
        "g.toml:3:1: gpu.bandwidth: unknown key; known: name, cu_count");
}

TEST_CASE(
    "a reader that gathers conflicts says all of them at once, those of inner tables and unknown keys too") {
  const auto read = [](Section& section) {
    section.gather_conflicts();
    section.integer("a", 1, 8);
    section.refuse("a", "requires b");
    Section inner = section.table("inner");
    inner.integer("c", 1, 8);
    inner.refuse("c", "requires d");
    inner.finish();
  };
  const std::string conflicts = "g.toml:1:5: gpu.a: requires b\ng.toml:3:5: gpu.inner.c: requires d";
  CHECK(refusal("a = 1\n[inner]\nc = 2\n", read) == conflicts);
  CHECK(refusal("a = 1\nyyyy = 3\nzzzz = 4\n[inner]\nc = 2\n", read) ==
        "g.toml:2:1: gpu.yyyy: unknown key; known: a, inner\n"
        "g.toml:3:1: gpu.zzzz: unknown key; known: a, inner\n"
        "g.toml:1:5: gpu.a: requires b\ng.toml:5:5: gpu.inner.c: requires d");
  // A value that cannot be read, and a reader that relies on what came before, end it.
  CHECK(refusal("a = 1\nb = \"x\"\n", [](Section& section) {
          section.gather_conflicts();
          section.refuse("a", "requires b");
          section.fail("b", "must be short");
        }) == "g.toml:1:5: gpu.a: requires b\ng.toml:2:5: gpu.b: must be short");
  CHECK(refusal("a = 1\n", [](Section& section) {
          section.gather_conflicts();
          section.refuse("a", "requires b");
          section.settle();
          section.fail("a", "is not reached");
        }) == "g.toml:1:5: gpu.a: requires b");
}

TEST_CASE("a float is no integer, a fraction may be written as one, and a quantity is a string") {
  const auto integer = [](Section& section) { section.integer("x", 1, 8); };
  const auto fraction = [](Section& section) { section.fraction("x"); };
  const auto bandwidth = [](Section& section) { section.bandwidth("x"); };
  CHECK(refusal("x = 3", integer) == "no error");
  CHECK(refusal("x = 3.0", integer) == "g.toml:1:5: gpu.x: must be an integer, not a float");
  CHECK(refusal("x = \"3\"", integer) == "g.toml:1:5: gpu.x: must be an integer, not a string");
  CHECK(refusal("x = 9", integer) == "g.toml:1:5: gpu.x: must be between 1 and 8, not 9");
  CHECK(refusal("x = 0.5", fraction) == "no error");
  CHECK(refusal("x = 1", fraction) == "no error");
  CHECK(refusal("x = true", fraction) == "g.toml:1:5: gpu.x: must be a number, as in 0.5, not a boolean");
  CHECK(refusal("x = 1.5", fraction) == "g.toml:1:5: gpu.x: must be between 0 and 1, not 1.5");
  CHECK(refusal("x = 5", bandwidth) == "g.toml:1:5: gpu.x: must be a string with a unit, not an integer");
  CHECK(refusal("y = 5", bandwidth) == "g.toml:1:1: gpu.x: is missing");
}

TEST_CASE("a negative bandwidth and a wrong unit are refused where they stand") {
  const auto read = [](Section& section) { section.bandwidth("hbm_read"); };
  CHECK(refusal("hbm_read = \"-1 TB/s\"", read) == "g.toml:1:12: gpu.hbm_read: must be above 0, not -1 TB/s");
  CHECK(refusal("hbm_read = \"0 B/s\"", read) == "g.toml:1:12: gpu.hbm_read: must be above 0, not 0 B/s");
  CHECK(refusal("hbm_read = \"5 TB\"", read) ==
        Part{"g.toml:1:12: gpu.hbm_read: '5 TB' is not a bandwidth: 'TB' is the unit of a size; allowed: B/s"});
}

TEST_CASE("a preset number without kind or source is refused, and so is a kind that does not exist") {
  const auto read = [](Section& section) { section.integer("x", 0, 99); };
  const auto preset = [&](std::string_view text) { return refusal(text, read, Provenance::required); };
  CHECK(preset("x = { value = 1, kind = \"measured\", source = \"a bench\" }") == "no error");
  CHECK(preset("x = 1") == Part{"g.toml:1:5: gpu.x: a preset states where each value comes from"});
  CHECK(preset("x = { value = 1, kind = \"measured\" }") == "g.toml:1:5: gpu.x: has no source");
  CHECK(preset("x = { value = 1, source = \"a bench\" }") == "g.toml:1:5: gpu.x: has no kind");
  CHECK(preset("x = { value = 1, kind = \"measured\", source = \"\" }") ==
        Part{"gpu.x.source: must be a text"});
  CHECK(preset("x = { value = 1, kind = \"guess\", source = \"me\" }") ==
        "g.toml:1:25: gpu.x.kind: must be one of published, measured, derived, assumed");
  CHECK(preset("x = { value = 1, kind = \"derived\", source = \"s\", unit = 3 }") ==
        Part{"gpu.x.unit: unknown key"});
}

TEST_CASE("an assumed number must be a range, and a range must be ordered and whole") {
  const auto read = [](Section& section) { section.integer("x", 0, 99); };
  const auto preset = [&](std::string_view text) { return refusal(text, read, Provenance::required); };
  CHECK(preset("x = { low = 1, nominal = 2, high = 3, kind = \"assumed\", source = \"s\" }") == "no error");
  CHECK(preset("x = { value = 1, kind = \"assumed\", source = \"s\" }") ==
        Part{"is assumed, so it must be a range"});
  CHECK(refusal("x = { low = 3, nominal = 2, high = 4 }", read) == Part{"must have low <= nominal <= high"});
  CHECK(refusal("x = { low = 1, high = 4 }", read) == Part{"a range needs low, nominal and high"});
  CHECK(refusal("x = { value = 1, high = 4 }", read) == Part{"both a value and a range"});
  CHECK(refusal("x = { low = 1, nominal = 2, high = 100 }", read) ==
        Part{"g.toml:1:36: gpu.x: must be between 0 and"});
}

TEST_CASE("a choice names what is allowed and what may have been meant") {
  const std::array<std::pair<std::string_view, int>, 2> names = {{{"direct", 1}, {"ring", 2}}};
  const auto read = [&](Section& section) {
    const int chosen = section.choice<int>("algorithm", names);
    CHECK(chosen == 2);
  };
  CHECK(refusal("algorithm = \"ring\"", read) == "no error");
  CHECK(refusal("algorithm = \"rign\"", read) ==
        "g.toml:1:13: gpu.algorithm: unknown name 'rign'; did you mean 'ring'? known: direct, ring");
  CHECK(refusal("algorithm = 3", read) == "g.toml:1:13: gpu.algorithm: must be one of direct, ring");
}

TEST_CASE("an error is one line even when the file's keys and strings are not") {
  const auto read = [](Section& section) { section.text("name"); };
  CHECK(refusal("name = \"x\"\n\"odd\\nkey\" = 1\n", read) ==
        "g.toml:2:1: gpu.odd?key: unknown key; known: name");
}

double drawn(std::string_view text, std::uint64_t draw, std::uint64_t seed = 1) {
  const Node node = parse_toml(text, "g.toml");
  return Section(node, "gpu", Sampling(draw, seed)).bandwidth("rate").value;
}

TEST_CASE("without a draw a range is its nominal value") {
  const Node node =
      parse_toml("rate = { low = \"1 GB/s\", nominal = \"2 GB/s\", high = \"4 GB/s\" }", "g.toml");
  CHECK(Section(node, "gpu").bandwidth("rate") == BytesPerSecond{2e9});
}

TEST_CASE("draws stay in the range, fill it evenly, and depend on seed, draw and key alone") {
  const std::string text = "rate = { low = \"1 GB/s\", nominal = \"2 GB/s\", high = \"4 GB/s\" }";
  double sum = 0;
  std::set<double> values;
  for (std::uint64_t draw = 0; draw < 1000; ++draw) {
    const double value = drawn(text, draw);
    CHECK(value >= 1e9);
    CHECK(value <= 4e9);
    sum += value;
    values.insert(value);
  }
  CHECK(values.size() == 1000);
  // The mean of 1,000 uniform values on [1, 4] is 2.5 with a standard error of 3 / sqrt(12 x 1000) = 0.027.
  CHECK(sum / 1000 == doctest::Approx(2.5e9).epsilon(0.04));
  CHECK(drawn(text, 7) == drawn("other = 1\n" + text, 7));
  CHECK(drawn(text, 7) != drawn(text, 7, 2));
  const Node node = parse_toml(
      "a = { low = 0.0, nominal = 0.5, high = 1.0 }\nb = { low = 0.0, nominal = 0.5, high = 1.0 }", "g.toml");
  Section section(node, "gpu", Sampling(7, 1));
  CHECK(section.fraction("a") != section.fraction("b"));
}

TEST_CASE(
    "a draw is the same on every machine: Philox 4x32-10 keyed by the seed, counted by draw and FNV-1a of the "
    "key") {
  // Computed apart from this code, from the definitions of both functions.
  CHECK(Sampling(0, 1).sample({0.0, 0.5, 1.0}, "gpu.hbm_copy") ==
        doctest::Approx(0.13750885106429633).epsilon(1e-15));
  CHECK(Sampling(41, 7).sample({0.0, 0.5, 1.0}, "gpu.hbm_copy") ==
        doctest::Approx(0.796263312149788).epsilon(1e-15));
}

TEST_CASE("whole numbers are drawn with both ends, each as often as the others") {
  std::array<int, 4> count = {};
  for (std::uint64_t draw = 0; draw < 4000; ++draw) {
    const std::int64_t value = Sampling(draw, 1).sample_integer({5, 6, 8}, "gpu.x");
    REQUIRE(value >= 5);
    REQUIRE(value <= 8);
    ++count.at(static_cast<std::size_t>(value - 5));
  }
  for (const int times : count)
    CHECK(times == doctest::Approx(1000).epsilon(0.12));  // 4 standard deviations
}

}}  // namespace c3::config_section_test
