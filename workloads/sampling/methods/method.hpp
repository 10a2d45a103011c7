#pragma once
/// Ways to choose the kernels that stand for all: one file each, listed in table.cpp.

#include <cstddef>
#include <span>
#include <string_view>

#include "workloads/sampling/invocations.hpp"
#include "workloads/sampling/plan.hpp"

namespace c3 { inline namespace sampling {

struct SampleRequest {
  double error = 0.05;       ///< asked for, relative to the whole time; above 0
  double confidence = 0.95;  ///< probability with which it is to hold; above 0, below 1
  /// For methods that draw from all kernels together: how many invocations. 0: as many as `error` takes.
  std::size_t samples = 0;
};

struct SamplingMethod {
  std::string_view name;
  std::string_view about;
  /// \param invocations at least one
  SamplePlan (*plan)(const Invocations& invocations, const SampleRequest& request);
};

std::span<const SamplingMethod> sampling_methods();

/// \throws std::invalid_argument for an unknown name
const SamplingMethod& sampling_method(std::string_view name);

// The entries of the table.
extern const SamplingMethod kAllegro, kFirst, kPka, kRandom, kSieve, kStem;

}}  // namespace c3::sampling
