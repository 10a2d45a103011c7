#include "gpu/pim.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "engine/errors.hpp"
#include "gpu/hbm_rate.hpp"

namespace c3 { inline namespace gpu {

bool runs_in_memory(VectorOp op) { return traits(op).row_passes < 2 && op != VectorOp::embedding; }

TimedKernel in_memory(const VectorShape& shape, const HbmSpec& hbm) {
  if (hbm.pim.units <= 0.0)
    throw InfeasibleError("place \"pim\" requires arithmetic units in memory (gpu.pim_units, which is 0)");
  const auto* refused = std::ranges::find_if_not(shape.chain, runs_in_memory);
  if (refused != shape.chain.end())
    throw std::invalid_argument("units in memory cannot compute '" + std::string(name_of(*refused)) + "'");
  const TensorCounts tensors = tensors_of(shape);
  const Bytes tensor =
      element_size(shape.dtype) * (static_cast<double>(shape.rows) * static_cast<double>(shape.cols));
  TimedKernel kernel{
      .duration = {}, .read = tensor * tensors.reads, .written = tensor * tensors.writes, .place = Place::pim};
  const double inside = hbm.pim.amplification();
  kernel.duration =
      Seconds{1.0 / hbm_rate_alone(hbm, kernel.read / inside, kernel.written / inside)} / hbm.pim.slots;
  return kernel;
}

}}  // namespace c3::gpu
