#include "importers/machines/published_machines.hpp"

#include <algorithm>

namespace c3 { inline namespace importers {
namespace {

constexpr auto kMachines = std::to_array<PublishedMachine>({
    {.name = "Azure NDv2",
     .first_gpu = "0001:00:00.0",
     .last_gpu = "0008:00:00.0",
     .first_nic = "0101:00:00.0",
     .gpus = 8,
     .nics = 1,
     .gpu = "v100-sxm2-32gb",
     .nic_kind = NicKind::infiniband,
     .gigabits = 100,
     .source = "Azure's documentation of NDv2: eight V100 of 32 GB with NVLink, EDR InfiniBand"},
    {.name = "Azure ND A100 v4",
     .first_gpu = "0001:00:00.0",
     .last_gpu = "000e:00:00.0",
     .first_nic = "0101:00:00.0",
     .gpus = 8,
     .nics = 8,
     .gpu = "a100-sxm-40gb",
     .like_it = "NDm A100 v4, whose GPUs are a100-sxm-80gb",
     .nic_kind = NicKind::infiniband,
     .gigabits = 200,
     .source =
         "Azure's documentation of ND A100 v4: eight A100 of 40 GB with NVLink, eight HDR InfiniBand NICs"},
    {.name = "Azure ND H100 v5",
     .first_gpu = "0001:00:00.0",
     .last_gpu = "000c:00:00.0",
     .first_nic = "0101:00:00.0",
     .gpus = 8,
     .nics = 8,
     .gpu = "h100-sxm",
     .like_it = "ND H200 v5, whose GPUs are h200-sxm",
     .nic_kind = NicKind::infiniband,
     .gigabits = 400,
     .source = "Azure's documentation of ND H100 v5: eight H100 with NVLink, eight NDR InfiniBand NICs"},
    {.name = "AWS g5.48xlarge",
     .first_gpu = "0000:00:16.0",
     .last_gpu = "0000:00:1d.0",
     .first_nic = "0000:00:15.0",
     .gpus = 8,
     .nics = 1,
     .gpu = "A10G",
     .source = "AWS's documentation of g5.48xlarge: eight A10G"},
});

}  // namespace

const PublishedMachine* published_machine(std::span<const std::string> gpus,
                                          std::span<const std::string> nics) {
  if (gpus.empty() || nics.empty()) return nullptr;
  const auto [first_gpu, last_gpu] = std::ranges::minmax(gpus);
  const std::string first_nic = std::ranges::min(nics);
  const auto* const found = std::ranges::find_if(kMachines, [&](const PublishedMachine& machine) {
    return machine.first_gpu == first_gpu && machine.last_gpu == last_gpu && machine.first_nic == first_nic &&
           machine.gpus == static_cast<int>(gpus.size()) && machine.nics == static_cast<int>(nics.size());
  });
  return found == kMachines.end() ? nullptr : found;
}

}}  // namespace c3::importers
