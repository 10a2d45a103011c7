#pragma once
/// What-if factors: `gpu.hbm_scale`, `gpu.flops_scale`, `node.link_scale` and `fabric.scale` multiply every
/// rate of a kind, peak and measured alike: the fields that name the factor (configs/fields/). Sizes and
/// latencies stay. No preset sets them.

#include <string_view>

#include "collectives/spec.hpp"
#include "configs/toml/section.hpp"
#include "interconnect/fabric.hpp"
#include "interconnect/spec.hpp"

namespace c3 { inline namespace configs {

/// The factor at \p key, between 0.001 and 1000; 1 when the key is absent.
double read_scale(Section& section, std::string_view key, const Conditions& used_if = {});

/// Links between GPUs, of every kind, and the PCIe links of NICs.
void scale_links(NodeSpec& node, double factor);

/// The rates of a node's links that the library states: its payload and what its tuner expects. What one
/// channel or one CU moves is a property of the GPU and stays.
void scale_links(CollectiveLibrarySpec& library, double factor);

/// NICs, and links between switches.
void scale_links(FabricSpec& fabric, double factor);

}}  // namespace c3::configs
