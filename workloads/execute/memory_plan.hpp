#pragma once
/// What a rank's operations hold in its GPU's memory, and whether that has room.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "interconnect/rank_partition.hpp"
#include "workloads/experiment.hpp"

namespace c3 { inline namespace workloads {

/// What ranks that run one script hold: the tensors of kernels, and the buffers of collectives and messages.
/// Streams may run beside one another, so the largest operation of each counts, all of them together;
/// operations of one stream may reuse memory. Collectives work in place where their kind allows it. Wrong when:
/// tensors of an earlier operation are still needed (too little is counted), or events keep two streams apart
/// (too much). Training steps have a ledger instead (StepFacts).
struct MemoryPlan {
  /// The operation of a stream that holds most.
  struct Largest {
    std::size_t stream = 0;
    NameId operation = 0;
    Bytes bytes = {};
  };

  std::vector<Largest> streams;  ///< those on which something is held
  bool is_known = true;          ///< not where kernels or collectives are known by their times only

  Bytes total() const;
};

/// Which of \p ranks ranks run a script of \p program.
RankRanges ranks_of_script(const Program& program, std::uint32_t script, int ranks);

/// By script of \p experiment, which is no training step. Nothing is refused for lack of room.
std::vector<MemoryPlan> memory_plans(const Experiment& experiment);

/// What the ranks of an experiment hold.
class ExperimentMemory {
 public:
  /// \p experiment outlives it. \throws InfeasibleError naming the ranks and operations that have no room, what
  /// they take and what there is; not of a training step, whose author has counted what it holds
  explicit ExperimentMemory(const Experiment& experiment);

  /// Of a training step what its allocator has reserved; absent where it is not known of all ranks.
  std::optional<Bytes> of(int rank) const;

 private:
  const Experiment& experiment_;
  std::vector<MemoryPlan> plans_;  ///< by script; none of a training step
};

}}  // namespace c3::workloads
