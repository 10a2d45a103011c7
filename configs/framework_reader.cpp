#include <string_view>
#include <utility>
#include <vector>

#include "configs/spec_readers.hpp"

namespace c3 {
namespace {

const std::vector<std::pair<std::string_view, KernelStyle>>& styles() {
  static const auto kNames = [] {
    std::vector<std::pair<std::string_view, KernelStyle>> names;
    for (const KernelStyle style : kKernelStyles)
      names.emplace_back(name_of(style), style);
    return names;
  }();
  return kNames;
}

constexpr std::int64_t kMostQueued = 1'048'576;

void read_kernels(Section& section, Framework& framework) {
  framework.kernels = section.choice<KernelStyle>("kernels", styles());
  framework.attention = section.choice<AttentionCode>("attention");
  framework.grouped_heads = section.sourced_flag("grouped_heads");
  framework.separate_projections = section.sourced_flag("separate_projections");
  framework.dropout = section.sourced_flag("dropout");
  framework.fused_optimizer = section.sourced_flag("fused_optimizer");
  framework.clips_gradients = section.sourced_flag("clips_gradients");
}

void read_types(Section& section, Framework& framework) {
  framework.parameter_dtype = read_dtype(section, "parameter_dtype");
  framework.master_copy = section.sourced_flag("master_copy");
  framework.gradient_dtype = read_dtype(section, "gradient_dtype");
  framework.loss_dtype = read_dtype(section, "loss_dtype");
}

void read_communication(Section& section, Framework& framework) {
  framework.overlaps_gradients = section.sourced_flag("overlaps_gradients");
  framework.overlaps_tensor = section.sourced_flag("overlaps_tensor");
  framework.one_communicator = section.sourced_flag("one_communicator");
  framework.bucket = section.bytes("bucket");
  framework.first_bucket = section.bytes("first_bucket");
  framework.prefetch = static_cast<int>(section.integer("prefetch", 0, 64));
  framework.gathers_wait_on_host = section.sourced_flag("gathers_wait_on_host");
}

void read_host(Section& section, Framework& framework) {
  framework.forward_launch = section.duration("forward_launch");
  framework.backward_launch = section.duration("backward_launch");
  framework.collective_launch = section.duration("collective_launch");
  framework.event_launch = section.duration("event_launch");
  framework.layer_forward = section.duration("layer_forward");
  framework.layer_backward = section.duration("layer_backward");
  framework.launch_queue = static_cast<int>(section.integer("launch_queue", 1, kMostQueued));
  framework.hardware_queues = static_cast<int>(section.integer("hardware_queues", 1, 1024));
  framework.syncs = section.sourced_flag("syncs");
  framework.syncs_passes = section.sourced_flag("syncs_passes");
}

}  // namespace

Framework read_framework(Section& section) {
  Framework framework;
  framework.name = section.slug("name");
  read_kernels(section, framework);
  read_types(section, framework);
  read_communication(section, framework);
  read_host(section, framework);
  framework.reserved = section.bytes_or_none("reserved");
  section.finish();
  return framework;
}

}  // namespace c3
