#pragma once

#include "studies/study.hpp"

namespace c3 { inline namespace studies {

/// Products beside products on MI100, with kernels tuned for a part of the GPU (GOLDYLOC, arXiv 2409.02227).
Study goldyloc_study();

}}  // namespace c3::studies
