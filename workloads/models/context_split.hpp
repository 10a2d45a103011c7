#pragma once
/// How context-parallel ranks share sequences, and what they exchange for attention.

#include <cstdint>

#include "base/enum_names.hpp"

namespace c3 { inline namespace workloads {

/// How a rank's queries meet keys and values of other ranks' tokens (Megatron-Core: cp_comm_type).
enum class ContextExchange : std::uint8_t {
  ring,     ///< keys and values go round, each step beside the attention of the step before (arXiv 2310.01889)
  gather,   ///< every rank gathers all of them first (Llama 3, arXiv 2407.21783)
  ulysses,  ///< all-to-alls give each rank some heads of all tokens (arXiv 2309.14509)
  hierarchical,  ///< all-to-alls within groups of neighbours, a ring between groups
};
constexpr auto enum_names(ContextExchange) {
  return std::to_array<EnumName<ContextExchange>>({{"ring", ContextExchange::ring},
                                                   {"gather", ContextExchange::gather},
                                                   {"ulysses", ContextExchange::ulysses},
                                                   {"hierarchical", ContextExchange::hierarchical}});
}

/// Ranks that have a part of every sequence each. Under a causal mask a sequence is cut into twice as many
/// pieces, of which rank i of c has pieces i and 2c - 1 - i, so that all ranks have as much to do.
struct ContextSplit {
  int ranks = 1;
  ContextExchange exchange = ContextExchange::ring;
  int inner = 0;  ///< hierarchical: neighbours that exchange by all-to-alls

  /// Ranks among which all-to-alls divide heads; 1: heads stay whole.
  int head_ranks() const {
    if (exchange == ContextExchange::ulysses) return ranks;
    return exchange == ContextExchange::hierarchical ? inner : 1;
  }
  /// Ranks among which keys and values still have to go round, or be gathered.
  int key_ranks() const { return ranks / head_ranks(); }

  bool operator==(const ContextSplit&) const = default;
};

}}  // namespace c3::workloads
