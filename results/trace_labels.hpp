#pragma once
/// Names and arguments as PyTorch's profiler writes them, which trace readers (HolisticTraceAnalysis, Chakra's
/// converter) look for.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "workloads/experiment.hpp"

namespace c3 { inline namespace results {

struct CollectiveLabel {
  /// Name of its slices, e.g. "ncclDevKernel_AllGather_bf16_DIRECT"; readers take "nccl" for communication.
  std::string name;
  std::string args;  ///< a JSON object: "Collective name", "In msg nelems", ...
  Backend backend = Backend::cu;
};

/// The groups of ranks that communicate, all ranks first: their numbers are their names. PyTorch calls the
/// default group "0".
class ProcessGroups {
 public:
  explicit ProcessGroups(const Experiment& experiment);
  const std::vector<std::vector<int>>& all() const { return groups_; }
  /// What the groups are called together into which the ranks are divided at once, as of data parallelism; the
  /// group of a rank among them is found by it.
  const std::string& description(std::size_t number) const { return descriptions_[number]; }
  std::size_t number_of(const std::vector<int>& ranks) const { return numbers_.at(ranks); }

 private:
  void add(const std::vector<int>& ranks, const std::string& description);

  std::vector<std::vector<int>> groups_;
  std::vector<std::string> descriptions_;
  std::map<std::vector<int>, std::size_t> numbers_;
};

/// The label of a message between two ranks.
CollectiveLabel message_label(Backend backend);

/// What a collective of an experiment is called, by its groups; folded, in rank 0's alone.
class CollectiveLabels {
 public:
  CollectiveLabels(const CollectiveCall& call, const StreamPolicy& policy, const Experiment& experiment,
                   const ProcessGroups& groups, bool folded);
  const CollectiveLabel& of(int rank) const;

 private:
  std::optional<RankGroups> groups_;
  bool has_splits_ = false;              ///< a label for each member: an all-to-all with a size for each pair
  std::vector<int> members_ = {};        ///< with splits: members of the first group
  std::vector<CollectiveLabel> labels_;  ///< indexed by group_number
};

/// \returns the members of a trace that precede its events, as an indented JSON object. Readers find the rank
/// with a pattern that wants white space after the colon.
/// \param simulated which ranks are
/// \param shortened which part of a training step was simulated; empty: all of it
std::string trace_header(const Experiment& experiment, const ProcessGroups& groups, const Strategy& strategy,
                         const RankPartition& simulated, int rank, const std::string& shortened);

}}  // namespace c3::results
