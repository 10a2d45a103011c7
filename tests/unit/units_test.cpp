#include "engine/units.hpp"

#include <doctest/doctest.h>

#include <type_traits>

#include "tests/support/print_units.hpp"

namespace c3::units_test { namespace {

static_assert(std::is_same_v<decltype(1.0_B / 1.0_GBps), Seconds>);
static_assert(std::is_same_v<decltype(1.0_B / 1.0_s), BytesPerSecond>);
static_assert(std::is_same_v<decltype(1.0_GBps * 1.0_s), Bytes>);
static_assert(std::is_same_v<decltype(Flops{1.0} / 1.0_TFLOPs), Seconds>);
static_assert(std::is_same_v<decltype(1.0_B / 1.0_B), double>);
static_assert(sizeof(Bytes) == sizeof(double));

TEST_CASE("bytes over bytes per second are seconds") {
  // 900 MB at 450 GB/s: 900e6 / 450e9 s.
  CHECK((900.0_MB / 450.0_GBps).value == doctest::Approx(2e-3).epsilon(1e-15));
}

TEST_CASE("a rate times a duration is an amount") { CHECK(5.0_TBps * 2.0_ms == 10.0_GB); }

TEST_CASE("like quantities divide to a plain ratio") { CHECK(3.0_GB / 1.5_GB == 2.0); }

TEST_CASE("literals with decimal prefixes scale by powers of ten") {
  CHECK(1.0_kB == Bytes{1e3});
  CHECK(1.0_MB == Bytes{1e6});
  CHECK(1.0_GB == Bytes{1e9});
  CHECK(1.0_GBps == BytesPerSecond{1e9});
  CHECK(1.0_TBps == BytesPerSecond{1e12});
  CHECK(1.0_TFLOPs == FlopsPerSecond{1e12});
  CHECK(1.0_MHz == Hertz{1e6});
  CHECK(1.0_ms == Seconds{1e-3});
  CHECK(1.0_us == Seconds{1e-6});
  CHECK(1.0_ns == Seconds{1e-9});
}

TEST_CASE("literals with binary prefixes scale by powers of 1024") {
  CHECK(1.0_KiB == Bytes{1024.0});
  CHECK(1.0_MiB == Bytes{1048576.0});
  CHECK(896.0_MiB == Bytes{939524096.0});
  CHECK(1.0_GiB == Bytes{1073741824.0});
}

TEST_CASE("sums, differences and multiples keep the dimension") {
  Bytes total = 1.0_GB + 500.0_MB;
  CHECK(total == 1.5_GB);
  total += 500.0_MB;
  CHECK(total == 2.0_GB);
  total -= 1.0_GB;
  CHECK(total - 1.0_GB == 0.0_B);
  CHECK(2.0 * total == total * 2.0);
  CHECK(total / 4.0 == 250.0_MB);
}

TEST_CASE("quantities order by value, whatever prefix they were written with") {
  CHECK(1.0_GiB > 1.0_GB);
  CHECK(1000.0_us <= 1.0_ms);
  CHECK(999.0_us < 1.0_ms);
}

TEST_CASE("a quantity that is not given is zero") { CHECK(Seconds{} == 0.0_s); }

}}  // namespace c3::units_test
