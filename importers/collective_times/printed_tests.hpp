#pragma once
/// What nccl-tests (2.0 to 2.19.6) and rccl-tests print.

#include <memory>
#include <string>
#include <string_view>

#include "importers/collective_times/table_rows.hpp"

namespace c3 { inline namespace importers {

/// Whether \p text has the header of their tables.
bool has_printed_header(std::string_view text);

/// The rows of numbers, under the names of their own header, or those of the usual columns where there is none.
/// Lines of launchers, of NCCL_DEBUG and of other programs may stand before and between them, and several tests
/// one after the other. Columns that options add are read, too: -S (timestamp), -I (i_min, i_max, i_p99,
/// i_cv%), -C (cputime); of rccl-tests hipevt, and algo, proto and nchannels.
TestRows read_printed_tests(std::string_view text, const std::shared_ptr<const std::string>& file);

}}  // namespace c3::importers
