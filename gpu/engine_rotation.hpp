#pragma once
/// In which order a queue's work groups go round the shader engines of a die.

#include <cstdint>
#include <vector>

#include "gpu/compute_units.hpp"
#include "gpu/spec.hpp"

namespace c3 { inline namespace gpu {

class DispatchClient;

/// A hypothesis (HypothesisSpec::strict_rotation). CU c of a die belongs to engine c mod engines, so that 38
/// CUs of 4 engines are 10, 10, 9 and 9. Every queue has a pointer of its own on each die, which goes on by one
/// engine a work group. While two grids wait or hold CUs of the GPU, the next work group of each waits for the
/// engine that its pointer is at, though others have room: the smallest engine decides how many waves a grid
/// takes. One grid alone goes to any free CU.
/// Source: description of MI300X's dispatch in ROCm/tritonBLAS (docs/overlap-analysis.md); not measured.
/// Wrong when: the hardware passes over a full engine, or a lone grid waits for one, too.
class EngineRotation {
 public:
  explicit EngineRotation(const GpuSpec& gpu);

  /// Whether dispatch must ask it at all.
  bool is_on() const { return engines_ > 1; }
  /// Whether two grids or more are on the GPU.
  bool is_strict() const { return is_on() && grids_.size() > 1; }
  /// Engines of a die that work groups go to in strict turn now; 1: they go to any CU.
  int in_turn() const { return is_strict() ? engines_ : 1; }

  void begin(const DispatchClient& grid, std::int64_t work_groups);
  /// \p work_groups of \p grid ended, or will not be placed. \returns whether those that wait are free to go to
  /// any CU from now on.
  bool end(const DispatchClient& grid, std::int64_t work_groups);

  /// Puts a work group of \p grid on the engine whose turn it is. \returns its CU, or -1: that engine has no
  /// room.
  int place(ComputeUnits& units, const DispatchClient& grid, int xcd, const WorkGroupNeeds& needs,
            CuRange range);
  /// \p work_groups of \p grid went to any CU of \p xcd.
  void pass(const DispatchClient& grid, int xcd, std::int64_t work_groups);

 private:
  struct Grid {
    const DispatchClient* client = nullptr;
    std::int64_t work_groups = 0;    ///< that wait or hold CUs
    std::vector<std::int64_t> next;  ///< engine, by XCD
  };
  Grid& of(const DispatchClient& grid);

  int engines_;
  std::size_t xcds_;
  std::vector<Grid> grids_;
};

}}  // namespace c3::gpu
