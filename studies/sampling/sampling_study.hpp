#pragma once

#include "studies/study.hpp"

namespace c3 { inline namespace studies {

/// Few kernels, iterations or turns of a loop that stand for all, and how wrong that is.
Study sampling_study();

}}  // namespace c3::studies
