#pragma once

#include "studies/study.hpp"

namespace c3 { inline namespace studies {

/// BERT-Large pre-training operator by operator (arXiv 2104.08335), and NVIDIA's results of MLPerf training
/// 0.7.
Study bert_study();

}}  // namespace c3::studies
