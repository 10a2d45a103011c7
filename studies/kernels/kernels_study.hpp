#pragma once
/// `c3sim reproduce kernels`: how far the kernel models are from measured kernels, and their sums from measured
/// models.

#include "studies/study.hpp"

namespace c3 { inline namespace studies {

Study kernels_study();

}}  // namespace c3::studies
