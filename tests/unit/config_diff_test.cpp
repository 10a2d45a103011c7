#include <doctest/doctest.h>

#include <optional>
#include <string>

#include "configs/toml/config_diff.hpp"
#include "configs/toml/toml_text.hpp"

namespace c3::config_diff_test { namespace {

std::vector<ConfigChange> diff(const std::string& a, const std::string& b,
                               const ConfigDiffOptions& options = {}) {
  return config_diff(*parse_toml(a, "a").table(), *parse_toml(b, "b").table(), options);
}

TEST_CASE("quantities that are equal in SI units are no change, whatever they are written in") {
  CHECK(diff(R"(size = "1 GiB"
                time = "500 ns")",
             R"(size = "1024 MiB"
                time = "0.5 us")")
            .empty());
  CHECK(diff(R"(size = "1 GB")", R"(size = "1 GiB")").size() == 1);
  CHECK(diff(R"(x = "1 s")", R"(x = "1 B")").size() == 1);  // other dimensions are never equal
}

TEST_CASE("a key has its dotted name, an element of a list its index, and numbers how much they change") {
  const auto changes = diff(R"([model]
                               tokens = 2048
                               [[stream]]
                               run = ["a", { gemm = { m = 4 } }])",
                            R"([model]
                               tokens = 4096
                               [[stream]]
                               run = ["b", { gemm = { m = 5 } }])");
  CHECK(changes == std::vector<ConfigChange>{{"model.tokens", "2048", "4096", 1.0},
                                             {"stream[0].run[0]", "a", "b", std::nullopt},
                                             {"stream[0].run[1].gemm.m", "4", "5", 0.25}});
}

TEST_CASE("keys of one configuration only come with nothing beside them, those of the second last") {
  const auto changes = diff("[x]\na = 1\nb = true", "[x]\nc = []\nb = false");
  CHECK(changes == std::vector<ConfigChange>{{"x.a", "1", std::nullopt, std::nullopt},
                                             {"x.b", "true", "false", std::nullopt},
                                             {"x.c", std::nullopt, "[]", std::nullopt}});
}

TEST_CASE("a sourced value is compared by its numbers, and by its source only when asked") {
  const std::string sourced = R"([gpu]
                                 hbm = { value = "5 TB/s", kind = "published", source = "a sheet" })";
  const std::string bare = R"([gpu]
                              hbm = "5000 GB/s")";
  CHECK(diff(sourced, bare).empty());
  const auto changes = diff(sourced, bare, {.with_sources = true});
  CHECK(changes == std::vector<ConfigChange>{{"gpu.hbm.kind", "published", std::nullopt, std::nullopt},
                                             {"gpu.hbm.source", "a sheet", std::nullopt, std::nullopt}});
}

TEST_CASE("a range differs where any of its three numbers does") {
  const auto changes = diff(R"(gap = { low = "1 us", nominal = "2 us", high = "3 us" })",
                            R"(gap = { low = "1 us", nominal = "2 us", high = "4 us" })");
  CHECK(changes == std::vector<ConfigChange>{{"gap", "2 us (1 us to 3 us)", "2 us (1 us to 4 us)", 0.0}});
}

TEST_CASE("numbers within the tolerance are equal, texts never") {
  CHECK(diff("x = 100.0\ny = \"1.00 s\"", "x = 100.9\ny = \"1.01 s\"", {.tolerance = 0.01}).empty());
  CHECK(diff("x = 100.0", "x = 102.0", {.tolerance = 0.01}).size() == 1);
  CHECK(diff("x = \"a\"", "x = \"b\"", {.tolerance = 0.01}).size() == 1);
}

TEST_CASE("a list in the place of a value is a change of both") {
  const auto changes = diff("x = 1", "x = [1, 2]");
  CHECK(changes.size() == 3);  // x gone, x[0] and x[1] new
}

}}  // namespace c3::config_diff_test
