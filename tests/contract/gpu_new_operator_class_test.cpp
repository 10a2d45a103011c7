// A class of operators that is one OperatorClass and nothing else is read, described, timed and run as those of
// the table are.

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "engine/errors.hpp"
#include "gpu/kernels/describe.hpp"
#include "gpu/kernels/kernel_bound.hpp"
#include "gpu/kernels/operator_table.hpp"
#include "tests/support/clusters.hpp"
#include "tests/support/near.hpp"
#include "tests/support/new_classes.hpp"
#include "workloads/execute/run.hpp"
#include "workloads/execute/step_breakdown.hpp"
#include "workloads/program/written_streams.hpp"

namespace c3::gpu_new_operator_class_test {

using namespace literals;
using namespace test;

namespace {

constexpr TransposeShape kShape = {.rows = 8192, .cols = 8192, .dtype = DType::bf16};

ShapeWords words(std::string_view op) {
  ShapeWords given;
  given[ShapeKey::op] = op;
  given[ShapeKey::dtype] = "bf16";
  given[ShapeKey::rows] = given[ShapeKey::cols] = "8192";
  return given;
}

}  // namespace

TEST_CASE("a new class is read from words beside those of the table, and refused like them") {
  const auto all = with_new_classes();
  CHECK(operator_of(words("transpose"), all) == Operator{kShape});
  CHECK(operator_of(words("relu"), all).as<TransposeShape>() == nullptr);
  CHECK_THROWS_WITH_AS(operator_of(words("transpose+relu"), all),
                       "'transpose' cannot be fused with another operator", ShapeError);
  CHECK_THROWS_AS(operator_of(words("transpose")), ShapeError);  // not of the table
  CHECK(std::string(name_of(Operator{kShape})) == "transpose");
}

TEST_CASE("operators are equal when class and shape are") {
  TransposeShape other = kShape;
  other.rows = 32;
  CHECK(Operator{kShape} == Operator{kShape});
  CHECK_FALSE(Operator{kShape} == Operator{other});
  CHECK_FALSE(Operator{kShape} == operator_of(words("copy")));
}

TEST_CASE("a new class is timed by what its description moves") {
  // 128 MiB in and as much out of an HBM that copies at the measured rate, after the launch.
  const GpuSpec gpu = mi300x_like_cluster(2).gpu;
  const double moved = 2.0 * matrix(kShape).value;
  const KernelTime time = time_of(kShape, gpu);
  CHECK(time.hbm_read.value == near(matrix(kShape).value));
  CHECK(time.hbm_write.value == near(matrix(kShape).value));
  CHECK(BoundFinder(gpu).bound_of(kShape, time) == KernelBound::latency);  // each of its waves waits for memory
  CHECK(time.time.value > moved / gpu.hbm.copy.value);
  CHECK(time.time.value < 1.2 * moved / gpu.hbm.copy.value + 20e-6);
  TransposeShape odd = kShape;
  odd.rows = 33;
  CHECK_THROWS_WITH_AS(time_of(odd, gpu), "'transpose': needs whole tiles", InfeasibleError);
}

TEST_CASE("a new class runs in an experiment, at each grain, and is summed up under its name") {
  Experiment experiment;
  experiment.cluster = mi300x_like_cluster(2);
  experiment.program = program_of({{"compute", {{"turn", kShape}}}}, experiment.cluster.ranks());
  experiment.strategies.resize(1);
  const double alone = time_of(kShape, experiment.cluster.gpu).time.value;
  for (const KernelGrain grain : enum_values<KernelGrain>()) {
    CAPTURE(name_of(grain));
    experiment.measure.vector_grain = grain;
    CHECK(run_once(experiment, experiment.strategies[0], {}).time.value == near(alone, 0.05));
  }
  CHECK(class_of(experiment.program, experiment.program.scripts[0].streams[0][0]) == "transpose");
  CHECK(part_of(kShape, 4) == Operator{kShape});  // it does not say how it is cut
}

TEST_CASE("every class of the table has names of its own, and its fields are what it reads") {
  std::set<std::string_view> names;
  for (const OperatorClass* operator_class : operator_classes()) {
    CAPTURE(operator_class->name);
    for (const std::string_view word : operator_class->operators)
      CHECK(names.insert(word).second);
    for (const std::string_view word : operator_class->aliases)
      CHECK(names.insert(word).second);
  }
  CHECK(names.contains("gemm"));
}

}  // namespace c3::gpu_new_operator_class_test
