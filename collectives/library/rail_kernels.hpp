#pragma once
/// NCCL's kernels on symmetric memory that reach over nodes: work groups send through NICs by themselves (GIN)
/// when the target is a GPU of their rail, and read and write GPUs of their node directly. Source:
/// src/sym_kernels.cc of NCCL 2.30.7 (queryModel_gin), and src/device/symmetric/*_gin.cuh.

#include <optional>

#include "collectives/library/published_figures.hpp"

namespace c3 { inline namespace collectives {

/// An all-gather along a ring of each rail, every step of which the node's switch multicasts; a reduce-scatter
/// within nodes, by loads or by the switch, whose sums GPUs of a rail send each other at once.
extern const AlgorithmEntry kSymmetricRails;

struct RailKernel {
  Seconds time;            ///< time that its authors expect
  int channels = 1;        ///< work groups
  bool by_switch = true;   ///< whether the node's switch adds, or multicasts
  Bytes chunk;             ///< bytes that a work group passes on at once
  BytesPerSecond at_port;  ///< payload that a work group moves at its GPU's port
  BytesPerSecond most;  ///< bytes of the call's buffer that all work groups pass; infinite: links alone bound
};

/// The kernel for \p figures' call; absent where NCCL has none: before 2.29.7, within a node, for all-reduces,
/// on nodes with unlike members or one each, for all-gathers where the switch cannot multicast, and over
/// fabrics that are not reached by verbs. NCCL has two for a reduce-scatter and takes the one with less time,
/// when each work group counts 2.5 % more.
std::optional<RailKernel> rail_kernel(const PublishedFigures& figures);

}}  // namespace c3::collectives
