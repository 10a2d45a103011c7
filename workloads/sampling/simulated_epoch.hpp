#pragma once
/// An epoch of which only the iterations that stand for all are simulated.

#include <cstdint>
#include <functional>
#include <span>

#include "workloads/sampling/seq_points.hpp"

namespace c3 { inline namespace sampling {

/// SeqPoints of an epoch whose times are not known before: those of lengths that were not simulated are
/// taken from the line between the nearest ones that were. The shortest and the longest length are simulated
/// first, then those in the middle of two, until a middle one is within half of the error asked for of its
/// line. Points are chosen from that, to within the other half, and those that are new are simulated, until all
/// points are. EpochSample::total is by those lines. Wrong when: the time of an iteration leaps between two
/// lengths, and not where a middle one shows it.
/// \param lengths of the epoch's iterations, at least one
/// \param time_of an iteration of a length; called once for each
EpochSample simulated_epoch(std::span<const std::int64_t> lengths, const SeqPointRequest& request,
                            const std::function<Seconds(std::int64_t length)>& time_of);

}}  // namespace c3::sampling
