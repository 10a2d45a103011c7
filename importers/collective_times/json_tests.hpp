#pragma once
/// What nccl-tests (-J, from 2.17.3: versions 1 to 3 of its format) and rccl-tests (-Z json, and -J) write.

#include <memory>
#include <string>
#include <string_view>

#include "importers/collective_times/table_rows.hpp"

namespace c3 { inline namespace importers {

/// Whether \p text is meant to be JSON: it begins with a brace or a bracket that is no launcher's mark.
bool is_json_text(std::string_view text);

/// Whether \p text looks like one of the two, without reading all of it.
bool is_json_of_tests(std::string_view text);

/// \throws ConfigError for JSON that is none, ends too early, is nested deeper than 64, or is of another tool
TestRows read_json_tests(std::string_view text, const std::shared_ptr<const std::string>& file);

}}  // namespace c3::importers
