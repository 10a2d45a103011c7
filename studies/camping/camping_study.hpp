#pragma once

#include "studies/study.hpp"

namespace c3 { inline namespace studies {

/// Streams that camp on channels of memory (GPGPU-Sim with cuDNN, arXiv 1811.08933).
Study camping_study();

}}  // namespace c3::studies
