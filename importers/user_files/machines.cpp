#include "importers/machines/hwloc_topology.hpp"
#include "importers/machines/ib_network.hpp"
#include "importers/machines/nccl_topology.hpp"
#include "importers/machines/nvidia_matrix.hpp"
#include "importers/machines/rocm_matrices.hpp"
#include "importers/machines/slurm_topology.hpp"
#include "importers/user_files/entries.hpp"

namespace c3 { inline namespace importers {
namespace {

constexpr std::string_view kCommand = "c3sim new --machine FILE --model MODEL";

}  // namespace

constexpr FileFormat kNcclTopology{.name = "nccl-topology",
                                   .what = kNcclTopologyFile,
                                   .role = FileRole::machine,
                                   .recognises = is_nccl_topology,
                                   .read = read_nccl_topology,
                                   .command = kCommand};

constexpr FileFormat kNvidiaMatrix{.name = "nvidia-smi-topo",
                                   .what = kNvidiaMatrixFile,
                                   .role = FileRole::machine,
                                   .recognises = is_nvidia_matrix,
                                   .read = read_nvidia_matrix,
                                   .command = kCommand};

constexpr FileFormat kRocmMatrices{.name = "rocm-smi-topo",
                                   .what = kRocmMatricesFile,
                                   .role = FileRole::machine,
                                   .recognises = is_rocm_matrices,
                                   .read = read_rocm_matrices,
                                   .command = kCommand};

constexpr FileFormat kHwlocTopology{.name = "hwloc",
                                    .what = kHwlocTopologyFile,
                                    .role = FileRole::machine,
                                    .recognises = is_hwloc_topology,
                                    .read = read_hwloc_topology,
                                    .command = kCommand};

constexpr FileFormat kSlurmTopology{.name = "slurm-topology",
                                    .what = kSlurmTopologyFile,
                                    .role = FileRole::machine,
                                    .recognises = is_slurm_topology,
                                    .read = read_slurm_topology,
                                    .command = kCommand};

constexpr FileFormat kIbNetwork{.name = "ibnetdiscover",
                                .what = kIbNetworkFile,
                                .role = FileRole::machine,
                                .recognises = is_ib_network,
                                .read = read_ib_network,
                                .command = kCommand};

}}  // namespace c3::importers
