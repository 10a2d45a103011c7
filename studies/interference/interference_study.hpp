#pragma once
/// A GEMM beside an all-reduce on eight MI300X, against a measured table.

#include "studies/study.hpp"

namespace c3 { inline namespace studies {

Study interference_study();

}}  // namespace c3::studies
