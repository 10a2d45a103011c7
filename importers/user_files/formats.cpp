#include "importers/user_files/formats.hpp"

#include <algorithm>
#include <array>

#include "configs/foreign/hugging_face.hpp"
#include "importers/collective_times/json_tests.hpp"
#include "importers/collective_times/printed_tests.hpp"
#include "importers/logs/library_log.hpp"
#include "importers/logs/library_variables.hpp"
#include "importers/machines/hwloc_topology.hpp"
#include "importers/machines/ib_network.hpp"
#include "importers/machines/nccl_topology.hpp"
#include "importers/machines/nvidia_matrix.hpp"
#include "importers/machines/rocm_matrices.hpp"
#include "importers/machines/slurm_topology.hpp"
#include "importers/recipes/recipes.hpp"

namespace c3 { inline namespace importers {
namespace {

bool is_tests_output(std::string_view text) {
  constexpr std::string_view kRcclCsv = "numCycle,collective,";  // rccl-tests -Z csv
  return text.starts_with(kRcclCsv) || is_json_of_tests(text) || has_printed_header(text);
}

using enum FileRole;

constexpr std::array kFormats = {
    FileFormat{"hugging-face", kHuggingFaceFile, model, is_hugging_face, read_hugging_face},
    FileFormat{"nccl-tests", "output of nccl-tests or rccl-tests", log, is_tests_output, nullptr},
    FileFormat{"nccl-log", "a log of NCCL or RCCL (NCCL_DEBUG=INFO)", log, is_library_log, nullptr},
    FileFormat{"nccl-environment", kLibraryEnvironment, machine, is_library_environment,
               read_library_environment},
    FileFormat{"hwloc", kHwlocTopologyFile, machine, is_hwloc_topology, read_hwloc_topology},
    FileFormat{"ibnetdiscover", kIbNetworkFile, machine, is_ib_network, read_ib_network},
    FileFormat{"nccl-topology", kNcclTopologyFile, machine, is_nccl_topology, read_nccl_topology},
    FileFormat{"nvidia-smi-topo", kNvidiaMatrixFile, machine, is_nvidia_matrix, read_nvidia_matrix},
    FileFormat{"rocm-smi-topo", kRocmMatricesFile, machine, is_rocm_matrices, read_rocm_matrices},
    FileFormat{"slurm-topology", kSlurmTopologyFile, machine, is_slurm_topology, read_slurm_topology},
    FileFormat{"megatron-script", kMegatronScriptFile, recipe, is_megatron_script, read_megatron_script},
    FileFormat{"megatron-yaml", kMegatronYamlFile, recipe, is_megatron_yaml, read_megatron_yaml},
    FileFormat{"torchtitan", kTorchtitanFile, recipe, is_torchtitan, read_torchtitan},
    FileFormat{"deepspeed", kDeepSpeedFile, recipe, is_deepspeed, read_deepspeed},
    FileFormat{"accelerate", kAccelerateFile, recipe, is_accelerate, read_accelerate},
    FileFormat{"megatron-bridge", kMegatronBridgeFile, recipe, is_megatron_bridge, read_megatron_bridge},
    FileFormat{"nemo", kNemoFile, recipe, is_nemo, read_nemo},
    FileFormat{"lightning", kLightningFile, recipe, is_lightning, read_lightning},
};

}  // namespace

std::string_view command_for(FileRole role) {
  switch (role) {
    case model:
      return "c3sim new --model FILE --system NAME";
    case recipe:
      return "c3sim new --recipe FILE --system NAME";
    case machine:
      return "c3sim new --machine FILE --model MODEL";
    case log:
      break;
  }
  return "c3sim collective --table FILE --system auto";
}

std::span<const FileFormat> file_formats() { return kFormats; }

const FileFormat* format_of(std::string_view text) {
  const auto* const found =
      std::ranges::find_if(kFormats, [&](const FileFormat& format) { return format.recognises(text); });
  return found == kFormats.end() ? nullptr : found;
}

}}  // namespace c3::importers
