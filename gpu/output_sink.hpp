#pragma once
/// Who takes the output of a kernel whose stores do not simply go to its own memory: a fused collective.

#include <cstdint>
#include <vector>

#include "engine/flow.hpp"
#include "engine/task.hpp"
#include "gpu/kernel.hpp"

namespace c3 { inline namespace gpu {

/// Work groups that store their tiles at one instant.
struct StoreBurst {
  int rank = 0;                     ///< of the GPU
  int stream = 0;                   ///< of the kernel
  int xcd = 0;                      ///< where the work groups are
  double hbm_share = 1.0;           ///< see KernelDescription
  ActivityId kernel = kNoActivity;  ///< for observers: whose stores these are
  Bytes in_flight;                  ///< of one work group
  std::vector<std::int64_t> tiles;  ///< numbers of the work groups in the order of dispatch
};

class OutputSink {
 public:
  /// Makes the stores of \p burst, which bypass the caches. Ends when the GPU's own memory has served its part;
  /// what goes to other GPUs is posted.
  virtual Task store(StoreBurst burst) = 0;

 protected:
  ~OutputSink() = default;
};

}}  // namespace c3::gpu
