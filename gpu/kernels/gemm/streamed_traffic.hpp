#pragma once
/// Loads of a GEMM that geometry does not explain.

#include <memory>

#include "gpu/kernel.hpp"

namespace c3 { inline namespace gpu {

/// Of what the tiles ask of L2, a stated share reaches HBM (StreamedSpec::miss): panels that other work groups
/// of the XCD use do not survive, because of the order in which a library's kernel takes its tiles, of strides
/// that camp on a few channels, or of split K. Beside others, the share of the LLC's insertions that is the
/// kernel's own, s, makes it miss / s^pollution, at most 1. CUs that the kernel does not have relieve the
/// caches by what was published for memory-bound GEMMs under CU masks (arXiv 2412.14335, by public notes: up to
/// 10, 5 and 10 % faster with 8, 32 and 64 of 304 CUs taken), times StreamedSpec::relief. Wrong when: the
/// kernel's working set fits into the caches; then `tiled` tells its traffic.
class StreamedTraffic final : public TrafficModel {
 public:
  /// \p tiled is the same GEMM by geometry: what it asks of L2, and the least that reaches HBM. \p fastest is
  /// what HBM gives the kernel at most.
  StreamedTraffic(std::shared_ptr<const TrafficModel> tiled, const StreamedSpec& spec, BytesPerSecond fastest)
      : tiled_(std::move(tiled)), spec_(spec), fastest_(fastest) {}

  Traffic per_work_group(const CacheState& state) const override;

 private:
  double own_share(const CacheState& state, Bytes hbm) const;

  std::shared_ptr<const TrafficModel> tiled_;
  StreamedSpec spec_;
  BytesPerSecond fastest_;
};

}}  // namespace c3::gpu
