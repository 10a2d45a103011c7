#pragma once
/// What the sides of a strategy take by themselves, and under which of its settings.

#include <optional>
#include <vector>

#include "workloads/analysis/run_clock.hpp"
#include "workloads/experiment.hpp"

namespace c3 { inline namespace workloads {

/// Medians of each side alone, and where streams are compared of each stream.
struct AloneTimes {
  Seconds kernels, collectives;
  std::vector<Seconds> streams;
  std::optional<RunClock> clock = std::nullopt;  ///< of the kernels' median

  /// What overlap can hide of one another.
  std::vector<Seconds> parts() const;
  Seconds longest() const;
  Seconds sum() const;
};

/// \p strategy as a side alone sees it: backends, channels, algorithms, partitions and what kernels are tuned
/// for stay; the order of streams and their priorities, which matter beside others only, do not. A fused
/// collective has no run without its kernel: alone it has the default backend.
Strategy own_settings(const Strategy& strategy);

/// Whether a side alone runs under \p own as under no strategy at all.
bool is_default(const Strategy& own);

}}  // namespace c3::workloads
