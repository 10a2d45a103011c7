#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>

#include "workloads/sampling/methods/method.hpp"

namespace c3 { inline namespace sampling {

std::span<const SamplingMethod> sampling_methods() {
  static const std::array kMethods{kStem, kAllegro, kRandom, kFirst, kPka, kSieve};
  return kMethods;
}

const SamplingMethod& sampling_method(std::string_view name) {
  const auto methods = sampling_methods();
  const auto found = std::ranges::find(methods, name, &SamplingMethod::name);
  if (found == methods.end()) throw std::invalid_argument("no sampling method '" + std::string(name) + "'");
  return *found;
}

}}  // namespace c3::sampling
