#pragma once
/// `c3sim reproduce conccl`: computation beside collectives on eight MI300X, arXiv 2412.14335.

#include "studies/study.hpp"

namespace c3 { inline namespace studies {

Study conccl_study();

}}  // namespace c3::studies
