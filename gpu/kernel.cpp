#include "gpu/kernel.hpp"

#include <algorithm>

#include "engine/errors.hpp"

namespace c3 { inline namespace gpu {

int work_groups_per_cu(const ComputeSpec& compute, const WorkGroupNeeds& needs, const std::string& kernel) {
  int fit = compute.wave_slots_per_cu / needs.waves;
  if (needs.lds.value > 0.0) fit = std::min(fit, static_cast<int>(compute.lds_per_cu / needs.lds));
  if (needs.registers.value > 0.0)
    fit = std::min(fit, static_cast<int>(compute.registers_per_cu / needs.registers));
  if (fit < 1) throw InfeasibleError("kernel '" + kernel + "': a work group does not fit into a CU");
  return fit;
}

namespace {

class ScaledTraffic final : public TrafficModel {
 public:
  ScaledTraffic(std::shared_ptr<const TrafficModel> traffic, double factor)
      : traffic_(std::move(traffic)), factor_(factor) {}
  Traffic per_work_group(const CacheState& state) const override {
    return factor_ * traffic_->per_work_group(state);
  }

 private:
  std::shared_ptr<const TrafficModel> traffic_;
  double factor_;
};

}  // namespace

std::shared_ptr<const TrafficModel> scaled(std::shared_ptr<const TrafficModel> traffic, double factor) {
  return std::make_shared<ScaledTraffic>(std::move(traffic), factor);
}

Bytes in_flight(const ComputeSpec& compute, const KernelDescription& kernel, int on_cu) {
  return std::min(kernel.outstanding, compute.outstanding / static_cast<double>(on_cu));
}

}}  // namespace c3::gpu
