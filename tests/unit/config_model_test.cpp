#include "configs/model_reader.hpp"

#include <doctest/doctest.h>

#include <string>

#include "configs/preset_store.hpp"
#include "configs/section.hpp"
#include "configs/toml_text.hpp"
#include "tests/unit/config_files.hpp"

namespace c3 {
namespace {

const std::string kDense =
    "name = \"m\"\ngated = false\nhidden = 64\nffn = 256\nheads = 4\nkv_heads = 4\nlayers = 6\n";

ModelDimensions read(const std::string& text) {
  const Node node = parse_toml(text, "m.toml");
  Section section(node, "model");
  return read_model(section);
}

std::string refusal(const std::string& text) {
  return error_of([&] { read(text); });
}

TEST_CASE("a model that says no more than its dimensions is LLaMA's kind of decoder") {
  const ModelDimensions model = read(kDense);
  CHECK(model.structure == Structure::decoder);
  CHECK(model.norm == Norm::rmsnorm);
  CHECK_FALSE(model.norm_after);
  CHECK_FALSE(model.biases);
  CHECK(model.activation == Activation::silu);
  CHECK(model.head_dim() == 16);
  CHECK_FALSE(model.family.has_value());
  CHECK_FALSE(model.experts.has_value());
  CHECK(load_model("llama-70b").norm == Norm::rmsnorm);
}

TEST_CASE("heads may be wider than hidden / heads") {
  CHECK(read(kDense + "head_dim = 32\n").attention_width() == 128);
  CHECK(load_model("switch-xl-4").attention_width() == 4096);
}

TEST_CASE("parts of a model that do not fit are refused where they are") {
  CHECK(refusal(kDense + "[experts]\ncount = 4\ncapacity = 64\ninterval = 4\n") ==
        "m.toml:11:12: model.experts.interval: must divide layers, which is 6");
  CHECK(refusal(kDense + "family = \"gtp2\"\n").starts_with("m.toml:8:10: model.family: "));
  CHECK(refusal(kDense + "heads_dim = 3\n") ==
        "m.toml:8:1: model.heads_dim: unknown key; did you mean 'head_dim'?");
}

}  // namespace
}  // namespace c3
