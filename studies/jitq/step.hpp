#pragma once
/// A step of a few layers whose products read weights of few bits, which are kept or made just in time.

#include <cstdint>
#include <string>

#include "workloads/experiment.hpp"
#include "workloads/models/model_dimensions.hpp"

namespace c3 { inline namespace studies {

/// The source of the copies of weights that products read.
enum class WeightCopies {
  there,      ///< kept, and made by nobody: what any way of making them is measured against
  updated,    ///< kept, and made again by the GPU after the optimizer
  by_gpu,     ///< made before each product, by the GPU
  in_memory,  ///< the same, by units in memory
};

struct JitStep {
  std::string model;  ///< a preset
  std::int64_t layers = 4;
  std::int64_t sequences = 1, sequence = 2048;  ///< of a GPU
  WeightCopies copies = WeightCopies::there;
  bool is_mx6 = false;         ///< copies are MX6, else MX9
  double amplification = 4.0;  ///< of units in memory
  int buffers = 2;  ///< of the largest copy each: a copy is begun when the one so many before was used
  int gpus = 1;     ///< data-parallel replicas of one node, which sum gradients beside the backward pass
};

/// One GPU's or one node's step on MI300X. Products read activations and copies of 8 bits at the rate of fp8
/// products; each input of a product is cast by the GPU. A product of a layer reads its weight's copy along its
/// rows forward, and along its columns for the gradient of its input; Adam updates fp32 masters at the end.
/// Wrong when: a format's products have a rate of their own; copies of a layer are shared by micro-batches.
Experiment experiment_of(const JitStep& step);

/// Bytes of the copies in which the weights of \p step lie while they are used: all of them, or the buffers.
double held_bytes_of_copies(const JitStep& step);

}}  // namespace c3::studies
