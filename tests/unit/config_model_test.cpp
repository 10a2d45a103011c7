#include "configs/presets/model_reader.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>

#include "configs/presets/preset_store.hpp"
#include "configs/toml/section.hpp"
#include "configs/toml/toml_text.hpp"
#include "tests/unit/config_files.hpp"
#include "workloads/models/transformer.hpp"

namespace c3::config_model_test { namespace {

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
  // Counts of the checkpoints (config.json and safetensors' index of meta-llama and mistralai on
  // huggingface.co).
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

TEST_CASE(
    "presets with experts have the published numbers of parameters, and of those a token is computed with") {
  const auto count = [](const std::string& name) { return parameters(transformer(load_model(name))); };
  // Counts of the checkpoints (safetensors' index on huggingface.co).
  CHECK(count("mixtral-8x7b") == 46'702'792'704);
  CHECK(count("mixtral-8x22b") == 140'620'634'112);
  CHECK(count("qwen3-30b-a3b") == 30'532'122'624);
  CHECK(count("qwen3-235b-a22b") == 235'093'634'560);
  CHECK(count("gpt-oss-20b") == 20'914'757'184);
  CHECK(count("gpt-oss-120b") == 116'829'156'672);
  CHECK(count("deepseek-v3") == 671'026'419'200);
  CHECK(count("deepseek-v3.2") == 671'026'419'200 + 61LL * (1536 * 64 * 128 + 7168 * (128 + 64) + 2 * 128));
  CHECK(count("kimi-k2") == 1'026'408'232'448);
  // With one vision tower of both.
  constexpr std::int64_t kVision = 871'932'416;
  CHECK(count("llama-4-scout") + kVision == 108'641'793'536);
  CHECK(count("llama-4-maverick") + kVision == 401'583'781'376);
  // 64 layers of "314 billion", and words.
  CHECK(count("grok-1") - 131'072 * 6'144 - 6'144 == 314'879'508'480);

  // A token leaves out all experts of a layer but its own, of three matrices each.
  const auto active = [](const std::string& name) { return active_parameters(transformer(load_model(name))); };
  CHECK(active("qwen3-30b-a3b") == 30'532'122'624 - 48LL * (128 - 8) * (3 * 2048 * 768));
  CHECK(active("deepseek-v3") == 671'026'419'200 - 58LL * (256 - 8) * (3 * 7168 * 2048));
  CHECK(active("llama-3-8b") == count("llama-3-8b"));
  // Published to a decimal of a billion; gpt-oss' without the embedding (arXiv 2508.10925, table 1).
  for (const auto& [name, beside, billions] :
       {std::tuple("qwen3-30b-a3b", 0LL, 3.3), std::tuple("mixtral-8x7b", 0LL, 12.9),
        std::tuple("gpt-oss-20b", 201'088LL * 2'880, 3.61), std::tuple("gpt-oss-120b", 201'088LL * 2'880, 5.13),
        std::tuple("llama-4-scout", 0LL, 17.2)}) {
    CAPTURE(name);
    CHECK(std::abs(static_cast<double>(active(name) - beside) / 1e9 - billions) < 0.06);
  }
}

TEST_CASE("latent attention has weights of its own, to and from the vectors that it makes of a token") {
  // Queries from 8 numbers, keys and values from 6; heads of 5 + 3, values of 4; norms of both vectors.
  const std::string latent =
      "[latent]\nquery_rank = 8\nkv_rank = 6\nplain_dim = 5\nrotated_dim = 3\nvalue_dim = 4\n";
  const ModelDimensions model = read(kDense + latent);
  CHECK(model.head_dim() == 8);
  const std::int64_t attention = 64 * 8 + 64 * (6 + 3) + 8 + 6 + 8 * 4 * 8 + 6 * 4 * (5 + 4) + 4 * 4 * 64;
  const std::int64_t layer = attention + 2 * 64 * 256 + 2 * 64;
  CHECK(parameters(transformer(model)) == 6 * layer + 64);
  CHECK_FALSE(weight_of(model, "attn.qkv"));
  CHECK(weight_of(model, "attn.out")->inputs == 4 * 4);
}

TEST_CASE("experts stand in the layers that the model says: after its first ones, or in every second one") {
  const auto with = [](const std::string& experts) {
    return read(kDense + "[experts]\ncount = 4\nper_token = 2\n" + experts).experts.value();
  };
  const auto layers_of = [](const ExpertDimensions& experts) {
    std::string text;
    for (std::int64_t layer = 0; layer < 6; ++layer)
      text += experts.are_in(layer) ? 'x' : '.';
    return text;
  };
  CHECK(layers_of(with("")) == "xxxxxx");
  CHECK(layers_of(with("dense_layers = 2\n")) == "..xxxx");
  CHECK(layers_of(with("interval = 2\n")) == ".x.x.x");
}

TEST_CASE("parts of a model that do not fit are refused where they are") {
  CHECK(refusal(kDense + "[experts]\ncount = 4\nper_token = 5\n") ==
        "m.toml:10:13: model.experts.per_token: must not exceed the 4 experts (it is 5)");
  CHECK(refusal(kDense + "[experts]\ncount = 4\ndense_layers = 6\n") ==
        "m.toml:10:16: model.experts.dense_layers: must be below the model's 6 layers (it is 6)");
  CHECK(refusal(kDense + "[experts]\ncount = 4\ngroups = 3\n") ==
        "m.toml:10:10: model.experts.groups: must divide count, which is 4 (it is 3)");
  CHECK(refusal(kDense + "[experts]\ncount = 4\ngroups = 2\ngroups_per_token = 3\n") ==
        "m.toml:11:20: model.experts.groups_per_token: must not exceed groups, which is 2 (it is 3)");
  CHECK(refusal(kDense + "[experts]\ncount = 4\ncapacity = 64\ninterval = 4\n") ==
        "m.toml:11:12: model.experts.interval: must divide layers, which is 6");
  CHECK(refusal(kDense + "family = \"gtp2\"\n").starts_with("m.toml:8:10: model.family: "));
  CHECK(refusal(kDense + "heads_dim = 3\n") ==
        "m.toml:8:1: model.heads_dim: unknown key; did you mean 'head_dim'?");
}

const std::string kWindows = kDense +
                             "layer_pattern = [\"local\", \"attention\"]\n"
                             "[blocks.local]\nkind = \"attention\"\nwindow = 16\n";

TEST_CASE("blocks and the layers that have them") {
  const ModelDimensions model = read(kWindows);
  REQUIRE(model.blocks.size() == 1);
  CHECK(model.blocks[0].name == "local");
  CHECK(model.blocks[0].kind == BlockKind::attention);
  CHECK(model.layer_pattern == std::vector<std::string>{"local", "attention"});
  CHECK(mixers_of(model).size() == 2);
  const ModelDimensions apart =
      read(kDense + "blocks_apart = true\nlayer_pattern = [\"mlp\", \"attention\"]\n");
  CHECK(apart.blocks_apart);
  CHECK_FALSE(mixer_of(apart, 0).has_value());
}

TEST_CASE("blocks: what is wrong is said at its key") {
  CHECK(refusal(kDense + "layer_pattern = [\"locla\"]\n[blocks.local]\nkind = \"attention\"\n")
            .ends_with(
                "model.layer_pattern: unknown block 'locla'; did you mean 'local'? known: attention, local"));
  CHECK(refusal(kDense + "layer_pattern = [\"x\", \"attention\", \"y\"]\n").find("block 'y'") !=
        std::string::npos);
  CHECK(refusal(kDense + "[blocks.local]\nkind = \"attention\"\n")
            .ends_with("model.blocks: has 'local', which no layer of layer_pattern is"));
  CHECK(refusal(kDense + "layer_pattern = [\"x\"]\n[blocks.x]\nkind = \"gated_delta\"\nkey_heads = 2\n")
            .ends_with("model.blocks.x.key_dim: is missing"));
  CHECK(refusal(kDense + "layer_pattern = [\"x\"]\n[blocks.x]\nkind = \"attention\"\nstate = 2\n")
            .find("model.blocks.x.state: unknown key") != std::string::npos);
  CHECK(refusal(kDense + "layer_pattern = [\"x\"]\n[blocks.x]\nkind = \"attention\"\nwindow = 4\nchunk = 8\n")
            .ends_with("model.blocks.x.chunk: a token sees a window or the tokens of its chunk, not both"));
  CHECK(refusal(kDense + "layer_pattern = [\"x\"]\n[blocks.x]\nkind = \"latent\"\n")
            .ends_with("model.blocks.x.kind: is \"latent\", which requires the table [model.latent]"));
  CHECK(refusal(kDense + "layer_pattern = [\"mlp\"]\n").find("unknown block 'mlp'") != std::string::npos);
  std::string many = kDense;
  for (int block = 0; block < 65; ++block)
    many += "[blocks.x" + std::to_string(block) + "]\nkind = \"attention\"\n";
  CHECK(refusal(many).ends_with("model.blocks: at most 64"));
  CHECK(refusal(kDense + "blocks_apart = true\n")
            .ends_with("model.blocks_apart: requires layer_pattern, which names the block of each layer"));
  CHECK(refusal(kDense + "layer_pattern = [\"attention\"]\n[blocks.attention]\nkind = \"attention\"\n")
            .find("model.blocks.attention: is a block that every model has") != std::string::npos);
}

}}  // namespace c3::config_model_test
