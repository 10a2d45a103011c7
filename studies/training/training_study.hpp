#pragma once

#include "studies/study.hpp"

namespace c3 { inline namespace studies {

/// Training steps: measured and published ones, and what must hold of any.
Study training_study();

}}  // namespace c3::studies
