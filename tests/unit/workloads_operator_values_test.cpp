// Values that are found once of each operator unlike the others.

#include <doctest/doctest.h>

#include <stdexcept>

#include "gpu/kernels/gemm/gemm_shape.hpp"
#include "workloads/program/operator_values.hpp"

namespace c3::workloads_operator_values_test {

namespace {

const Operator kSmall{GemmShape{256, 256, 64, DType::bf16}}, kLarge{GemmShape{512, 256, 64, DType::bf16}};
constexpr NameId kName = 3, kOtherName = 1;

int refuse() { throw std::runtime_error("no kernel can do this"); }

}  // namespace

TEST_CASE("the value of an operator is found once, whatever its operations are called") {
  OperatorValues<int> values;
  int found = 0;
  const auto next = [&] { return ++found; };
  CHECK(values.of(kName, kSmall, next) == 1);
  CHECK(values.of(kName, kLarge, next) == 2);
  CHECK(values.of(kOtherName, kSmall, next) == 1);
  CHECK(values.of(kName, Operator{GemmShape{256, 256, 64, DType::bf16}}, next) == 1);
  CHECK(found == 2);
  CHECK(values.size() == 2);
}

TEST_CASE("an operator whose value could not be found is asked for again") {
  OperatorValues<int> values;
  CHECK_THROWS_AS(values.of(kName, kSmall, refuse), std::runtime_error);
  CHECK(values.size() == 0);
  CHECK(values.of(kName, kSmall, [] { return 5; }) == 5);
  CHECK_THROWS_AS(values.of(kName, kLarge, refuse), std::runtime_error);
  CHECK(values.of(kName, kSmall, refuse) == 5);
}

}  // namespace c3::workloads_operator_values_test
