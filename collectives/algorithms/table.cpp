// The table of algorithms: one line each, in the order in which they are listed and tried. An algorithm that no
// code asks for by name is declared here: extern const AlgorithmEntry kName;

#include <array>

#include "collectives/algorithms/algorithm.hpp"
#include "collectives/library/rail_kernels.hpp"

namespace c3 { inline namespace collectives {
namespace {

constexpr std::array kTable = {
    Algorithm(kDirect),           // every library: sends and receives
    Algorithm(kRing),             // NCCL, RCCL
    Algorithm(kTree),             // NCCL, RCCL
    Algorithm(kNvls),             // NCCL, within a node
    Algorithm(kNvlsTree),         // NCCL, between nodes
    Algorithm(kHierarchical),     // no library: what direct within and rings between nodes would give
    Algorithm(kCollnet),          // NCCL, on fabrics that add
    Algorithm(kHalvingDoubling),  // MPI libraries
    Algorithm(kPat),              // NCCL, one GPU a node
    Algorithm(kSymmetric),        // NCCL, registered buffers of a node
    Algorithm(kSymmetricNvls),    // NCCL, registered buffers of a node
    Algorithm(kSymmetricGather),  // NCCL, registered buffers of a node
    Algorithm(kSymmetricRails),   // NCCL, registered buffers of several nodes
};

}  // namespace

constinit const std::span<const Algorithm> kAlgorithms = kTable;

}}  // namespace c3::collectives
