#pragma once
/// One kernel beside one collective, under every strategy of arXiv 2412.14335: what each side takes alone, and
/// what both take together.

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "workloads/execute/run.hpp"

namespace c3 { inline namespace studies {

/// Strategies from the bottom to the top. In brackets the strategy of the experiment that each is a run of.
enum class Rung : std::uint8_t {
  base,               ///< [base] under the dispatch policy of the GPU
  base_round_robin,   ///< [base] under DispatchPolicy::round_robin
  base_random_order,  ///< [base], [sp]: either order as often as the other, by the mean of their speedups
  sp,                 ///< [sp] schedule prioritisation
  rp,                 ///< [rp] resource partitioning, the best of the masks
  rp_lookup,          ///< [rp] the mask with the least max(G(k), C(k)) of isolated times
  sp_rp,              ///< [sp_rp] both, the best of the masks; that of [rp] where only the order differs
  conccl,             ///< [conccl] the collective on copy engines
  conccl_8,           ///< [conccl_8] and CUs that the kernel leaves to nobody
};
inline constexpr std::array kRungs = {
    Rung::base,  Rung::base_round_robin, Rung::base_random_order, Rung::sp, Rung::rp, Rung::rp_lookup,
    Rung::sp_rp, Rung::conccl,           Rung::conccl_8};
/// "base_round_robin".
std::string_view name_of(Rung rung);
constexpr std::size_t index_of(Rung rung) { return static_cast<std::size_t>(rung); }

/// Which of kRungs, by index_of.
using RungSet = std::bitset<kRungs.size()>;
RungSet rungs_of(std::span<const Rung> rungs);
inline RungSet all_rungs() { return RungSet().set(); }

/// Strategies that an experiment must have for all_rungs().
inline constexpr std::array<std::string_view, 6> kLadderStrategies = {"base",  "sp",     "rp",
                                                                      "sp_rp", "conccl", "conccl_8"};

/// One side by itself: with the whole GPU, and under each mask of a swept partition, in the order of
/// cu_choices(). The kernel loses the CUs of the mask, the collective has no others.
struct AloneTimes {
  Seconds whole;
  std::vector<Seconds> masked = {};

  bool operator==(const AloneTimes&) const = default;
};

/// \param filter kernels or collectives. \param partitioned a strategy of \p experiment with one swept
/// partition.
AloneTimes run_alone(const Experiment& experiment, const Strategy& partitioned, OperationFilter filter,
                     std::uint64_t seed);

struct MaskedRun {
  int cus = 0;  ///< given to the collective
  Seconds time;

  bool operator==(const MaskedRun&) const = default;
};

/// Both sides under the masks of one strategy.
struct MaskSweep {
  MaskedRun lookup;      ///< the mask that isolated times name
  MaskedRun best;        ///< of all masks; of two alike the one with the shorter isolated times
  std::size_t runs = 0;  ///< that it took
};

/// Whether masks are left out that cannot be best. Sharing makes neither side faster than it is alone under the
/// same mask, so masks are taken in the order of max(G(k), C(k)) and the first whose value is not below the
/// best time found ends the sweep. A work group that is delayed may let another take a better place (Graham,
/// 1966): so that such luck cannot hide a mask, its bound counts 1 % less.
enum class Pruning { none, by_isolated_times };

MaskSweep sweep_masks(const Experiment& experiment, const Strategy& partitioned, const AloneTimes& kernel,
                      const AloneTimes& collective, std::uint64_t seed,
                      Pruning pruning = Pruning::by_isolated_times);

struct LadderTimes {
  Seconds kernel, collective;                                       ///< alone, whole GPU, CU backend
  std::array<std::optional<Seconds>, kRungs.size()> together = {};  ///< absent: not asked for
  std::array<int, kRungs.size()> cus = {};                          ///< given to the collective; 0: no mask

  std::optional<Seconds> operator[](Rung rung) const { return together[index_of(rung)]; }
  bool operator==(const LadderTimes&) const = default;
};

/// The kernel alone, and under the masks of `rp` where \p rungs need them. It does not know the collective,
/// so that pairs with the same kernel share it.
AloneTimes kernel_alone(const Experiment& experiment, std::uint64_t seed, const RungSet& rungs = all_rungs());

/// \p experiment has the strategies that \p rungs are runs of; those without `order` or masks in common with
/// arXiv 2412.14335 mean what they mean. \param kernel from kernel_alone() of the same experiment and seed.
/// \throws std::logic_error for a strategy that is not there, or a run shorter than its lower bound; what
/// run_once throws
LadderTimes run_ladder(const Experiment& experiment, const AloneTimes& kernel, std::uint64_t seed,
                       const RungSet& rungs = all_rungs());

}}  // namespace c3::studies
