#pragma once
/// Lin et al.'s own formulas (arXiv 2201.07821, 2404.12674), to set ours beside. No simulation takes them.

#include <array>
#include <cstdint>
#include <string_view>

#include "engine/units.hpp"
#include "gpu/kernels/embedding/embedding_shape.hpp"
#include "gpu/spec.hpp"

namespace c3 { inline namespace studies {

/// Time to move n bytes, x = log2 n: an overhead up to `last_short`, overhead and n / rate above `last_rising`,
/// between n / bw with log10(bw in GB/s) = L / (1 + exp(-k (x - x0))) + b.
struct MovementCurve {
  std::string_view gpu;  ///< as in ids of figures
  BytesPerSecond rate;
  double last_short = 0, last_rising = 0;
  Seconds overhead;
  double L = 0, x0 = 0, k = 0, b = 0;

  Seconds time(Bytes bytes) const;
};

/// DRAM of A100-40, V100 and GV100.
const std::array<MovementCurve, 3>& movement_curves();

/// What their lookup model takes from a GPU.
struct LookupRates {
  BytesPerSecond dram, l2;
  Bytes l2_size;
  int sms = 0;
};

/// Their time of \p shape with equally likely rows, forward or backward by `sgd`: every lookup's rows from DRAM
/// or, where they hit, from L2. Tables in flight share 0.9 of L2.
Seconds published_lookup_time(const EmbeddingShape& shape, const LookupRates& rates);

}}  // namespace c3::studies
