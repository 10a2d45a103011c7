#pragma once
/// Shares as people read them.

namespace c3 { inline namespace base {

/// Times a share of one, it is the same share in percent.
inline constexpr double kPercent = 100.0;

}}  // namespace c3::base
