// Bytes and times of random operators of every class of the table, written in words.

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include "configs/presets/preset_store.hpp"
#include "engine/errors.hpp"
#include "gpu/kernels/describe.hpp"
#include "gpu/kernels/operator_table.hpp"

namespace c3::gpu_operator_bytes_test {

namespace {

const std::vector<GpuSpec>& gpus() {
  static const std::vector<GpuSpec> all = {load_gpu("h100-sxm"), load_gpu("l40s"), load_gpu("mi300x"),
                                           load_gpu("t4")};
  return all;
}

std::string number(int low, int high) { return std::to_string(*rc::gen::inRange(low, high + 1)); }

std::string one_of(std::vector<std::string> words) { return *rc::gen::elementOf(std::move(words)); }

/// A random operator of a random class; nothing where the words mean none.
std::optional<Operator> any_operator() {
  const OperatorClass& operator_class = **rc::gen::elementOf(
      std::vector<const OperatorClass*>(operator_classes().begin(), operator_classes().end()));
  const std::vector<std::string_view> names(operator_class.operators.begin(), operator_class.operators.end());
  const std::string name(*rc::gen::elementOf(names));
  const int key_heads = *rc::gen::inRange(1, 9);
  const int side = *rc::gen::inRange(1, 4);  // of a window
  using enum ShapeKey;
  const std::vector<std::pair<ShapeKey, std::string>> given = {
      {op, name},
      {dtype, one_of({"bf16", "fp16", "fp32", "fp8"})},
      {b, number(1, 64)},
      {m, number(1, 8192)},
      {n, number(1, 8192)},
      {k, number(16, 8192)},
      {heads, std::to_string(8 * key_heads)},
      {kv_heads, std::to_string(key_heads)},
      {seq, number(1, 4096)},
      {head_dim, one_of({"64", "128"})},
      {rows, number(1, 200'000)},
      {cols, number(1, 10'000)},
      {channels, one_of({"16", "64", "256"})},
      {filters, one_of({"16", "64", "256"})},
      {height, number(8, 112)},
      {filter_h, std::to_string(side)},
      // No more than keeps an image's size: of results in padding alone, nobody needs to read the gradient.
      {pad_h, std::to_string((side - 1) / 2)},
      {lookups, number(1, 60)},
      {stage,
       one_of({"norm", "cumsum", "inverse", "rows", "states", "output", "chunk_state", "passing", "product",
               "state_gradient", "input_gradient", "row_gradient", "value_gradient", "key_gradient"})},
      {pass, one_of({"", "", "backward", "data", "weight"})}};
  ShapeWords words;
  for (const auto& [key, word] : given)
    words[key] = word;
  try {
    return operator_of(words);
  } catch (const ShapeError&) {
    return std::nullopt;
  }
}

/// \p check(operator, GPU) for random ones.
template <class Check>
bool holds(Check check) {
  return rc::check([&] {
    const GpuSpec& gpu = *rc::gen::elementOf(gpus());
    const std::optional<Operator> op = any_operator();
    RC_PRE(op.has_value());
    try {
      describe("any", *op, gpu);
    } catch (const InfeasibleError&) {
      RC_DISCARD("the GPU cannot run it");
    }
    RC_LOG() << name_of(*op) << " " << op->of_class().shape_text(*op) << " on " << gpu.name << "\n";
    check(*op, gpu);
  });
}

constexpr double kRounding = 1.0 - 1e-9;

}  // namespace

TEST_CASE("property: an operator alone and cold moves at least its compulsory bytes at HBM") {
  CHECK(holds([](const Operator& op, const GpuSpec& gpu) {
    const KernelTime cold = time_of(op, gpu, {.cold = true});
    RC_ASSERT((cold.hbm_read + cold.hbm_write).value >= kRounding * describe("any", op, gpu).compulsory.value);
    RC_ASSERT(cold.found.value == 0.0);
  }));
}

TEST_CASE("property: bytes that an operator spares HBM are stated as found or kept in the caches") {
  CHECK(holds([](const Operator& op, const GpuSpec& gpu) {
    const KernelTime warm = time_of(op, gpu);
    const Bytes moved = warm.hbm_read + warm.hbm_write;
    RC_ASSERT((moved + warm.found + warm.kept).value >= kRounding * describe("any", op, gpu).compulsory.value);
  }));
}

TEST_CASE("rows that are split into more, shorter rows of the same bytes never take much longer") {
  // 2^26 numbers, of every operator without a matrix product whose class takes rows; but PyTorch's own norms,
  // which give a row a work group however short, as they do on hardware. A wave that has a row of its own loses
  // little: down to 128 columns half a row takes at most 1.6 times as long, most where a softmax's rows fill a
  // work group's loads only once (measured: `block_us`).
  constexpr std::int64_t kNumbers = 1 << 26;
  const OperatorClasses all = operator_classes();
  const OperatorClass* const vectors = *std::ranges::find_if(
      all, [](const OperatorClass* operator_class) { return operator_class->name == "vector"; });
  for (const GpuSpec& gpu : gpus()) {
    for (const std::string_view name : vectors->operators) {
      for (const std::string_view pass : {"forward", "backward"}) {
        if (name.ends_with("_eager")) continue;
        double longer = 0.0;
        for (std::int64_t cols = 1 << 15; cols >= 128; cols /= 2) {
          ShapeWords words;
          words[ShapeKey::op] = name;
          words[ShapeKey::pass] = pass;
          words[ShapeKey::dtype] =
              name.find("_mx9") != name.npos || name.find("_mx6") != name.npos ? "fp32" : "bf16";
          words.number(ShapeKey::rows) = kNumbers / cols;
          words.number(ShapeKey::cols) = cols;
          const double time = time_of(operator_of(words), gpu, {.launch = LaunchCost::device}).time.value;
          CAPTURE(gpu.name);
          CAPTURE(name);
          CAPTURE(pass);
          CAPTURE(cols);
          if (longer > 0.0) CHECK(time < 1.6 * longer);
          longer = time;
        }
      }
    }
  }
}

}  // namespace c3::gpu_operator_bytes_test
