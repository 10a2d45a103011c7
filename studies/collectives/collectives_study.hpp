#pragma once
/// `c3sim reproduce collectives`: how far collectives and links are from what nccl-tests, rccl-tests,
/// TransferBench and DeepEP measured.

#include "studies/study.hpp"

namespace c3 { inline namespace studies {

Study collectives_study();

}}  // namespace c3::studies
