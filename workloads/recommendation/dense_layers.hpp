#pragma once
/// The layers of a DLRM (arXiv 1906.00091) as PyTorch's eager operators: bottom, interaction and top.

#include <cstdint>
#include <vector>

#include "gpu/kernels/gemm/gemm_shape.hpp"
#include "workloads/program/step_writer.hpp"
#include "workloads/recommendation/job.hpp"

namespace c3 { inline namespace workloads {

/// Width of what the dot interaction of \p job gives the top layers: the dense vector, and a product of each
/// two of the dense vector and the tables' sums.
std::int64_t interaction_width(const RecommendationJob& job);

/// Weights and biases of the layers of both perceptrons; those of projections, which have no biases, with the
/// bottom's.
struct DenseParameters {
  std::int64_t bottom = 0, top = 0;
};
DenseParameters dense_parameters(const RecommendationJob& job);

/// Operators of \p samples of one rank. Linear layers are a product; their gradients two products and a sum
/// over samples; no gradient of the dense inputs is made. The interaction concatenates the vectors, multiplies
/// each two (a batched product), gathers the lower triangle and concatenates that with the dense vector;
/// backward, each of these in turn.
class DenseLayers {
 public:
  DenseLayers(const RecommendationJob& job, std::int64_t samples) : job_(job), samples_(samples) {}

  std::vector<HostedOperator> bottom_forward() const;
  /// A product for the sums of each narrow table (mixed dimensions, arXiv 1909.11810).
  std::vector<HostedOperator> projections_forward() const;
  std::vector<HostedOperator> projections_backward() const;
  std::vector<HostedOperator> interaction_forward() const;
  std::vector<HostedOperator> top_forward() const;  ///< with the loss
  std::vector<HostedOperator> top_backward() const;
  std::vector<HostedOperator> interaction_backward() const;
  std::vector<HostedOperator> bottom_backward() const;
  HostedOperator zero_gradients() const;
  HostedOperator optimizer() const;  ///< SGD without momentum, a kernel for each weight and each bias

 private:
  GemmShape projection_of(const EmbeddingTable& table) const;
  struct Layer;
  std::vector<Layer> bottom_layers() const;
  std::vector<Layer> top_layers() const;
  std::vector<HostedOperator> forward(const std::vector<Layer>& layers) const;
  std::vector<HostedOperator> backward(const std::vector<Layer>& layers) const;
  std::vector<Operator> of_parameters(bool updates) const;
  /// Gradient of the gather of the lower triangle: PyTorch's index_put sorts all positions before it adds to
  /// them, since some could be the same (aten/src/ATen/native/cuda/Indexing.cu, index_put_with_sort_kernel).
  HostedOperator gather_backward() const;

  const RecommendationJob& job_;
  std::int64_t samples_;
};

}}  // namespace c3::workloads
