#include "configs/toml/quantity_text.hpp"

#include <doctest/doctest.h>

#include <stdexcept>
#include <string>
#include <vector>

namespace c3::config_quantity_test { namespace {

std::string refusal(std::string_view text, Dimension dimension) {
  try {
    parse_quantity(text, dimension);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "accepted";
}

struct Good {
  std::string text;
  Dimension dimension;
  double value;
};

TEST_CASE("quantities are read in SI base units, decimal and binary prefixes apart, bits apart from bytes") {
  const std::vector<Good> table = {
      {"5.3 TB/s", Dimension::bandwidth, 5.3e12},
      {"400 Gb/s", Dimension::bandwidth, 50e9},
      {"1 GiB/s", Dimension::bandwidth, 1073741824.0},
      {"64 GiB", Dimension::bytes, 68719476736.0},
      {"64 GB", Dimension::bytes, 64e9},
      {"64KiB", Dimension::bytes, 65536.0},
      {"60 kB", Dimension::bytes, 60e3},
      {"8 b", Dimension::bytes, 1.0},
      {"0 B", Dimension::bytes, 0.0},
      {"2 us", Dimension::duration, 2e-6},
      {"1.5e3 ns", Dimension::duration, 1.5e-6},
      {"3 ms", Dimension::duration, 3e-3},
      {"708 TFLOP/s", Dimension::flop_rate, 708e12},
      {"2.1 GHz", Dimension::frequency, 2.1e9},
      {"1207 MHz", Dimension::frequency, 1207e6},
      {"-1 GB/s", Dimension::bandwidth, -1e9},
  };
  for (const Good& good : table) {
    CAPTURE(good.text);
    CHECK(parse_quantity(good.text, good.dimension) == doctest::Approx(good.value).epsilon(1e-15));
  }
}

struct Bad {
  std::string text;
  Dimension dimension;
  std::string part;  ///< of the message
};

TEST_CASE("a text that is no quantity of the dimension is refused with the reason and the allowed units") {
  const std::vector<Bad> table = {
      {"64 GiB", Dimension::bandwidth, "'GiB' is the unit of a size; allowed: B/s, kB/s, KiB/s"},
      {"5.3 TB/s", Dimension::bytes, "'TB/s' is the unit of a bandwidth"},
      {"2 us", Dimension::frequency, "'us' is the unit of a duration; allowed: Hz, kHz, MHz, GHz"},
      {"5.3", Dimension::bandwidth, "it has no unit"},
      {"5.3 tb/s", Dimension::bandwidth, "'tb/s' is not a unit of it"},
      {"5 Tflop/s", Dimension::flop_rate, "allowed: FLOP/s, GFLOP/s"},
      {"5 TFLOPS/s", Dimension::flop_rate, "did you mean 'TFLOP/s'?"},
      {"2 us ", Dimension::duration, "'us ' is not a unit of it"},
      {"", Dimension::bytes, "must begin with a number"},
      {"fast", Dimension::bandwidth, "must begin with a number"},
      {"nan s", Dimension::duration, "out of range"},
      {"inf B", Dimension::bytes, "out of range"},
      {"1e999 B", Dimension::bytes, "out of range"},
      {"1e20 TB", Dimension::bytes, "out of range"},
  };
  for (const Bad& bad : table) {
    CAPTURE(bad.text);
    const std::string message = refusal(bad.text, bad.dimension);
    CAPTURE(message);
    CHECK(message.find(bad.part) != std::string::npos);
    CHECK(message.find("'" + bad.text + "' is not a ") == 0);
  }
}

}}  // namespace c3::config_quantity_test
