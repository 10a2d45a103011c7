// The table of kinds of blocks: one line each, in the order in which they are listed.

#include <fmt/format.h>

#include <array>

#include "workloads/models/blocks/block_kind.hpp"
#include "workloads/models/model_dimensions.hpp"

namespace c3 { inline namespace workloads {
namespace {

constexpr std::array kTable = {BlockKind(kAttentionBlock), BlockKind(kLatentBlock), BlockKind(kGatedDeltaBlock),
                               BlockKind(kMamba2Block)};

}  // namespace

constinit const std::span<const BlockKind> kBlockKinds = kTable;

std::string_view name_of(BlockKind kind) { return kind->name; }

std::string owner_of(const BlockDimensions& block) {
  return block.name == kOwnAttention ? "the model's" : fmt::format("block '{}', its", block.name);
}

BlockSizes usual_sizes(BlockKind kind) {
  BlockSizes sizes;
  for (const BlockKey& key : kind->keys)
    sizes.push_back(key.usual.value_or(0));
  return sizes;
}

}}  // namespace c3::workloads
