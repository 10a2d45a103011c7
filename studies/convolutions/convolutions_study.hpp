#pragma once

#include "studies/study.hpp"

namespace c3 { inline namespace studies {

/// Convolutions on MI100 and MI210 beside MIOpen's find-db.
Study convolutions_study();

}}  // namespace c3::studies
