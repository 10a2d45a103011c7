#pragma once
/// How much of a reused working set a cache loses.

#include "engine/units.hpp"
#include "gpu/spec.hpp"

namespace c3 { inline namespace gpu {

/// \returns the fraction (0..1) of re-references that miss when \p reused bytes are touched cyclically in a
/// cache of \p capacity bytes under random replacement while \p streamed other bytes are inserted in each
/// cycle. A line survives n insertions with exp(-n / capacity), and the insertions are the stream and the
/// cycle's own misses: 1 - x = exp(-(x reused + streamed) / capacity), solved for x. Source: cyclic reuse under
/// random replacement, as used for T3's last-level cache (arXiv 2401.16677 study). Under strict LRU all of a
/// cycle misses that does not fit with its stream, and nothing else. Wrong when: the order of reuse is not
/// cyclic.
double reuse_miss_fraction(Bytes reused, Bytes streamed, Bytes capacity,
                           Replacement replacement = Replacement::random);

}}  // namespace c3::gpu
