#pragma once
/// Overrides of a GPU preset: what follows from a key that is overridden while its companions are not.

#include "configs/tree.hpp"

namespace c3 {

/// Lays \p overrides over the GPU preset \p gpu. Where they change the number of CUs (`xcds`, `cus_per_xcd`) or
/// `boost_clock`, every `*_peak` and `*_sustained` rate of the preset that they do not state themselves moves
/// in proportion, and every `*_clock` with the boost clock: more compute units compute more. Such a rate keeps
/// its kind and says in its source by what it was multiplied. A number of CUs given as a range counts as
/// nominal. Values that cannot be read are left for the reader to refuse.
void override_gpu(Table& gpu, const Table& overrides);

}  // namespace c3
