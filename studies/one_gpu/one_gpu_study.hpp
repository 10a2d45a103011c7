#pragma once
/// One H100, measured by this project: kernels alone and on parts of it, its clock over seconds, training
/// steps.

#include "studies/study.hpp"

namespace c3 { inline namespace studies {

Study one_gpu_study();

}}  // namespace c3::studies
