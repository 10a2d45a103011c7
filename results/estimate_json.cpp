#include "results/estimate_json.hpp"

namespace c3 { inline namespace results {

Json estimate_json(const std::optional<Estimate>& estimate) {
  using namespace literals;
  if (!estimate) return nullptr;
  return {{"low_us", estimate->low / 1.0_us},
          {"high_us", estimate->high / 1.0_us},
          {"method", estimate->method},
          {"bound", estimate->bound ? Json(*estimate->bound) : Json(nullptr)},
          {"share_simulated", estimate->simulated}};
}

}}  // namespace c3::results
