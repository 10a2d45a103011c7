#pragma once
/// Why a run takes longer than its kernels alone, and the same run with some of that made impossible.

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "base/enum_names.hpp"
#include "gpu/isolation.hpp"
#include "workloads/experiment.hpp"

namespace c3 { inline namespace workloads {

/// What costs a run time and can be made impossible.
enum class CauseKind {
  communication,  ///< collectives and messages take no time, but still wait for all their members
  interference,   ///< every stream has a private copy of one resource
  power,          ///< no power limit: the core clock is the boost clock
  hosts,          ///< hosts launch in no time and never stand still; GPUs start kernels without a gap
  stragglers,     ///< all GPUs are alike, and all ranks launch at the same instant
};
constexpr auto enum_names(CauseKind) {
  return std::to_array<EnumName<CauseKind>>({{"communication", CauseKind::communication},
                                             {"interference", CauseKind::interference},
                                             {"power limit", CauseKind::power},
                                             {"hosts and launches", CauseKind::hosts},
                                             {"stragglers", CauseKind::stragglers}});
}

struct Cause {
  CauseKind kind = CauseKind::hosts;
  /// Of communication: "data parallel", or the name of a stream; of interference: the resource.
  std::string what = {};
  std::vector<std::size_t> streams = {};          ///< of communication: where its collectives and messages are
  SharedResource resource = SharedResource::hbm;  ///< of interference

  /// "communication: data parallel"
  std::string name() const;
  bool operator==(const Cause&) const = default;
};

/// Every cause that \p experiment has under \p strategy, from what is nearest to kernels to what is farthest.
/// Streams of a training step are grouped by the kind of parallelism that they serve.
std::vector<Cause> causes_of(const Experiment& experiment, const Strategy& strategy);

/// A run that cannot be.
struct Counterfactual {
  Experiment experiment;
  Strategy strategy;
  Isolation isolation = {};
};

/// \p experiment under \p strategy with each of \p causes made impossible. What its family writes of other
/// sizes is changed alike.
Counterfactual without(const Experiment& experiment, const Strategy& strategy, std::span<const Cause> causes);

/// \p experiment whose collectives and messages on \p streams move next to nothing: what is left is latency,
/// as of the methods that the library takes for the least messages.
Experiment with_least_bytes(const Experiment& experiment, std::span<const std::size_t> streams);

/// \p experiment whose hosts take \p factor times as long for everything.
Experiment with_host_time(const Experiment& experiment, double factor);

}}  // namespace c3::workloads
