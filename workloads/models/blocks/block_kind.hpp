#pragma once
/// The kinds of blocks of which a transformer's layers are made beside its feed-forward blocks: what
/// stands where classical attention stands. One entry file each, listed in blocks/table.cpp.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/table_entry.hpp"
#include "workloads/models/context_split.hpp"

namespace c3 { inline namespace workloads {

enum class BlockId : std::uint8_t;
struct ModelDimensions;
struct ModelPart;

/// The most that keys of blocks take: heads or groups, elements, tokens.
inline constexpr std::int64_t kMostBlockHeads = 4096, kWidestBlock = 1'048'576, kMostBlockTokens = 16'777'216;

/// A key of a block's table, a whole number or a flag, and what it is without it.
struct BlockKey {
  std::string_view name;
  std::string_view meaning;                          ///< one line, in the words of the other keys
  std::int64_t most = 1;                             ///< the same in all kinds that have a key of this name
  std::optional<std::int64_t> usual = std::nullopt;  ///< absent: a file must have it; 0 may mean the model's
  bool is_flag = false;                              ///< else a number from 1 to `most`
};

/// The values of an entry's keys, in their order.
using BlockSizes = std::vector<std::int64_t>;

/// A count that tensor-parallel ranks divide among them.
struct DividedCount {
  std::string what;  ///< "heads"
  std::int64_t count = 0;
};

/// A key whose value contradicts another one.
struct BlockConflict {
  std::string_view key;
  std::string what;  ///< "must divide heads, which is 32 (it is 5)"
};

inline constexpr std::int64_t kKeyBytes = 2, kStateBytes = 4;  ///< of numbers that decoding keeps

/// What decoding keeps of the tokens before, of one block and sequence: keys and values, states.
struct BlockCache {
  std::int64_t token_bytes = 0;
  std::int64_t most_tokens = 0;     ///< that are kept; 0: all
  std::int64_t sequence_bytes = 0;  ///< however many tokens there are
};

/// All members but `keys` are required.
struct BlockKindEntry {
  std::string_view name;
  std::string_view meaning;  ///< for lists of keys: a clause, with the paper that describes it
  BlockId block;
  std::span<const BlockKey> keys = {};
  /// The parts between the block's norm and its residual sum.
  std::vector<ModelPart> (*parts)(const ModelDimensions& model, const BlockSizes& sizes);
  std::vector<DividedCount> (*divided)(const ModelDimensions& model, const BlockSizes& sizes);
  std::optional<BlockConflict> (*conflict)(const ModelDimensions& model, const BlockSizes& sizes);
  /// Why ranks cannot share sequences as \p split has it; nullopt: they can.
  std::optional<std::string> (*refused_split)(const BlockSizes& sizes, const ContextSplit& split);
  BlockCache (*cache)(const ModelDimensions& model, const BlockSizes& sizes);
};

extern const BlockKindEntry kAttentionBlock, kGatedDeltaBlock, kLatentBlock, kMamba2Block, kSparseLatentBlock;

class BlockKind : public TableEntry<BlockKindEntry> {
 public:
  using TableEntry::TableEntry;

  static const BlockKind attention;  ///< without keys: the model's own
  static const BlockKind latent;     ///< of models that have [model.latent]
  static const BlockKind gated_delta, mamba2, sparse_latent;
};

inline constexpr BlockKind BlockKind::attention{kAttentionBlock};
inline constexpr BlockKind BlockKind::latent{kLatentBlock};
inline constexpr BlockKind BlockKind::gated_delta{kGatedDeltaBlock};
inline constexpr BlockKind BlockKind::mamba2{kMamba2Block};
inline constexpr BlockKind BlockKind::sparse_latent{kSparseLatentBlock};

/// All kinds that a configuration can name.
extern const std::span<const BlockKind> kBlockKinds;

std::string_view name_of(BlockKind kind);

/// A block of a model, by the name that its layers call it.
struct BlockDimensions {
  std::string name;
  BlockKind kind = BlockKind::attention;
  BlockSizes sizes;  ///< as many as the kind has keys

  bool operator==(const BlockDimensions&) const = default;
};

/// The owner's name in messages: "the model's", or "block 'local', its".
std::string owner_of(const BlockDimensions& block);

/// The value of \p key; 0 where the kind has no such key.
std::int64_t size_of(const BlockDimensions& block, std::string_view key);

/// Sizes of a block of \p kind without any key.
BlockSizes usual_sizes(BlockKind kind);

}}  // namespace c3::workloads
