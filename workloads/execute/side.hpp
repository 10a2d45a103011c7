#pragma once

namespace c3 {

/// Which operations of a stream run. The others are skipped; events never are.
enum class Side { both, kernels, collectives, none };

}  // namespace c3
