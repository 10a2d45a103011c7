// A derived product against a count of its multiplications, one by one of the recorded extents; a re-timing of
// a whole trace against its own kernels.

#include <cmath>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <rapidcheck.h>

#include "configs/presets/preset_store.hpp"
#include "gpu/kernels/operator_table.hpp"
#include "tests/support/trace_text.hpp"
#include "workloads/traces/retiming/kernel_operators.hpp"
#include "workloads/traces/retiming/retimed_kernels.hpp"

namespace c3::traces_kernel_operators_test {

namespace {

bool is_near(double value, double expected) { return std::abs(value - expected) <= 1e-9 * expected; }

int extent() { return *rc::gen::inRange(1, 5000); }

std::string shapes(const std::string& dims, const std::string& type) {
  return fmt::format(R"("Input Dims":{},"Input type":["{}","{}","{}"])", dims, type, type, type);
}

KernelOperator found_for(const std::string& op, const std::string& recorded) {
  TraceText text;
  text.op(op, 0, 100, recorded).launch("gemm", 20, 40, 30, 5);
  const Rank rank(text.read());
  return KernelOperators(rank).of(0);
}

}  // namespace

TEST_CASE("property: flops of a derived product are 2 b m n k of the recorded extents") {
  CHECK(rc::check([] {
    const int b = extent();
    const int m = extent();
    const int n = extent();
    const int k = extent();
    struct Form {
      std::string op, dims;
    };
    const std::vector<Form> forms{
        {"aten::bmm", fmt::format("[[{},{},{}],[{},{},{}]]", b, m, k, b, k, n)},
        {"aten::baddbmm", fmt::format("[[{},{},{}],[{},{},{}],[{},{},{}]]", b, m, n, b, m, k, b, k, n)},
        {"aten::mm", fmt::format("[[{},{}],[{},{}]]", b * m, k, k, n)},
        {"aten::addmm", fmt::format("[[{}],[{},{}],[{},{}]]", n, b * m, k, k, n)},
        {"aten::linear", fmt::format("[[{},{},{}],[{},{}]]", b, m, k, n, k)}};
    const double flops = 2.0 * b * m * static_cast<double>(n) * k;
    for (const Form& form : forms) {
      const KernelOperator found = found_for(form.op, shapes(form.dims, "c10::BFloat16"));
      RC_ASSERT(found.op.has_value());
      RC_ASSERT(matrix_flops(*found.op).value == flops);
    }
  }));
}

TEST_CASE("property: modelled and kept times add up, and a GPU's own time scales to the recorded one") {
  const GpuSpec a100 = load_gpu("a100-sxm-80gb");
  CHECK(rc::check([&] {
    TraceText text;
    const int kernels = *rc::gen::inRange(1, 8);
    double recorded = 0;
    for (int i = 0; i < kernels; ++i) {
      const double start = 1000.0 * i;
      const int duration = extent();
      const bool has_shape = *rc::gen::arbitrary<bool>();
      recorded += duration * 1e-6;
      text.op(
          "aten::mm", start, 900,
          has_shape ? shapes(fmt::format("[[{},{}],[{},{}]]", extent(), 64, 64, extent()), "c10::Half") : "");
      text.launch("gemm", start + 10, start + 10'000.0 * (i + 1), duration, i + 1);
    }
    std::vector<Rank> ranks;
    ranks.emplace_back(text.read());
    const Retiming retiming = retime(ranks, a100, &a100);
    double sum = 0;
    for (const RetimedKernel& kernel : retiming.kernels)
      sum += kernel.modelled().value;
    RC_ASSERT(is_near(retiming.all.recorded.value, recorded));
    RC_ASSERT(is_near(retiming.all.modelled().value, sum));
    RC_ASSERT(is_near(retiming.all.scaled.value, recorded));
    std::size_t kept = 0;
    for (const FallBack& fall_back : retiming.fall_backs)
      kept += fall_back.count;
    RC_ASSERT(kept + retiming.all.covered == retiming.kernels.size());
  }));
}

}  // namespace c3::traces_kernel_operators_test
