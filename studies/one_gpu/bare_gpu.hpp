#pragma once
/// Kernels on streams of one GPU, from the date at which all of them are known to it, as a graph launches them.

#include <string>
#include <vector>

#include "engine/units.hpp"
#include "gpu/compute_units.hpp"
#include "gpu/kernel.hpp"
#include "gpu/spec.hpp"

namespace c3 { inline namespace studies {

/// A queue and what runs on it, one after another.
struct BareStream {
  std::string name;
  std::vector<KernelDescription> kernels;
  CuRange sms;  ///< that it may use; empty: all
};

/// \returns the date at which the last kernel of each stream has stored everything; all streams begin at 0.
std::vector<Seconds> run_bare(const GpuSpec& gpu, const std::vector<BareStream>& streams);

}}  // namespace c3::studies
