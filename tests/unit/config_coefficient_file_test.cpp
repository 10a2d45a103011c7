// Coefficient tables as files, and those that ship.

#include "configs/presets/coefficient_file.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "configs/presets/preset_store.hpp"
#include "gpu/kernels/attention/attention_shape.hpp"
#include "gpu/kernels/convolution/convolution_shape.hpp"
#include "gpu/kernels/describe.hpp"
#include "gpu/kernels/gemm/gemm_shape.hpp"
#include "gpu/kernels/vector/vector_shape.hpp"
#include "tests/support/near.hpp"
#include "tests/unit/config_files.hpp"

namespace c3::config_coefficient_file_test {
namespace {

CoefficientTable shipped(std::string_view kernel_class) {
  return load_coefficients(kernel_class, shipped_coefficients(kernel_class));
}

/// \p key is that of a coefficient, or that with a family or memory technology.
const CoefficientKey& key_of(const std::string& key, const std::vector<CoefficientKey>& known) {
  const auto found = std::ranges::find_if(known, [&](const CoefficientKey& coefficient) {
    return coefficient.differs ? key.starts_with(std::string(coefficient.key) + "_") : key == coefficient.key;
  });
  REQUIRE(found != known.end());
  return *found;
}

template <class Fields, class Set>
void check_ranges(const Fields& fields, const Set& set) {
  for (const auto& field : fields) {
    CAPTURE(field.key);
    CHECK(set.*field.member >= field.low);
    CHECK(set.*field.member <= field.high);
  }
}

/// The line of \p text that sets \p key.
std::string line_of(const std::string& text, const std::string& key) {
  const std::size_t begin = text.find("\n" + key + " = ") + 1;
  return text.substr(begin, text.find('\n', begin) - begin);
}

}  // namespace

TEST_CASE("the coefficients that ship are within their ranges") {
  for (const std::string_view kernel_class : kKernelClasses) {
    CAPTURE(kernel_class);
    const CoefficientTable table = shipped(kernel_class);
    CHECK(table.kernel_class == kernel_class);
    const auto known = coefficient_keys(kernel_class);
    CHECK(table.values.size() >= known.size());
    for (const auto& [key, value] : table.values) {
      CAPTURE(key);
      CHECK(value >= key_of(key, known).low);
      CHECK(value <= key_of(key, known).high);
    }
  }
}

TEST_CASE("every GPU preset has coefficients of every class, and runs a kernel of each") {
  for (const std::string& name : preset_names(PresetKind::gpu)) {
    CAPTURE(name);
    const GpuSpec gpu = load_gpu(name);
    check_ranges(kGemmFields, gpu.kernels.vector_gemm);
    check_ranges(kGemmFields, gpu.kernels.matrix_gemm);
    check_ranges(kVectorFields, gpu.kernels.vector);
    check_ranges(kAttentionFields, gpu.kernels.attention);
    check_ranges(kConvolutionFields, gpu.kernels.convolution);
    check_ranges(kScanFields, gpu.kernels.scan);
    for (const MatrixRate& rate : gpu.compute.matrix) {
      CAPTURE(name_of(rate.dtype));
      CHECK(rate.sustained <= rate.peak);
      CHECK(std::isfinite(time_of(GemmShape{512, 512, 512, rate.dtype}, gpu).time.value));
      CHECK(std::isfinite(time_of(GemmShape{512, 512, 512, rate.dtype, 4}, gpu).time.value));
      const AttentionShape attention = {
          .heads = 8, .kv_heads = 8, .queries = 512, .keys = 512, .head_dim = 64, .dtype = rate.dtype};
      CHECK(std::isfinite(time_of(attention, gpu).time.value));
      const ConvolutionShape convolution = {
          .channels = 64, .filters = 64, .image = {56, 56}, .filter = {3, 3}, .dtype = rate.dtype};
      CHECK(std::isfinite(time_of(convolution, gpu).time.value));
    }
    for (const VectorOpTraits& op : kVectorOps) {
      CAPTURE(op.name);
      CHECK(std::isfinite(time_of(VectorShape{.chain = op.op, .rows = 512, .cols = 2000}, gpu).time.value));
    }
  }
}

TEST_CASE("a GPU takes the share of its family, before that of its memory, before the default") {
  const CoefficientTable products = shipped("vector_gemm");
  CHECK(load_gpu("t4").kernels.vector_gemm.share == *products.find("share_turing"));
  CHECK(load_gpu("v100-pcie-32gb").kernels.vector_gemm.share == *products.find("share_default"));
  const CoefficientTable vectors = shipped("vector");
  CHECK(load_gpu("p100-pcie-16gb").kernels.vector.memory_share == *vectors.find("memory_share_pascal"));
  CHECK(load_gpu("t4").kernels.vector.memory_share == *vectors.find("memory_share_gddr6"));
  CHECK(load_gpu("v100-pcie-32gb").kernels.vector.memory_share == *vectors.find("memory_share_default"));
}

TEST_CASE("products discount the pin rate of GDDR once") {
  for (const char* name : {"p4", "t4", "l40s", "rtx-pro-6000-server"}) {
    CAPTURE(name);
    const KernelCoefficients kernels = load_gpu(name).kernels;
    CHECK(kernels.matrix_gemm.hbm_share == 1.0);
    CHECK(kernels.vector_gemm.hbm_share == 1.0);
    CHECK(kernels.vector.memory_share < 0.8);
  }
}

TEST_CASE("a fit of attention alone keeps what its rows do not show: other kernels, the backward pass") {
  const std::vector<std::string> held = unfitted_coefficients("attention", shipped_coefficients("attention"));
  for (const auto* key : {"flash2_share_default", "flash2_share_hopper", "flash2_share_blackwell",
                          "backward_share_default", "backward_share_hopper", "backward_share_blackwell"}) {
    CAPTURE(key);
    CHECK(std::ranges::find(held, key) != held.end());
  }
  CHECK(std::ranges::find(held, "share_hopper") == held.end());
}

TEST_CASE("coefficients are written as they are read, changed ones with 6 digits and their new source") {
  const ScratchFolder folder;
  for (const std::string_view kernel_class : kKernelClasses) {
    CAPTURE(kernel_class);
    const std::filesystem::path start = shipped_coefficients(kernel_class);
    CoefficientTable table = shipped(kernel_class);
    const CoefficientTable before = table;
    auto& changed = table.values.front();  // a share
    changed.second *= 0.987654321;
    const std::string text = coefficient_text(table, start, "one\ntwo", "three");
    CHECK(text.starts_with("# one\n# two\n"));
    const CoefficientTable again = load_coefficients(kernel_class, folder.write("new.toml", text));
    REQUIRE(again.values.size() == table.values.size());
    for (std::size_t i = 0; i < again.values.size(); ++i) {
      CHECK(again.values[i].first == table.values[i].first);
      if (i > 0) CHECK(again.values[i].second == table.values[i].second);
    }
    CHECK(line_of(text, changed.first) == Part{"kind = \"derived\", source = \"three\" }"});
    CHECK(again.values.front().second == near(changed.second, 5e-6));
    // What did not change keeps saying where it comes from: writing again, unchanged, is the same text.
    CHECK(coefficient_text(before, start, "one\ntwo", "three") != Part{"source = \"three\""});
    CHECK(coefficient_text(again, folder / "new.toml", "one\ntwo", "four") == text);
  }
}

TEST_CASE("a fitted value is no range, even where it started as one") {
  const std::filesystem::path start = shipped_coefficients("matrix_gemm");
  CoefficientTable table = shipped("matrix_gemm");
  const std::string key = "nt_loss";
  CHECK(line_of(coefficient_text(table, start, "", ""), key) == Part{"{ low = 1.0, nominal = "});
  for (auto& [name, value] : table.values) {
    if (name == key) value = 1.05;
  }
  CHECK(line_of(coefficient_text(table, start, "", "rows"), key) ==
        "nt_loss = { value = 1.05, kind = \"derived\", source = \"rows\" }");
}

TEST_CASE("the text of a source may have any character") {
  const ScratchFolder folder;
  CHECK(sourced_line("scale", 1.25, "measured", R"(a "b" \c)") ==
        "scale = { value = 1.25, kind = \"measured\", source = \"a \\\"b\\\" \\\\c\" }\n");
  CoefficientTable table = shipped("attention");
  table.values.front().second *= 0.9;
  const std::string text =
      coefficient_text(table, shipped_coefficients("attention"), "of", "\"quoted\" \\ file.csv");
  CHECK_NOTHROW(load_coefficients("attention", folder.write("new.toml", text)));
}

TEST_CASE("a file that is no table of coefficients is refused with the place") {
  const ScratchFolder folder;
  const std::string text = coefficient_text(shipped("attention"), shipped_coefficients("attention"), "", "");
  const auto error = [&](const std::string& file_text) {
    const std::string file = folder.write("a.toml", file_text);
    return error_of([&] { load_coefficients("attention", file); });
  };
  CHECK(error(text) == "no error");
  CHECK(error("") == Part{"a.toml:1:1: file: is empty"});
  CHECK(error("[kernels.vector]\n") == Part{"attention"});
  CHECK(error(text + "shrae = { value = 0.5, kind = \"derived\", source = \"x\" }\n") ==
        Part{"kernels.attention.shrae: unknown key"});
  std::string low = text;
  const std::string line = line_of(text, "exp_share_default");
  low.replace(low.find(line), line.size(),
              "exp_share_default = { value = 0.05, kind = \"derived\", source = \"x\" }");
  CHECK(error(low) == Part{"exp_share_default: must be between 0.1 and 4: of the special-function rate"});
  low.replace(low.find("value = 0.05"), 12, "value = 4.05");
  CHECK(error(low) == Part{"exp_share_default"});
  CHECK(error_of([] { load_coefficients("attention", "/no/such.toml"); }) == Part{"/no/such.toml"});
}

}  // namespace c3::config_coefficient_file_test
