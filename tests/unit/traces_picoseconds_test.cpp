#include <doctest/doctest.h>

#include "workloads/traces/picoseconds.hpp"

namespace c3::traces_picoseconds_test {

namespace {

WidePicoseconds picoseconds(std::string_view text) {
  const auto read = parse_microseconds(text);
  REQUIRE(read.has_value());
  return *read;
}

}  // namespace

TEST_CASE("microseconds of a trace are read without rounding") {
  CHECK(picoseconds("4458677009853.422") == WidePicoseconds{4'458'677'009'853'422} * 1000);
  // A double of microseconds would lose the last digit.
  CHECK(picoseconds("1706850122846038") == WidePicoseconds{1'706'850'122'846'038} * 1'000'000);
  CHECK(picoseconds("0.000001") == 1);
  CHECK(picoseconds("-2.5") == -2'500'000);
}

TEST_CASE("exponents and surplus decimals are read to the nearest picosecond") {
  CHECK(picoseconds("1.5e3") == 1'500'000'000);
  CHECK(picoseconds("1.706850122846038E+15") == WidePicoseconds{1'706'850'122'846'038} * 1'000'000);
  CHECK(picoseconds("0.0000014") == 1);
  CHECK(picoseconds("0.0000015") == 2);
  CHECK(picoseconds("24730.117000000000000000000000000000000001") == 24'730'117'000);
  CHECK(picoseconds("24730.116999999998") == 24'730'117'000);
}

TEST_CASE("what is no number of microseconds is refused") {
  for (const char* text : {"", "-", ".", "1.2.3", "12a", "1e", "1e5x", "nan", "inf", "1e99", "0x10"})
    CHECK_FALSE(parse_microseconds(text).has_value());
}

TEST_CASE("dates that do not fit 64 bits are not cut off") {
  CHECK(narrowed(picoseconds("9223372036854.0"))->count == 9'223'372'036'854'000'000);
  CHECK_FALSE(narrowed(picoseconds("9223372036855")).has_value());
  CHECK_FALSE(narrowed(picoseconds("-9223372036855")).has_value());
}

}  // namespace c3::traces_picoseconds_test
