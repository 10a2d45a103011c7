#pragma once
/// What the code of a model decides and its config.json does not say.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "workloads/models/model_dimensions.hpp"

namespace c3 { inline namespace configs {

/// The code that Hugging Face's transformers (@008e5743) has for a `model_type`: which of the choices below its
/// configuration and modeling files make. A type that is not listed is taken for LLaMA's.
struct ModelCode {
  std::string_view type;  ///< `model_type`
  /// Below src/transformers/models of huggingface/transformers; else the file of the model's own repository.
  std::string_view source;
  bool tied = false;  ///< default of tie_word_embeddings
  bool gated = true;
  Norm norm = Norm::rmsnorm;
  bool head_norm = false;  ///< norms of queries and keys
  bool biases = false;     ///< every projection has a bias
  bool attention_sinks = false;
  bool output_norm = false;  ///< a norm follows each block's output
  bool learned_positions = false;
  std::int64_t full_every = 0;    ///< layers of which the last sees all tokens, where layer_types is not there
  bool asks_for_windows = false;  ///< there are none without use_sliding_window
  RouterScores scores = RouterScores::softmax;  ///< the default where scoring_func is not there

  /// What it is called where a value comes from it.
  std::string text() const;
};

std::span<const ModelCode> model_codes();

/// nullptr for a type that is not listed.
const ModelCode* model_code(std::string_view type);

}}  // namespace c3::configs
