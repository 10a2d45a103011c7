#pragma once
/// How a study's report looks: tables for a terminal, JSON for programs.

#include <string>
#include <string_view>

#include "studies/study.hpp"

namespace c3 { inline namespace studies {

/// A table for each section, its notes below it.
std::string study_text(const StudyReport& report);

/// One object with `schema_version`, `study` and `figures`.
std::string study_json(std::string_view study, const StudyReport& report);

}}  // namespace c3::studies
