#include "configs/model_reader.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <utility>

#include "configs/preset_store.hpp"
#include "configs/section.hpp"
#include "configs/toml_text.hpp"
#include "tests/unit/config_files.hpp"
#include "workloads/models/transformer.hpp"

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

TEST_CASE("presets have the published numbers of parameters, to the unit where it is given") {
  const auto count = [](const std::string& name) { return parameters(transformer(load_model(name))); };
  // Of the checkpoints (config.json and safetensors' index of meta-llama and mistralai on huggingface.co).
  CHECK(count("llama-2-7b") == 6'738'415'616);
  CHECK(count("llama-2-70b") == 68'976'648'192);
  CHECK(count("llama-3-8b") == 8'030'261'248);
  CHECK(count("llama-3-70b") == 70'553'706'496);
  CHECK(count("llama-405b") == 405'853'388'800);
  CHECK(count("mistral-7b") == 7'248'023'552);
  CHECK(count("qwen3-0.6b") == 596'049'920);
  CHECK(count("qwen3-1.7b") == 1'720'574'976);
  CHECK(count("qwen3-4b") == 4'022'468'096);
  CHECK(count("qwen3-8b") == 8'190'735'360);
  CHECK(count("qwen3-14b") == 14'768'307'200);
  CHECK(count("qwen3-32b") == 32'762'123'264);
  // 78 layers of hidden size 4,256: "17 billion", of which 12 h^2 + 13 h a layer, words and positions of GPT-2.
  CHECK(count("turing-nlg") == 17'176'845'728);
  // arXiv 2104.04473, equation 2, and a norm at the end; table 1 has them to a decimal of a billion.
  for (const auto& [name, billions] :
       {std::pair("gpt-1.7b", 1.7), std::pair("gpt-3.6b", 3.6), std::pair("gpt-7.5b", 7.5),
        std::pair("gpt-18.4b", 18.4), std::pair("gpt-39.1b", 39.1), std::pair("gpt-76.1b", 76.1),
        std::pair("gpt-145.6b", 145.6), std::pair("gpt-310.1b", 310.1), std::pair("gpt-529.6b", 529.6),
        std::pair("gpt-1t", 1008.0), std::pair("gpt-22b", 22.1)}) {
    CAPTURE(name);
    const ModelDimensions model = load_model(name);
    const std::int64_t h = model.hidden;
    CHECK(count(name) == 12 * model.layers * h * h + 13 * model.layers * h + (51'200 + 2'048 + 2) * h);
    CHECK(std::abs(static_cast<double>(count(name)) / 1e9 - billions) < 0.051);
  }
  // arXiv 2406.11704, table 1, and 2402.16819: 331.6 and 12.5 billion beside the embedding and the head.
  for (const auto& [name, billions] :
       {std::pair("nemotron-4-340b", 331.6), std::pair("nemotron-4-15b", 12.5)}) {
    CAPTURE(name);
    const ModelDimensions model = load_model(name);
    const std::int64_t rest = count(name) - 2 * model.vocabulary * model.hidden;
    CHECK(std::abs(static_cast<double>(rest) / 1e9 - billions) < 0.051);
  }
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
