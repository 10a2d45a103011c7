#include <fmt/format.h>

#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "configs/fields/framework_fields.hpp"
#include "configs/fields/host_fields.hpp"
#include "configs/presets/spec_readers.hpp"

namespace c3 { inline namespace configs {
namespace {

/// A time that frameworks had before hosts were presets.
struct FormerTime {
  std::string_view key;
  std::string_view multiple;  ///< the framework's key today
  std::string_view host_key;  ///< what it multiplies
};

constexpr auto kFormerTimes = std::to_array<FormerTime>({
    {"forward_launch", "host_forward", "kernel_launch"},
    {"backward_launch", "host_backward", "kernel_launch"},
    {"collective_launch", "host_collective", "collective_launch"},
    {"event_launch", "host_event", "event"},
    {"layer_forward", "host_layer_forward", "layer_forward"},
    {"layer_backward", "host_layer_backward", "layer_backward"},
});

void refuse_former_times(const Section& section) {
  for (const FormerTime& time : kFormerTimes) {
    if (section.holds(time.key))
      section.fail(time.key,
                   fmt::format("is now '{}', a multiple of {} of the host (c3sim list hosts), without unit",
                               time.multiple, time.host_key));
  }
}

}  // namespace

KernelStyle read_kernel_style(Section& section, std::string_view key) {
  std::vector<std::pair<std::string_view, KernelStyle>> styles;
  for (const KernelStyle style : kKernelStyles)
    styles.emplace_back(name_of(style), style);
  return section.choice<KernelStyle>(key, styles);
}

Framework read_framework(Section& section) {
  refuse_former_times(section);
  Framework framework;
  framework.name = section.preset_name();
  read_fields(section, framework, kFrameworkFields);
  section.finish();
  return framework;
}

HostPreset read_host_preset(Section& section) {
  HostPreset preset;
  Host& host = preset.host;
  host.name = section.preset_name();
  read_fields(section, host, kHostPresetFields);
  const Seconds launch = host.kernel_launch;
  host.calls = {launch, launch, launch, launch, launch, launch};
  read_fields(section, host.calls, kCallFields);
  read_fields(section, preset.overheads, kOverheadFields);
  section.finish();
  return preset;
}

std::optional<OperatorOverheads> read_overheads(Section& root, const Section& section,
                                                const Sampling& sampling) {
  if (!root.has("host")) return std::nullopt;
  Section table = root.table("host", sampling);
  const auto [host, overheads] = read_host_preset(table);
  if (overheads.launch <= Seconds{} && !root.is_rehearsal())
    section.fail("host",
                 fmt::format("'{}' has no times of operators (operator_launch, ..); lin-2022 has", host.name));
  return overheads;
}

Host read_host(Section& section) { return read_host_preset(section).host; }

}}  // namespace c3::configs
