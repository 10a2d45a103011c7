#pragma once
/// Equal, independent products on streams of one GPU.

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "engine/units.hpp"
#include "gpu/kernel.hpp"
#include "gpu/kernel_time.hpp"
#include "gpu/kernels/gemm/gemm_shape.hpp"
#include "gpu/spec.hpp"

namespace c3 { inline namespace studies {

/// Products that are ready at the same time: a row of products.csv.
struct ReadyProducts {
  std::string set, name;
  GemmShape shape;
  int parallel = 1;
};

/// \throws ConfigError, IoError
std::vector<ReadyProducts> read_products(const std::filesystem::path& file);

/// How many of them run at a time: 1, 2, 4, 8, 16, no more than are ready, and all that are ready.
std::vector<int> degrees_for(int parallel);

/// Time from the first launch to the last store of \p count kernels like \p kernel, dealt to \p degree
/// streams in turn. The kernels of a stream follow one another, each after the GPU's gap.
Seconds time_at_once(const KernelDescription& kernel, int count, int degree, const GpuSpec& gpu);

/// A half, a quarter, ..: of the CUs, whole ones on each XCD, and of the caches.
KernelSlice part_of_gpu(const GpuSpec& gpu, int parts);

/// Kernels for one shape by the part of the GPU that they were tuned for (1, 2, 4: whole, half, quarter).
using TunedKernels = std::map<int, KernelDescription>;
TunedKernels tuned_kernels(const GemmShape& shape, const GpuSpec& gpu);

/// Times of all of a row's products by degree: with the kernels that were tuned alone, and with the best of the
/// tuned ones at each degree.
struct DegreeTimes {
  std::map<int, Seconds> alone;
  std::map<int, Seconds> tuned;

  Seconds sequential() const { return alone.at(1); }
  /// All that are ready at once, with kernels tuned alone: what streams do by themselves.
  Seconds usual() const { return alone.rbegin()->second; }
};
DegreeTimes times_by_degree(const ReadyProducts& products, const TunedKernels& kernels, const GpuSpec& gpu);

}}  // namespace c3::studies
