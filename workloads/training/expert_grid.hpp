#pragma once
/// The grid in which ranks are arranged for experts, beside RankGrid, which all other weights have.

#include <algorithm>
#include <vector>

#include "collectives/call.hpp"
#include "workloads/training/setup.hpp"

namespace c3 { inline namespace workloads {

/// Ranks of a pipeline stage are tensor x expert x data for experts, the first one fastest (Megatron-Core,
/// parallel_state.py: expert tensor, expert, expert data). Groups of an axis of one rank are not to be asked
/// for.
class ExpertGrid {
 public:
  /// \pre expert and expert-tensor parallel ranks times stages divide \p ranks
  ExpertGrid(const TrainingSetup& setup, int ranks)
      : ranks_(ranks),
        tensor_(setup.expert_tensor_parallel()),
        expert_(setup.experts.ranks),
        data_(ranks / (tensor_ * expert_ * setup.pipeline.stages)),
        within_node_(setup.experts.node_ranks > 0 ? std::clamp(setup.experts.node_ranks / tensor_, 1, expert_)
                                                  : expert_) {}

  int tensor() const { return tensor_; }
  int expert() const { return expert_; }
  int data() const { return data_; }  ///< replicas of each expert
  int ranks() const { return ranks_; }
  int nodes() const { return expert_ / within_node_; }  ///< among which the experts of one set are divided

  RankGroups tensor_groups() const { return {.size = tensor_, .stride = 1}; }
  RankGroups expert_groups() const { return {.size = expert_, .stride = tensor_}; }
  /// Parts of expert_groups(): ranks of one node, and ranks that have the same place in their nodes.
  RankGroups node_groups() const { return {.size = within_node_, .stride = tensor_}; }
  RankGroups network_groups() const { return {.size = nodes(), .stride = tensor_ * within_node_}; }
  RankGroups data_groups() const { return {.size = data_, .stride = tensor_ * expert_}; }
  /// All ranks that have parts of one set of experts.
  RankGroups token_groups() const { return {.size = tensor_ * expert_, .stride = 1}; }

  /// Ranks among \p of_stage, those of a pipeline stage, that are at \p position of their expert group.
  std::vector<int> ranks_at(int position, const std::vector<int>& of_stage) const {
    std::vector<int> ranks;
    for (const int rank : of_stage)
      if (rank / tensor_ % expert_ == position) ranks.push_back(rank);
    return ranks;
  }

  /// Makes \p call one of each of \p groups.
  CollectiveCall along(RankGroups groups, CollectiveCall call) const {
    if (groups.size < ranks_) call.groups = groups;
    return call;
  }

 private:
  int ranks_, tensor_, expert_, data_, within_node_;
};

}}  // namespace c3::workloads
