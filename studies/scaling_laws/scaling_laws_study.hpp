#pragma once

#include "studies/study.hpp"

namespace c3 { inline namespace studies {

/// Projections of training steps from one profiled step (arXiv 2302.02825) beside simulations of them.
Study scaling_laws_study();

}}  // namespace c3::studies
