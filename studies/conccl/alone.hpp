#pragma once
/// Each side alone: GEMMs of LLaMA on a GPU of which CUs are taken away, in closed form; collectives on few
/// CUs, and on copy engines beside what the library does.

#include <span>
#include <vector>

#include "collectives/algorithms/algorithm.hpp"
#include "collectives/call.hpp"
#include "collectives/spec.hpp"
#include "engine/units.hpp"
#include "gpu/kernels/gemm/gemm_shape.hpp"
#include "gpu/spec.hpp"
#include "workloads/experiment.hpp"

namespace c3 { inline namespace studies {

/// 70B and 405B, the five projections of a layer, 4,096 to 16,384 tokens, bf16: arithmetic bounds them.
std::vector<GemmShape> compute_bound_gemms();

/// The up projection of 405B for 4,096 tokens.
GemmShape llama_405b_up();

/// How many percent longer \p gemm takes without \p removed CUs.
double slowdown(const GemmShape& gemm, const GpuSpec& gpu, int removed);

/// Slowdown over \p gemms: at least one.
struct Slowdown {
  double mean = 0.0, least = 0.0, greatest = 0.0;  ///< percent
};
Slowdown slowdown(std::span<const GemmShape> gemms, const GpuSpec& gpu, int removed);

/// Time of \p call by \p algorithm, whose channels may use \p cus CUs (0: all) of GPUs that launch together.
Seconds time_on_cus(const Experiment& experiment, const CollectiveCall& call, Algorithm algorithm, int cus);

/// One of many back to back, replayed from a graph where the library runs it.
struct CopyTimes {
  Seconds library;  ///< by the method that the library's tuner chooses
  Seconds ring;     ///< by a ring, in the protocol that it chooses for one; of an all-to-all as `library`
  Seconds engines;  ///< copy engines, a copy for each peer

  double over_library() const { return engines / library; }
  double over_ring() const { return engines / ring; }
};
CopyTimes copy_times(const ClusterSpec& cluster, const CollectiveCall& call, const DmaOptions& dma);

/// How the strategies of \p experiment command copy engines. \throws std::logic_error where none does
DmaOptions dma_options(const Experiment& experiment);

}}  // namespace c3::studies
