#pragma once

#include "studies/study.hpp"

namespace c3 { inline namespace studies {

/// How good c3sim tune's answers are on spaces small enough to simulate whole, and what they cost.
Study tune_study();

}}  // namespace c3::studies
