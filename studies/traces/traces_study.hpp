#pragma once

#include "studies/study.hpp"

namespace c3 { inline namespace studies {

/// Traces of real steps: what is found in them, replays of them, and their kernels on another GPU.
Study traces_study();

}}  // namespace c3::studies
