#pragma once

namespace c3 { inline namespace results {

/// Style of the page: light, and dark where the reader's system is. Text on its background, and text on a bar,
/// has a contrast of at least 4.5 to 1 in both.
extern const char* const kReportStyle;

}}  // namespace c3::results
