#pragma once
/// NCCL's kernels on symmetric memory: buffers that a user has registered with every rank (windows), so that
/// they are read and written where they lie, by all GPUs of a node or by its switch.

#include <optional>

#include "collectives/library/method.hpp"
#include "collectives/library/published_figures.hpp"

namespace c3 { inline namespace collectives {

/// One of them, as its authors expect it (NCCL 2.27 to 2.30, sym_kernels.cc, queryModel_lsa).
struct SymmetricKernel {
  Seconds time;                 ///< time that its authors expect
  int channels = 1;             ///< work groups: the fewest that are within 2.5 % of what all of them take
  Seconds base;                 ///< whatever its size, the gap before it included
  BytesPerSecond channel_rate;  ///< payload that one work group sends, or has the switch multicast
};

/// The kernel that runs \p figures' call by \p algorithm in \p protocol, or absent: NCCL has none.
std::optional<SymmetricKernel> symmetric_kernel(const PublishedFigures& figures, Algorithm algorithm,
                                                Protocol protocol);

/// What NCCL takes where both buffers are registered: of its symmetric kernels the one of least time, each work
/// group counted as 2.5 % more; over nodes the one of rail_kernel. Absent where there is none, and from 2.29 to
/// 2.29.6 where it is one of protocol ll, but \p usual, the choice without registered buffers, is not.
std::optional<CollectiveMethod> symmetric_method(const PublishedFigures& figures,
                                                 const CollectiveMethod& usual);

/// Whether NCCL's all-gather of registered buffers goes by copy engines: on Blackwell from 2.29.2 on, of more
/// than 8 Mi elements a rank.
bool gathers_by_engines(const PublishedFigures& figures);

}}  // namespace c3::collectives
