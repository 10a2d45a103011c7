// Models as Hugging Face's config.json describes them. The files are made up.

#include <doctest/doctest.h>
#include "configs/foreign/hugging_face.hpp"

#include <algorithm>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "configs/foreign/model_code.hpp"
#include "configs/toml/config_error.hpp"
#include "configs/toml/toml_text.hpp"
#include "importers/user_files/experiment_draft.hpp"
#include "importers/user_files/formats.hpp"

namespace c3::foreign_hugging_face_test {

namespace {

const std::string kDense = R"({
  "model_type": "llama", "architectures": ["SomeForCausalLM"],
  "hidden_size": 1024, "num_hidden_layers": 4, "num_attention_heads": 16, "num_key_value_heads": 4,
  "intermediate_size": 4096, "hidden_act": "silu", "vocab_size": 32000,
  "tie_word_embeddings": false, "torch_dtype": "float16", "rope_theta": 10000.0, "surprise": 3
})";

/// kDense with \p what in place of \p old.
std::string dense(const std::string& old, const std::string& what) {
  std::string text = kDense;
  text.replace(text.find(old), old.size(), what);
  return text;
}

std::string with(const std::string& more) { return dense("\"surprise\": 3", more); }

FileReading reading_of(const std::string& text, std::int64_t sequence = 4096) {
  return read_hugging_face({.name = "config.json", .text = text, .sequence = sequence});
}

/// The value of \p key, taken or assumed; empty where it is neither.
std::string value_of(const FileReading& reading, const std::string& key) {
  const auto taken = std::ranges::find(reading.taken, key, &TakenKey::key);
  if (taken != reading.taken.end()) return taken->value;
  const auto assumed = std::ranges::find(reading.assumed, key, &AssumedKey::key);
  return assumed == reading.assumed.end() ? "" : assumed->value;
}

std::string why_of(const FileReading& reading, const std::string& from) {
  const auto found = std::ranges::find(reading.ignored, from, &IgnoredKey::from);
  return found == reading.ignored.end() ? "" : found->why;
}

std::string error_of(const std::string& text) {
  try {
    reading_of(text);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("a dense model: each key becomes ours, or is ignored with a reason") {
  const FileReading reading = reading_of(kDense);
  CHECK(value_of(reading, "model.hidden") == "1024");
  CHECK(value_of(reading, "model.layers") == "4");
  CHECK(value_of(reading, "model.heads") == "16");
  CHECK(value_of(reading, "model.kv_heads") == "4");
  CHECK(value_of(reading, "model.ffn") == "4096");
  CHECK(value_of(reading, "model.activation") == "\"silu\"");
  CHECK(value_of(reading, "model.tied_embedding") == "false");
  CHECK(value_of(reading, "model.dtype") == "\"fp16\"");
  CHECK(value_of(reading, "model.gated") == "true");
  CHECK(why_of(reading, "rope_theta") == "which angles positions are turned by, at the same cost");
  CHECK(why_of(reading, "surprise") == "unknown to this reader");
  CHECK(reading.unmodelled.empty());
  // 2 x 32000 x 1024 of both ends; a layer: 1024 x (2 x 1024 + 2 x 256), 3 x 1024 x 4096 and two norms; a last
  // norm.
  // Of each token 4 layers keep 4 heads of keys and of values, 64 wide, 2 B each.
  CHECK(reading.facts ==
        std::vector<std::string>{"0.13 G parameters",
                                 "decoding keeps 0.0336 GB of a sequence of 8192 tokens, 0.537 of 131072"});
}

TEST_CASE("every key of a file is in exactly one of the lists") {
  const FileReading reading = reading_of(with(R"("surprise": 3, "layer_types": [], "sliding_window": null)"));
  for (const char* const key :
       {"layer_types", "sliding_window", "model_type", "architectures", "hidden_size", "num_hidden_layers",
        "num_attention_heads", "num_key_value_heads", "intermediate_size", "hidden_act", "vocab_size",
        "tie_word_embeddings", "torch_dtype", "rope_theta", "surprise"}) {
    CAPTURE(key);
    const bool is_taken = std::ranges::find(reading.taken, key, &TakenKey::from) != reading.taken.end();
    CHECK(is_taken != !why_of(reading, key).empty());
  }
}

TEST_CASE("what a file leaves out follows from the code of its type") {
  const FileReading none = reading_of(dense("\"num_key_value_heads\": 4,", ""));
  CHECK(value_of(none, "model.kv_heads") == "16");
  CHECK(value_of(reading_of(dense("\"tie_word_embeddings\": false,", "")), "model.tied_embedding") == "false");
  CHECK(value_of(reading_of(dense("llama", "qwen3")), "model.head_norm") == "true");
  CHECK(value_of(reading_of(dense("llama", "gpt_oss")), "model.attention_sinks") == "true");
  CHECK(value_of(reading_of(dense("llama", "gemma2")), "model.output_norm") == "true");
  const FileReading unknown = reading_of(dense("llama", "newest"));
  CHECK(unknown.facts.front() == "model_type \"newest\" is not known: its code is taken for LLaMA's");
  CHECK(value_of(unknown, "model.name") == "\"newest-0.1b\"");
}

TEST_CASE("a model inside a larger file, whose tie_word_embeddings wins") {
  const std::string text = R"({"model_type": "outer", "tie_word_embeddings": true,
    "vision_config": {"depth": 2, "hidden_size": 64, "intermediate_size": 256}, "text_config": )" +
                           kDense + "}";
  const FileReading reading = reading_of(text);
  CHECK(value_of(reading, "model.hidden") == "1024");
  CHECK(value_of(reading, "model.tied_embedding") == "true");
  CHECK(why_of(reading, "text_config.rope_theta") != "");
  CHECK(reading.unmodelled.empty());
  CHECK(why_of(reading, "vision_config").starts_with("the encoder of images, about 0.00 G parameters"));
}

TEST_CASE("experts, shared ones, dense first layers, groups") {
  const FileReading reading = reading_of(with(
      R"("n_routed_experts": 64, "num_experts_per_tok": 6, "moe_intermediate_size": 512, "n_shared_experts": 2,
              "first_k_dense_replace": 1, "n_group": 8, "topk_group": 4, "scoring_func": "sigmoid",
              "topk_method": "noaux_tc", "moe_layer_freq": 1)"));
  CHECK(value_of(reading, "model.experts.count") == "64");
  CHECK(value_of(reading, "model.experts.per_token") == "6");
  CHECK(value_of(reading, "model.experts.width") == "512");
  CHECK(value_of(reading, "model.experts.shared_width") == "1024");
  CHECK(value_of(reading, "model.experts.dense_layers") == "1");
  CHECK(value_of(reading, "model.experts.groups") == "8");
  CHECK(value_of(reading, "model.experts.groups_per_token") == "4");
  CHECK(value_of(reading, "model.experts.scores") == "\"sigmoid\"");
  CHECK(value_of(reading, "model.experts.router_bias") == "true");
  CHECK(value_of(reading, "model.ffn") == "4096");
  // Without a width of their own, experts have the model's.
  const FileReading plain = reading_of(with(R"("num_local_experts": 8, "num_experts_per_tok": 2)"));
  CHECK(value_of(plain, "model.experts.width") == "4096");
}

TEST_CASE("latent attention") {
  const FileReading reading =
      reading_of(with(R"("q_lora_rank": 256, "kv_lora_rank": 128, "qk_nope_head_dim": 64,
      "qk_rope_head_dim": 32, "v_head_dim": 48)"));
  CHECK(value_of(reading, "model.latent.query_rank") == "256");
  CHECK(value_of(reading, "model.latent.kv_rank") == "128");
  CHECK(value_of(reading, "model.latent.plain_dim") == "64");
  CHECK(value_of(reading, "model.latent.rotated_dim") == "32");
  CHECK(value_of(reading, "model.latent.value_dim") == "48");
}

TEST_CASE("windows, chunks and layers that see all tokens become blocks") {
  const FileReading listed = reading_of(with(R"("sliding_window": 512, "layer_types": ["full_attention",
      "sliding_attention", "full_attention", "sliding_attention"])"));
  CHECK(listed.unmodelled.empty());
  CHECK(value_of(listed, "model.layer_pattern") == "[\"attention\", \"window\"]");
  CHECK(value_of(listed, "model.blocks.window.window") == "512");
  CHECK(value_of(listed, "model.blocks.window.kind") == "\"attention\"");
  // Every third layer sees all; the pattern ends in the middle.
  const FileReading pattern = reading_of(with(R"("sliding_window": 64, "sliding_window_pattern": 3)"));
  CHECK(value_of(pattern, "model.layer_pattern") == "[\"window\", \"window\", \"attention\"]");
  const FileReading all = reading_of(with(R"("sliding_window": 64)"));
  CHECK(value_of(all, "model.layer_pattern") == "[\"window\"]");
  const FileReading later = reading_of(with(R"("sliding_window": 64, "max_window_layers": 3)"));
  CHECK(value_of(later, "model.layer_pattern") == "[\"attention\", \"attention\", \"attention\", \"window\"]");
  for (const char* const none :
       {R"("sliding_window": 512, "use_sliding_window": false)", R"("sliding_window": null)",
        R"("sliding_window": 64, "max_window_layers": 4)"})
    CHECK(value_of(reading_of(with(none)), "model.layer_pattern").empty());
  // What the code decides: gemma2's every second layer sees all, and qwen3 has windows only where it is
  // asked to.
  const auto of_type = [](const std::string& type, const std::string& more) {
    std::string text = with(more);
    return reading_of(text.replace(text.find("llama"), 5, type));
  };
  CHECK(value_of(of_type("gemma2", R"("sliding_window": 64)"), "model.layer_pattern") ==
        "[\"window\", \"attention\"]");
  CHECK(value_of(of_type("qwen3", R"("sliding_window": 64)"), "model.layer_pattern").empty());
  CHECK(value_of(of_type("qwen3", R"("sliding_window": 64, "use_sliding_window": true)"),
                 "model.layer_pattern") == "[\"window\"]");
  std::string llama4 = with(R"("attention_chunk_size": 8192)");
  llama4.replace(llama4.find("llama"), 5, "llama4_text");
  CHECK(value_of(reading_of(llama4), "model.layer_pattern") == "[\"chunk\", \"chunk\", \"chunk\", \"full\"]");
  CHECK(value_of(reading_of(llama4), "model.blocks.full.rotates") == "false");
  CHECK(error_of(with(R"("sliding_window": 64, "layer_types": ["sliding_attention"])"))
            .find("layer_types: has 1 names for 4 layers") != std::string::npos);
}

TEST_CASE("layers that see all tokens may have heads of their own") {
  const FileReading reading = reading_of(with(R"("sliding_window": 64, "layer_types": ["sliding_attention",
      "full_attention", "sliding_attention", "full_attention"], "global_head_dim": 128,
      "num_global_key_value_heads": 2, "attention_k_eq_v": true)"));
  CHECK(value_of(reading, "model.blocks.full.head_dim") == "128");
  CHECK(value_of(reading, "model.blocks.full.kv_heads") == "2");
  CHECK(value_of(reading, "model.blocks.full.values_are_keys") == "true");
  const FileReading gated = reading_of(with(R"("attn_output_gate": true)"));
  CHECK(value_of(gated, "model.layer_pattern") == "[\"full\"]");
  CHECK(std::ranges::find(gated.taken, "model.layer_pattern", &TakenKey::key)->from == "attn_output_gate");
  CHECK(value_of(gated, "model.blocks.full.gated_output") == "true");
}

TEST_CASE("linear attention and state spaces become blocks") {
  const std::string sizes =
      R"("linear_num_key_heads": 4, "linear_key_head_dim": 64, "linear_num_value_heads": 8,
      "linear_value_head_dim": 64, "linear_conv_kernel_dim": 4)";
  const FileReading linear = reading_of(with(R"("layer_types": ["linear_attention", "full_attention",
      "linear_attention", "full_attention"], "attn_output_gate": true, )" +
                                             sizes));
  CHECK(linear.unmodelled.empty());
  CHECK(value_of(linear, "model.layer_pattern") == "[\"linear\", \"full\"]");
  CHECK(value_of(linear, "model.blocks.linear.kind") == "\"gated_delta\"");
  CHECK(value_of(linear, "model.blocks.linear.value_heads") == "8");
  CHECK(error_of(with(R"("layer_types": ["linear_attention", "full_attention", "linear_attention",
      "full_attention"], "linear_num_key_heads": 4)"))
            .find("linear_key_head_dim: is missing, which blocks with linear_num_key_heads need") !=
        std::string::npos);
  CHECK(error_of(with(R"("layer_types": ["conv", "full_attention", "conv", "full_attention"])"))
            .find("layer_types: has 'conv', which is no known kind of layer; known: full_attention") !=
        std::string::npos);
  CHECK(error_of(with(R"("layer_types": ["linear_attention", "full_attention", "linear_attention",
      "full_attention"])"))
            .find("linear_num_key_heads: is missing, which layers of type linear_attention need") !=
        std::string::npos);
  CHECK(error_of(with(R"("hybrid_override_pattern": "MxM*")")).find("has 'x', which is no known") !=
        std::string::npos);
  CHECK(error_of(with(R"("hybrid_override_pattern": "M-M*")")).find("mamba_num_heads: is missing") !=
        std::string::npos);
  CHECK(error_of(with(R"("hybrid_override_pattern": "M-M*", "mamba_num_heads": 16, "mamba_head_dim": 64,
      "ssm_state_size": 128, "n_groups": 5)"))
            .find("n_groups: groups of such a block: must divide heads") != std::string::npos);
  CHECK(error_of(with(R"("hybrid_override_pattern": "M-M*", "mamba_num_heads": 16, "mamba_head_dim": 64,
      "ssm_state_size": 128, "n_groups": 8, "conv_kernel": 8)"))
            .find("conv_kernel: must be from 1 to 4 (it is 8)") != std::string::npos);
  const FileReading state = reading_of(with(R"("hybrid_override_pattern": "M-M*", "mamba_num_heads": 16,
      "mamba_head_dim": 64, "ssm_state_size": 128, "n_groups": 8)"));
  CHECK(state.unmodelled.empty());
  CHECK(value_of(state, "model.blocks_apart") == "true");
  CHECK(value_of(state, "model.layer_pattern") == "[\"mamba\", \"mlp\", \"mamba\", \"attention\"]");
  CHECK(value_of(state, "model.blocks.mamba.state") == "128");
  const FileReading latent = reading_of(with(R"("n_routed_experts": 8, "num_experts_per_tok": 2,
      "moe_intermediate_size": 512, "moe_latent_size": 256)"));
  CHECK(value_of(latent, "model.experts.latent_width") == "256");
}

TEST_CASE("indexers of latent attention become blocks, and layers may share what one chooses") {
  const std::string latent = R"("q_lora_rank": 512, "kv_lora_rank": 128, "qk_nope_head_dim": 64,
      "qk_rope_head_dim": 32, "v_head_dim": 64, "index_n_heads": 16, "index_head_dim": 64)";
  const FileReading all = reading_of(with(latent + R"(, "index_topk": 256)"));
  CHECK(all.unmodelled.empty());
  CHECK(value_of(all, "model.layer_pattern") == "[\"sparse\"]");
  CHECK(value_of(all, "model.blocks.sparse.kind") == "\"sparse_latent\"");
  CHECK(value_of(all, "model.blocks.sparse.selected") == "256");
  const auto types = [&](const std::string& listed) {
    return with(latent + R"(, "index_topk": 256, "indexer_types": )" + listed);
  };
  const FileReading shared = reading_of(types(R"(["full", "shared", "full", "shared"])"));
  CHECK(value_of(shared, "model.layer_pattern") == "[\"sparse\", \"sharing\"]");
  CHECK(value_of(shared, "model.blocks.sharing.has_indexer") == "false");
  CHECK(error_of(with(latent)).find("index_topk: is missing, which blocks with index_n_heads need") !=
        std::string::npos);
  CHECK(error_of(types(R"(["full", "shared"])")).find("indexer_types: has 2 names for 4 layers") !=
        std::string::npos);
  CHECK(error_of(types(R"(["shared", "full", "full", "full"])"))
            .find("indexer_types: begins with 'shared', and no layer before it chooses") != std::string::npos);
  CHECK(error_of(types(R"(["full", "some", "full", "full"])"))
            .find("indexer_types: has 'some', which is no known kind; known: full, shared") !=
        std::string::npos);
}

TEST_CASE("layers that c3sim has no word for are named with their share") {
  const FileReading lightning = reading_of(with(R"("attn_type_list": [0, 1, 0, 1])"));
  REQUIRE(lightning.unmodelled.size() == 1);
  CHECK(lightning.unmodelled[0].what == "lightning attention in 2 of 4 layers");
  CHECK(reading_of(with(R"("attn_type_list": [1, 1, 1, 1])")).unmodelled.empty());
}

TEST_CASE("further tokens' heads are left out, as transformers leaves them out") {
  CHECK(why_of(reading_of(with(R"("num_nextn_predict_layers": 1)")), "num_nextn_predict_layers") ==
        "heads that predict further tokens: transformers loads the model without them");
}

TEST_CASE("Python's Infinity and NaN are no reason to refuse a file") {
  CHECK(value_of(reading_of(with(R"("time_step_limit": [0.0, Infinity, -Infinity, NaN], "note": "Infinity")")),
                 "model.hidden") == "1024");
}

TEST_CASE("mistakes are found at their place") {
  CHECK(error_of("{\n  \"a\": 1,\n  b\n}") == "config.json:3:3: file: is not JSON from here on");
  CHECK(error_of("[1]") == "config.json:1:1: file: must be an object of JSON, {..}");
  CHECK(error_of(dense("1024", "\"wide\"")) == "config.json:3:3: hidden_size: must be an integer");
  CHECK(error_of(dense("1024", "0")) == "config.json:3:3: hidden_size: must be from 1 to 1048576 (it is 0)");
  CHECK(error_of(dense("\"hidden_size\": 1024, ", "")) ==
        "config.json:1:1: hidden_size: is missing: model.hidden needs it");
  CHECK(error_of(dense("\"num_key_value_heads\": 4", "\"num_key_value_heads\": 3"))
            .find("must divide the 16 heads") != std::string::npos);
  CHECK(error_of(dense("\"silu\"", "\"magic\"")).find("hidden_act: \"magic\" is no function that is known") !=
        std::string::npos);
  CHECK(error_of(dense("\"num_attention_heads\": 16", "\"num_attention_heads\": 12, \"x\": 0"))
            .find("head_dim: is missing") != std::string::npos);
  CHECK(error_of(with(R"("num_experts": 4, "num_experts_per_tok": 8)")).find("must not exceed the 4 experts") !=
        std::string::npos);
  CHECK(error_of(with(R"("num_experts": 4, "num_experts_per_tok": 2, "mlp_only_layers": [2])"))
            .find("mlp_only_layers") != std::string::npos);
  CHECK(error_of("{\"text_config\": " + dense("4096", "-4096") + "}")
            .find("text_config.intermediate_size: must be from 1") != std::string::npos);
  CHECK(error_of(std::string(1000, '[')).find("nested too deeply") != std::string::npos);
}

TEST_CASE("models that predict no next token are refused, not read as decoders") {
  CHECK(error_of(dense("SomeForCausalLM", "BertForMaskedLM")) ==
        "config.json:2:26: architectures: 'BertForMaskedLM' does not predict the next token; "
        "a class that does ends in ForCausalLM, ForConditionalGeneration, LMHeadModel");
  CHECK(error_of(with(R"("is_encoder_decoder": true)")).find("a model of two stacks") != std::string::npos);
  CHECK(value_of(reading_of(dense("SomeForCausalLM", "GPT2LMHeadModel")), "model.hidden") == "1024");
  CHECK(value_of(reading_of(dense("\"architectures\": [\"SomeForCausalLM\"],", "")), "model.hidden") == "1024");
}

TEST_CASE("what is taken for something near it is said") {
  const FileReading weights = reading_of(dense("float16", "float8_e4m3fn"));
  CHECK(value_of(weights, "model.dtype") == "\"bf16\"");
  CHECK(why_of(weights, "torch_dtype") == "'float8_e4m3fn' is no type in which layers compute");
  const FileReading squared = reading_of(dense("\"silu\"", "\"relu2\""));
  CHECK(value_of(squared, "model.activation") == "\"relu\"");
  CHECK(why_of(squared, "hidden_act").starts_with("the square behind it is not modelled"));
}

TEST_CASE("a size that nobody can count is refused") {
  const std::string text = R"({"model_type": "llama", "hidden_size": 1048576, "num_hidden_layers": 4096,
    "num_attention_heads": 16, "intermediate_size": 1048576, "vocab_size": 32000, "num_experts": 4096,
    "num_experts_per_tok": 1})";
  CHECK(error_of(text).find("make more parameters than can be counted") != std::string::npos);
}

TEST_CASE("a format is known by its content") {
  REQUIRE(format_of(kDense) != nullptr);
  CHECK(format_of(kDense)->name == "hugging-face");
  CHECK(format_of("schema = 1\n") == nullptr);
  CHECK(format_of("{\"train_batch_size\": 8}") == nullptr);
  CHECK(format_of("") == nullptr);
}

TEST_CASE("types of models are listed once") {
  for (const ModelCode& code : model_codes()) {
    CAPTURE(code.type);
    CHECK(std::ranges::count(model_codes(), code.type, &ModelCode::type) == 1);
    CHECK(model_code(code.type) == &code);
  }
}

TEST_CASE("a file that was damaged is read or refused, whatever the damage") {
  std::mt19937 random(61);
  for (int i = 0; i < 2000; ++i) {
    std::string text = with(R"("num_experts": 8, "num_experts_per_tok": 2, "layer_types": ["full_attention"],
        "sliding_window": 64, "kv_lora_rank": 128, "qk_nope_head_dim": 64, "qk_rope_head_dim": 32, "v_head_dim": 48)");
    for (int change = 0; change < 3; ++change) {
      const std::size_t place = random() % text.size();
      switch (random() % 4) {
        case 0:
          text[place] = static_cast<char>(random());
          break;
        case 1:
          text.erase(place, random() % 20);
          break;
        case 2:
          text.insert(place, text.substr(random() % text.size(), random() % 30));
          break;
        default:
          text[place] = static_cast<char>('0' + random() % 10);
          break;
      }
      if (text.empty()) text = "{";
    }
    format_of(text);
    try {
      const FileReading reading = reading_of(text);
      const std::vector<FileReading> readings = {reading};
      CHECK(ExperimentDraft(readings).has("model.hidden"));
    } catch (const ConfigError& error) {
      CHECK(std::string(error.what()).starts_with("config.json:"));
    }
  }
}

TEST_CASE("an experiment says of each line where it comes from, and what of a file is in none") {
  const std::vector<FileReading> readings = {reading_of(kDense)};
  ExperimentDraft draft(readings);
  draft.put("system", "\"h100-sxm-8\"", "--system");
  draft.put("system", "\"other\"", "too late");
  draft.put_table("strategy.default");
  const std::string text = draft.toml(readings);
  CHECK(text.starts_with("schema = 1\nsystem = \"h100-sxm-8\"  # --system\n\n[model]\n"));
  CHECK(text.find("\nhidden = 1024  ") != std::string::npos);
  CHECK(text.find("# config.json: hidden_size\n") != std::string::npos);
  CHECK(text.find("\n[strategy.default]\n") != std::string::npos);
  CHECK(text.find("#   surprise: unknown to this reader\n") != std::string::npos);
  CHECK(draft.text("system") == "h100-sxm-8");
  draft.replace("system", "\"other\"", "");
  CHECK(draft.text("system") == "other");
}

TEST_CASE("a list that is longer than a line stands on several, below where it comes from") {
  std::vector<std::string> names;
  std::string list = "[";
  for (int i = 0; i < 40; ++i) {
    names.push_back(i % 7 == 0 ? "a, b" : "\"sliding\"");
    list += (i == 0 ? "" : ", ") + (i % 7 == 0 ? std::string(R"("a, b")") : std::string(R"("\"sliding\"")"));
  }
  ExperimentDraft draft;
  draft.put("model.hidden", "64", "one");
  draft.put("model.layer_pattern", list + "]", "two");
  const std::string text = draft.toml({});
  CHECK(text.find("hidden = 64  # one\n# two\nlayer_pattern = [\n") != std::string::npos);
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    CHECK(line.size() <= 100);
  const Node document = parse_toml(text, "draft");
  std::vector<std::string> read;
  for (const Node& name : *document.table()->find("model")->table()->find("layer_pattern")->array())
    read.push_back(*name.text());
  CHECK(read == names);
}

}  // namespace c3::foreign_hugging_face_test
