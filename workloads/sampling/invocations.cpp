#include "workloads/sampling/invocations.hpp"

namespace c3 { inline namespace sampling {

void Invocations::add(std::string_view kernel, Seconds duration) {
  // Programs launch the same kernel many times in a row.
  if (kernels_.empty() || names_[kernels_.back()] != kernel) {
    const auto known = numbers_.find(kernel);
    if (known == numbers_.end()) {
      const auto number = static_cast<std::uint32_t>(names_.size());
      names_.emplace_back(kernel);
      numbers_.emplace(kernel, number);
      kernels_.push_back(number);
    } else {
      kernels_.push_back(known->second);
    }
  } else {
    kernels_.push_back(kernels_.back());
  }
  durations_.push_back(duration);
}

Seconds Invocations::total() const {
  Seconds total;
  for (const Seconds duration : durations_)
    total += duration;
  return total;
}

}}  // namespace c3::sampling
