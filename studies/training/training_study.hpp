#pragma once

#include "studies/study.hpp"

namespace c3 {

/// Training steps on one node: measured and published ones, and what must hold of any.
Study training_study();

}  // namespace c3
