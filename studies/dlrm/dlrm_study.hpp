#pragma once
/// Recommendation models, beside Lin et al. (arXiv 2201.07821, 2404.12674).

#include "studies/study.hpp"

namespace c3 { inline namespace studies {

Study dlrm_study();

}}  // namespace c3::studies
