#pragma once
/// Two recordings of what a thread ran, of which one is longer or lacks parts.

#include <cstdint>
#include <span>
#include <vector>

namespace c3 { inline namespace traces {

/// The place in \p pattern that each element of \p recorded stands for, or kNoIndex.
/// The pattern may be of one step and the recording of many: behind its end, it begins again. Both may have
/// elements that the other lacks. The search takes linear time: it goes on in the pattern while elements agree;
/// else takes the longest common subsequence of the next 48 elements of both, if it has half of them; else
/// begins again at the longest run of at least eight that agrees.
/// Wrong when: runs repeat in the pattern, and the recording begins or goes on at another one of them.
/// \param recorded,pattern equal numbers are equal elements
std::vector<std::uint32_t> align(std::span<const std::uint32_t> recorded,
                                 std::span<const std::uint32_t> pattern);

}}  // namespace c3::traces
