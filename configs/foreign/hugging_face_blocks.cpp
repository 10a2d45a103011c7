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
                           kChunked = "chunked_attention", kLinear = "linear_attention",
                           kSparse = "sparse_attention", kSharing = "sparse_attention with shared choice";

/// A key of a block, and the one of the file that it comes from.
struct Size {
  std::string_view key, name;
  std::int64_t value = 0;
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
    add(kSliding, "window", BlockKind::attention, read_window());
    add(kChunked, "chunk", BlockKind::attention,
        sizes(BlockKind::attention, {{"chunk", "attention_chunk_size"}}));
    add(kFull, "full", BlockKind::attention, read_full());
    add(kLinear, "linear", BlockKind::gated_delta, read_linear());
    add(kSparse, "sparse", BlockKind::sparse_latent, read_sparse());
    if (!read_single_blocks() && !read_indexers()) read_types();
    write();
  }

 private:
  std::size_t layers() const { return static_cast<std::size_t>(model_.layers); }

  struct Wanted {
    std::string_view key, name;  ///< ours; the file's
  };
  /// The sizes of \p wanted that the file has. When it has one, it must have all that \p kind needs.
  std::vector<Size> sizes(BlockKind kind, std::initializer_list<Wanted> wanted) {
    std::vector<Size> found;
    std::string_view missing;
    for (const auto& [key, name] : wanted) {
      const auto block_key = std::ranges::find(kind->keys, key, &BlockKey::name);
      if (const auto value = keys_.integer({name}, 1, block_key->most))
        found.push_back({key, name, *value});
      else if (!block_key->usual && missing.empty())
        missing = name;
    }
    if (!found.empty() && !missing.empty())
      throw keys_.error(missing,
                        fmt::format("is missing, which blocks with {} need", keys_.dotted(found.front().name)));
    return found;
  }

  void add(std::string_view type, std::string name, BlockKind kind, std::vector<Size> found) {
    if (!found.empty())
      blocks_.push_back({.type = type, .name = std::move(name), .kind = kind, .sizes = std::move(found)});
  }

  std::vector<Size> read_linear() {
    return sizes(BlockKind::gated_delta, {{"key_heads", "linear_num_key_heads"},
                                          {"key_dim", "linear_key_head_dim"},
                                          {"value_heads", "linear_num_value_heads"},
                                          {"value_dim", "linear_value_head_dim"},
                                          {"convolution", "linear_conv_kernel_dim"}});
  }

  /// DeepSeek-V3.2 and GLM-5: latent attention to tokens that an indexer chooses.
  std::vector<Size> read_sparse() {
    if (!model_.latent) return {};  // DeepSeek-V4's indexer is another one
    return sizes(
        BlockKind::sparse_latent,
        {{"index_heads", "index_n_heads"}, {"index_dim", "index_head_dim"}, {"selected", "index_topk"}});
  }

  /// Which layers have an indexer; the others take the choice of the last one before them that has.
  bool read_indexers() {
    const Block* const sparse = block_of(kSparse);
    if (sparse == nullptr) return false;
    // What says the same as indexer_types, and how prediction layers and decoding take part.
    for (const char* const key : {"index_topk_freq", "index_topk_pattern", "index_skip_topk_offset",
                                  "index_share_for_mtp_iteration", "indexer_rope_interleave"})
      keys_.find({key});
    from_ = keys_.dotted(sparse->sizes.front().name);
    types_.assign(layers(), std::string(kSparse));
    const std::optional<std::vector<std::string>> listed = keys_.texts({"indexer_types"});
    if (!listed) return true;
    from_ = keys_.last();
    if (listed->size() != layers())
      throw keys_.error_at_last(fmt::format("has {} names for {} layers", listed->size(), layers()));
    for (std::size_t layer = 0; layer < listed->size(); ++layer) {
      const std::string& type = (*listed)[layer];
      if (type != "full" && type != "shared")
        throw keys_.error_at_last(fmt::format("has '{}', which is no known kind; known: full, shared", type));
      if (type == "shared" && layer == 0)
        throw keys_.error_at_last("begins with 'shared', and no layer before it chooses tokens");
      if (type == "shared") types_[layer] = kSharing;
    }
    std::vector<Size> sizes = sparse->sizes;
    sizes.push_back({"has_indexer", "indexer_types", 0});
    add(kSharing, "sharing", BlockKind::sparse_latent, std::move(sizes));
    return true;
  }

  /// Nemotron-H: a layer is one block, of Mamba-2, attention, feed-forward or experts.
  bool read_single_blocks() {
    for (const char letter : keys_.text({"hybrid_override_pattern"}).value_or(""))
      types_.push_back(letter == 'M'   ? "mamba"
                       : letter == '*' ? "attention"
                       : letter == 'E' ? "moe"
                       : letter == '-' ? "mlp"
                                       : std::string(1, letter));
    if (types_.empty()) types_ = keys_.texts({"layers_block_type"}).value_or(std::vector<std::string>());
    if (types_.empty()) return false;
    from_ = keys_.last();
    if (types_.size() != layers())
      throw keys_.error_at_last(fmt::format("has {} blocks for {} layers", types_.size(), layers()));
    refuse_unknown({"mamba", "attention", "moe", "mlp"});
    model_.blocks_apart = true;
    keys_.take("blocks_apart", true);
    add("mamba", "mamba", BlockKind::mamba2,
        sizes(BlockKind::mamba2, {{"heads", "mamba_num_heads"},
                                  {"head_dim", "mamba_head_dim"},
                                  {"state", "ssm_state_size"},
                                  {"groups", "n_groups"},
                                  {"convolution", "conv_kernel"},
                                  {"scan_chunk", "chunk_size"}}));
    refuse_without("mamba", "mamba_num_heads");
    return true;
  }

  /// Types that are none of \p known: taken for attention, their layers would be wrong in silence.
  void refuse_unknown(std::initializer_list<std::string_view> known) const {
    for (const std::string& type : types_)
      if (std::ranges::find(known, type) == known.end())
        throw keys_.error_at_last(
            fmt::format("has '{}', which is no known kind of layer; known: {}", type, fmt::join(known, ", ")));
  }
  /// A type whose sizes the file lacks, of which \p name is the first.
  void refuse_without(std::string_view type, std::string_view name) const {
    if (block_of(type) == nullptr && std::ranges::find(types_, type) != types_.end())
      throw keys_.error(name, fmt::format("is missing, which layers of type {} need", type));
  }

  std::vector<Size> read_window() {
    const bool is_used = keys_.flag({"use_sliding_window"}).value_or(!code_.asks_for_windows);
    const bool is_of_compressed = keys_.find({"compress_ratios"}).has_value();
    keys_.find({"sliding_window"});
    if (!is_used || is_of_compressed || model_.latent) return {};
    return sizes(BlockKind::attention, {{"window", "sliding_window"}});
  }

  /// Reads the sizes of layers that see all tokens, where they are unlike the model's other layers.
  std::vector<Size> read_full() {
    std::vector<Size> found = sizes(
        BlockKind::attention, {{"head_dim", "global_head_dim"}, {"kv_heads", "num_global_key_value_heads"}});
    const auto add_flag = [&](std::string_view key, std::string_view name) {
      if (keys_.flag({name}).value_or(false)) found.push_back({key, name, 1});
    };
    add_flag("values_are_keys", "attention_k_eq_v");
    add_flag("gated_output", "attn_output_gate");
    keys_.find({"full_attention_interval"});  // layer_types says the same
    if (code_.type == "llama4_text") found.push_back({"rotates", "attention_chunk_size", 0});
    return found;
  }

  /// Reads the type of each layer; none where no key tells layers apart.
  void read_types() {
    const bool has_chunks = block_of(kChunked) != nullptr, has_windows = block_of(kSliding) != nullptr;
    std::optional<std::vector<std::string>> listed = keys_.texts({"layer_types"});
    if (listed && !listed->empty()) {
      from_ = keys_.last();
      if (listed->size() != layers())
        throw keys_.error("layer_types", fmt::format("has {} names for {} layers", listed->size(), layers()));
      types_ = std::move(*listed);
      refuse_unknown({kFull, kSliding, kChunked, kLinear});
      refuse_without(kLinear, "linear_num_key_heads");
    } else if (has_chunks) {
      from_ = keys_.dotted("attention_chunk_size");
      alternate(kChunked, code_.full_every, 0);
    } else if (has_windows) {
      const std::int64_t interval =
          keys_.integer({"sliding_window_pattern"}, 1, kMostLayers).value_or(code_.full_every);
      from_ = keys_.dotted("sliding_window");
      alternate(kSliding, interval, keys_.integer({"max_window_layers"}, 0, kMostLayers).value_or(0));
    } else if (const Block* const full = block_of(kFull)) {
      from_ = keys_.dotted(full->sizes.front().name);
      types_.assign(layers(), std::string(kFull));
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
    keys_.take_from(from_, "layer_pattern", model_.layer_pattern);
  }

  void write(const Block& block) {
    const std::string at = "blocks." + block.name + '.';
    BlockDimensions dimensions{.name = block.name, .kind = block.kind, .sizes = usual_sizes(block.kind)};
    keys_.take_from(keys_.dotted(block.sizes.front().name), at + "kind", name_of(block.kind));
    for (const Size& size : block.sizes) {
      const auto key = std::ranges::find(block.kind->keys, size.key, &BlockKey::name);
      dimensions.sizes[static_cast<std::size_t>(key - block.kind->keys.begin())] = size.value;
      const std::string from = keys_.dotted(size.name), ours = at + std::string(size.key);
      key->is_flag ? keys_.take_from(from, ours, size.value != 0) : keys_.take_from(from, ours, size.value);
    }
    refuse_conflict(block, dimensions);
    model_.blocks.push_back(std::move(dimensions));
  }

  void refuse_conflict(const Block& block, const BlockDimensions& dimensions) const {
    const std::optional<BlockConflict> conflict = dimensions.kind->conflict(model_, dimensions.sizes);
    if (!conflict) return;
    const auto from = std::ranges::find(block.sizes, conflict->key, &Size::key);
    throw keys_.error((from == block.sizes.end() ? block.sizes.front() : *from).name,
                      fmt::format("{} of such a block: {}", conflict->key, conflict->what));
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
