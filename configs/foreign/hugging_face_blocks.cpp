#include "configs/foreign/hugging_face_blocks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "configs/fields/model_fields.hpp"

namespace c3 { inline namespace configs {
namespace {

constexpr std::string_view kFull = "full_attention", kSliding = "sliding_attention",
                           kChunked = "chunked_attention", kLinear = "linear_attention";

/// A key of a block, and the one of the file that it comes from.
struct Size {
  std::string_view key;
  std::int64_t value = 0;
  std::string from;
};

/// What layers of one of the file's types have, where it is not the model's own attention.
struct Block {
  std::string_view type;
  std::string name;
  BlockKind kind = BlockKind::attention;
  std::vector<Size> sizes;
};

/// The fewest names that, over and over again, are all.
std::vector<std::string> cycle_of(std::vector<std::string> names) {
  for (std::size_t period = 1; period < names.size(); ++period) {
    std::size_t at = period;
    while (at < names.size() && names[at] == names[at % period])
      ++at;
    if (at == names.size()) names.resize(period);
  }
  return names;
}

class BlockReader {
 public:
  BlockReader(ModelKeys& keys, const ModelCode& code, ModelDimensions& model)
      : keys_(keys), code_(code), model_(model) {}

  void read() {
    add(kSliding, "window", read_window());
    add(kChunked, "chunk", sizes({{"chunk", "attention_chunk_size", kMostTokens}}));
    add(kFull, "full", read_full());
    add(kLinear, "linear", read_linear(), BlockKind::gated_delta);
    if (read_single_blocks()) return write();
    read_types();
    if (types_.empty() && block_of(kFull) != nullptr) types_.assign(layers(), std::string(kFull));
    write();
  }

 private:
  std::size_t layers() const { return static_cast<std::size_t>(model_.layers); }

  struct Wanted {
    std::string_view key, name;  ///< ours; the file's
    double most = 1;
    bool is_needed = false;  ///< where the file has another one of them
  };
  /// Those of \p wanted that the file has.
  std::vector<Size> sizes(std::initializer_list<Wanted> wanted) {
    std::vector<Size> found;
    for (const Wanted& its : wanted)
      if (const auto value = keys_.integer({its.name}, 1, static_cast<std::int64_t>(its.most)))
        found.push_back({its.key, *value, keys_.last()});
    for (const Wanted& its : wanted)
      if (its.is_needed && !found.empty() && std::ranges::find(found, its.key, &Size::key) == found.end())
        throw keys_.error(its.name, fmt::format("is missing, which blocks with {} need", found.front().from));
    return found;
  }

  void add(std::string_view type, std::string name, std::vector<Size> found,
           BlockKind kind = BlockKind::attention) {
    if (!found.empty())
      blocks_.push_back({.type = type, .name = std::move(name), .kind = kind, .sizes = std::move(found)});
  }

  std::vector<Size> read_linear() {
    return sizes({{"key_heads", "linear_num_key_heads", kMostLayers, true},
                  {"key_dim", "linear_key_head_dim", kWidest, true},
                  {"value_heads", "linear_num_value_heads", kMostLayers, true},
                  {"value_dim", "linear_value_head_dim", kWidest, true},
                  {"convolution", "linear_conv_kernel_dim", kMostLayers}});
  }

  /// Nemotron-H: a layer is one block, of Mamba-2, attention, feed-forward or experts.
  bool read_single_blocks() {
    for (const char letter : keys_.text({"hybrid_override_pattern"}).value_or(""))
      types_.push_back(letter == 'M' ? "mamba" : letter == '*' ? "attention" : letter == 'E' ? "moe" : "mlp");
    if (types_.empty()) types_ = keys_.texts({"layers_block_type"}).value_or(std::vector<std::string>());
    if (types_.empty()) return false;
    from_ = keys_.last();
    if (types_.size() != layers())
      throw keys_.error_at_last(fmt::format("has {} blocks for {} layers", types_.size(), layers()));
    model_.blocks_apart = true;
    keys_.take("blocks_apart", true);
    add("mamba", "mamba",
        sizes({{"heads", "mamba_num_heads", kMostLayers, true},
               {"head_dim", "mamba_head_dim", kWidest, true},
               {"state", "ssm_state_size", kWidest, true},
               {"groups", "n_groups", kMostLayers, true},
               {"convolution", "conv_kernel", kMostLayers},
               {"scan_chunk", "chunk_size", kWidest}}),
        BlockKind::mamba2);
    return true;
  }

  std::vector<Size> read_window() {
    const bool is_used = keys_.flag({"use_sliding_window"}).value_or(!code_.asks_for_windows);
    const bool is_of_compressed = keys_.find({"compress_ratios"}).has_value();
    keys_.find({"sliding_window"});
    if (!is_used || is_of_compressed || model_.latent) return {};
    return sizes({{"window", "sliding_window", kMostTokens}});
  }

  /// Of layers that see all tokens, where they are unlike the model's other layers.
  std::vector<Size> read_full() {
    std::vector<Size> found = sizes(
        {{"head_dim", "global_head_dim", kWidest}, {"kv_heads", "num_global_key_value_heads", kMostLayers}});
    const auto add_flag = [&](std::string_view key, std::string_view name) {
      if (keys_.flag({name}).value_or(false)) found.push_back({key, 1, keys_.last()});
    };
    add_flag("values_are_keys", "attention_k_eq_v");
    add_flag("gated_output", "attn_output_gate");
    keys_.find({"full_attention_interval"});  // layer_types says the same
    if (code_.type == "llama4_text") found.push_back({"rotates", 0, keys_.dotted("attention_chunk_size")});
    return found;
  }

  /// Of each layer; none where no key tells layers apart.
  void read_types() {
    const bool has_chunks = block_of(kChunked) != nullptr, has_windows = block_of(kSliding) != nullptr;
    std::optional<std::vector<std::string>> listed = keys_.texts({"layer_types"});
    if (listed && !listed->empty()) {
      from_ = keys_.last();
      if (listed->size() != layers())
        throw keys_.error("layer_types", fmt::format("has {} names for {} layers", listed->size(), layers()));
      types_ = std::move(*listed);
    } else if (has_chunks) {
      from_ = keys_.dotted("attention_chunk_size");
      alternate(kChunked, code_.full_every, 0);
    } else if (has_windows) {
      const std::int64_t interval =
          keys_.integer({"sliding_window_pattern"}, 1, kMostLayers).value_or(code_.full_every);
      from_ = keys_.dotted("sliding_window");
      alternate(kSliding, interval, keys_.integer({"max_window_layers"}, 0, kMostLayers).value_or(0));
    }
  }

  /// Layers of \p type, but each \p interval-th (0: none) and the \p first ones, which see all tokens.
  void alternate(std::string_view type, std::int64_t interval, std::int64_t first) {
    for (std::int64_t layer = 0; layer < model_.layers; ++layer) {
      const bool is_full = layer < first || (interval > 0 && (layer + 1) % interval == 0);
      types_.emplace_back(is_full ? kFull : type);
    }
  }

  const Block* block_of(std::string_view type) const {
    const auto found = std::ranges::find(blocks_, type, &Block::type);
    return found == blocks_.end() ? nullptr : &*found;
  }

  void write() {
    std::vector<std::string> names;
    for (const std::string& type : types_) {
      const Block* const block = block_of(type);
      names.emplace_back(block != nullptr                       ? std::string_view(block->name)
                         : model_.blocks_apart && type == "moe" ? kExpertsBlock
                         : model_.blocks_apart && type == "mlp" ? kDenseBlock
                                                                : kOwnAttention);
    }
    if (!model_.blocks_apart &&
        std::ranges::all_of(names, [](const std::string& name) { return name == kOwnAttention; }))
      return;
    for (const Block& block : blocks_)
      if (std::ranges::find(names, block.name) != names.end()) write(block);
    model_.layer_pattern = cycle_of(std::move(names));
    keys_.take_from(from_.empty() ? model_.blocks.front().name : from_, "layer_pattern", model_.layer_pattern);
  }

  void write(const Block& block) {
    const std::string at = "blocks." + block.name + '.';
    BlockDimensions its{.name = block.name, .kind = block.kind, .sizes = usual_sizes(block.kind)};
    keys_.take_from(block.sizes.front().from, at + "kind", name_of(block.kind));
    for (const Size& size : block.sizes) {
      const auto key = std::ranges::find(block.kind->keys, size.key, &BlockKey::name);
      its.sizes[static_cast<std::size_t>(key - block.kind->keys.begin())] = size.value;
      if (key->is_flag)
        keys_.take_from(size.from, at + std::string(size.key), size.value != 0);
      else
        keys_.take_from(size.from, at + std::string(size.key), size.value);
    }
    model_.blocks.push_back(std::move(its));
  }

  ModelKeys& keys_;
  const ModelCode& code_;
  ModelDimensions& model_;
  std::vector<Block> blocks_;
  std::vector<std::string> types_;
  std::string from_;  ///< the key that says them
};

}  // namespace

void read_hugging_face_blocks(ModelKeys& keys, const ModelCode& code, ModelDimensions& model) {
  BlockReader(keys, code, model).read();
}

}}  // namespace c3::configs
