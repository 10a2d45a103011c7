#pragma once
/// Predicted kernels, as tables and as JSON.

#include <string>
#include <vector>

#include "app/select/file_selections.hpp"
#include "app/select/kernel_selection.hpp"

namespace c3 { inline namespace app {

/// \pre of one operator, and not empty
std::string selection_text(const std::vector<Selection>& selections);
std::string selection_json(const std::vector<Selection>& selections);

/// A table of convolutions, one of products, and what was not learned.
std::string selection_text(const FileSelections& selections);
std::string selection_json(const FileSelections& selections);

}}  // namespace c3::app
