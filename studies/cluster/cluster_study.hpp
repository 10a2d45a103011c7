#pragma once

#include "studies/study.hpp"

namespace c3 { inline namespace studies {

/// Measured training steps on several nodes, or with a pipeline.
Study cluster_study();

}}  // namespace c3::studies
