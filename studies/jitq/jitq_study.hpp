#pragma once

#include "studies/study.hpp"

namespace c3 { inline namespace studies {

/// Copies of weights in few bits, made just in time by units in memory (JIT-Q, arXiv 2311.05034).
Study jitq_study();

}}  // namespace c3::studies
