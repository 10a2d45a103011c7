#pragma once

#include "studies/study.hpp"

namespace c3 { inline namespace studies {

/// Which kernel a library takes: solvers of convolutions, tiles of products.
Study selection_study();

}}  // namespace c3::studies
