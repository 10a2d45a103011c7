#pragma once
/// What a user should know before the results of a run, on stderr.

#include <string>
#include <vector>

#include "app/collective/collective_request.hpp"
#include "app/kernel/kernel_request.hpp"

namespace c3 { inline namespace app {

/// One line each, beginning with "note: ".
void print_notes(const std::vector<std::string>& notes);

/// Overrides that no kernel of \p cases uses, and figures of their GPUs that are in doubt.
std::vector<std::string> notes_on(const KernelOptions& options, const std::vector<KernelCase>& cases);

/// Notes on a collective.
std::vector<std::string> notes_on(const CollectiveOptions& options, const CollectiveRequest& request);

}}  // namespace c3::app
