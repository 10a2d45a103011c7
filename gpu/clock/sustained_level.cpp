#include "gpu/clock/sustained_level.hpp"

#include "gpu/clock/governor.hpp"

namespace c3 { inline namespace gpu {
namespace {

constexpr double kTransferred = 0.1;

const MatrixRate* fastest_of_16_bits(const GpuSpec& gpu) {
  const MatrixRate* fastest = nullptr;
  for (const MatrixRate& rate : gpu.compute.matrix) {
    const bool has_16_bits = rate.dtype == DType::bf16 || rate.dtype == DType::fp16;
    if (has_16_bits && (fastest == nullptr || rate.sustained > fastest->sustained)) fastest = &rate;
  }
  return fastest;
}

LevelEvidence evidence_of(const GpuSpec& gpu) {
  const GovernorSpec& governor = gpu.governor;
  if (governor.level.value > 0.0) return LevelEvidence::node;
  if (governor.measured_on.empty() || governor.measured_on == kNoPart || governor.limit != governor.board)
    return LevelEvidence::none;
  return governor.measured_on == gpu.name ? LevelEvidence::measured : LevelEvidence::relative;
}

}  // namespace

std::optional<SustainedLevel> sustained_level(const GpuSpec& gpu) {
  const MatrixRate* const rate = fastest_of_16_bits(gpu);
  if (rate == nullptr) return std::nullopt;
  SustainedLevel level{.evidence = evidence_of(gpu), .rate = rate->sustained};
  if (is_governed(gpu))
    level.rate = rate->sustained /
                 sustained_slowdown(gpu, power_at_boost(gpu, rate->sustained, flop_energy(rate->dtype), {}));
  const bool is_known = level.evidence == LevelEvidence::measured || level.evidence == LevelEvidence::relative;
  if (is_known) level.measured_on = gpu.governor.measured_on;
  const bool is_transferred =
      level.evidence == LevelEvidence::relative || level.evidence == LevelEvidence::none;
  if (is_transferred && (is_governed(gpu) || rate->from_share)) {
    level.low = (1.0 - kTransferred) * level.rate;
    level.high = (1.0 + kTransferred) * level.rate;
  }
  return level;
}

}}  // namespace c3::gpu
