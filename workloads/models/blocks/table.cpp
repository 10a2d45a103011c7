// The table of kinds of blocks: one line each, in the order in which they are listed. A kind that no code asks
// for by name is declared here: extern const BlockKindEntry kName;

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "workloads/models/blocks/block_kind.hpp"
#include "workloads/models/model_dimensions.hpp"

namespace c3 { inline namespace workloads {
namespace {

constexpr std::array kTable = {BlockKind(kAttentionBlock), BlockKind(kLatentBlock), BlockKind(kGatedDeltaBlock),
                               BlockKind(kMamba2Block), BlockKind(kSparseLatentBlock)};

}  // namespace

constinit const std::span<const BlockKind> kBlockKinds = kTable;

std::string_view name_of(BlockKind kind) { return kind->name; }

std::string owner_of(const BlockDimensions& block) {
  return block.name == kOwnAttention ? "the model's" : fmt::format("block '{}', its", block.name);
}

std::int64_t size_of(const BlockDimensions& block, std::string_view key) {
  const auto found = std::ranges::find(block.kind->keys, key, &BlockKey::name);
  return found == block.kind->keys.end()
             ? 0
             : block.sizes[static_cast<std::size_t>(found - block.kind->keys.begin())];
}

BlockSizes usual_sizes(BlockKind kind) {
  BlockSizes sizes;
  for (const BlockKey& key : kind->keys)
    sizes.push_back(key.usual.value_or(0));
  return sizes;
}

}}  // namespace c3::workloads
