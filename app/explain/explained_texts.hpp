#pragma once
/// What one process of an explanation found, as a text for the one that asked.

#include <string>

#include "workloads/explain/critical_path.hpp"
#include "workloads/explain/explained_run.hpp"

namespace c3 { inline namespace app {

std::string text_of(const ExplainedRun& run);
ExplainedRun run_of(const std::string& text);

std::string text_of(const ComparedRun& compared);
ComparedRun compared_of(const std::string& text);

std::string text_of(const CriticalPath& path);
CriticalPath path_of(const std::string& text);

}}  // namespace c3::app
