#pragma once
/// The grid in which ranks are arranged: which ranks share weights, sum gradients, follow each other as stages.

#include <array>
#include <cstdint>
#include <vector>

#include "collectives/call.hpp"

namespace c3 { inline namespace workloads {

/// Dimensions of the grid, from the one whose members are neighbours to the slowest, in Megatron-Core's order
/// (`tp-cp-ep-dp-pp`, parallel_state.py).
enum class GridAxis : std::uint8_t { tensor, context, expert, data, pipeline };

class RankGrid {
 public:
  /// \p ranks over \p tensor x \p context x \p pipeline are data parallel. Expert parallel groups have one
  /// rank.
  /// \pre \p tensor x \p context x \p pipeline divides \p ranks
  constexpr RankGrid(int ranks, int tensor, int pipeline, int context = 1)
      : sizes_{tensor, context, 1, ranks / (tensor * context * pipeline), pipeline} {}

  int size(GridAxis axis) const { return sizes_.at(index(axis)); }
  int ranks() const { return stride(GridAxis::pipeline) * size(GridAxis::pipeline); }
  /// Difference between the numbers of neighbours on \p axis.
  int stride(GridAxis axis) const {
    int stride = 1;
    for (std::size_t faster = 0; faster < index(axis); ++faster)
      stride *= sizes_.at(faster);
    return stride;
  }
  RankGroups groups(GridAxis axis) const { return {.size = size(axis), .stride = stride(axis)}; }
  /// Ranks that have the same weights, but not the same tokens: context and data parallel ones.
  RankGroups replicas() const {
    return {.size = size(GridAxis::context) * size(GridAxis::data), .stride = stride(GridAxis::context)};
  }
  /// Makes \p call one of every group along \p axis.
  CollectiveCall along(GridAxis axis, CollectiveCall call) const {
    if (size(axis) < ranks()) call.groups = groups(axis);
    return call;
  }
  std::vector<int> ranks_of_stage(int stage) const {
    std::vector<int> members;
    const int count = stride(GridAxis::pipeline);
    for (int rank = stage * count; rank < (stage + 1) * count; ++rank)
      members.push_back(rank);
    return members;
  }

 private:
  static constexpr std::size_t index(GridAxis axis) { return static_cast<std::size_t>(axis); }
  std::array<int, 5> sizes_;
};

}}  // namespace c3::workloads
