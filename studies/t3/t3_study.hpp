#pragma once

#include "studies/study.hpp"

namespace c3 { inline namespace studies {

/// T3 (arXiv 2401.16677): a reduce-scatter fused with the GEMM before it, by track and trigger.
Study t3_study();

}}  // namespace c3::studies
