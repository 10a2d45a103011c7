#pragma once
/// One reader for each spec of the layers below. Keys are flat: the presets in gpus/, nodes/ and libraries/
/// show them all, and an experiment overrides them by the same names.

#include <optional>

#include "collectives/spec.hpp"
#include "configs/fields/link_fields.hpp"
#include "configs/presets/model_reader.hpp"
#include "configs/toml/section.hpp"
#include "gpu/kernels/coefficient_table.hpp"
#include "gpu/spec.hpp"
#include "interconnect/fabric.hpp"
#include "interconnect/spec.hpp"
#include "workloads/models/framework.hpp"
#include "workloads/models/host.hpp"
#include "workloads/program/operator_overheads.hpp"

namespace c3 { inline namespace configs {

/// Each reads and finishes \p section. \throws ConfigError
GpuSpec read_gpu(Section& section);
NodeSpec read_node(Section& section);
FabricSpec read_fabric(Section& section);  ///< nics_per_node 0: as many as the node has, see join
CollectiveLibrarySpec read_library(Section& section);
Framework read_framework(Section& section);
Host read_host(Section& section);

/// A host, and what operators take there; all 0: not known.
struct HostPreset {
  Host host;
  OperatorOverheads overheads;
};
HostPreset read_host_preset(Section& section);

/// What operators take of the host that `host` of \p section names; none where it names none.
std::optional<OperatorOverheads> read_overheads(Section& root, const Section& section,
                                                const Sampling& sampling);

/// A full-duplex link. \param prefix of its keys: `link_` in the node's table, none in a table of its own.
LinkSpec read_link(Section& section, const std::string& prefix,
                   std::span<const Field<LinkSpec>> fields = kLinkFields);

/// One class of it, as configs/kernels/CLASS.toml has it.
CoefficientTable read_coefficient_table(Section section, std::string_view kernel_class);

/// The table `kernels` of a GPU: the coefficients that apply to its family and memory.
KernelCoefficients read_kernel_coefficients(Section section, std::string_view family,
                                            std::string_view technology);

/// A data type by its name, "bf16".
DType read_dtype(Section& section, std::string_view key);

}}  // namespace c3::configs
