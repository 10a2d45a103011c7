#pragma once
/// The indexer of sparse attention, which chooses the keys that a query sees.

#include <cstdint>
#include <string>

#include "base/enum_names.hpp"
#include "gpu/kernel.hpp"
#include "gpu/kernels/operator.hpp"
#include "gpu/spec.hpp"

namespace c3 { inline namespace gpu {

enum class IndexStage : std::uint8_t {
  logits,    ///< a score of each query with each key before it: a sum over heads of w ReLU(q k)
  select,    ///< the keys with the highest scores
  target,    ///< of what is chosen, attention's probabilities summed over its heads: what the scores learn
  gradient,  ///< of the scores of what is chosen: those of the indexer's queries and keys
};
constexpr auto enum_names(IndexStage) {
  return std::to_array<EnumName<IndexStage>>({{"index_logits", IndexStage::logits},
                                              {"index_select", IndexStage::select},
                                              {"index_target", IndexStage::target},
                                              {"index_gradient", IndexStage::gradient}});
}

/// The lightning indexer of DeepSeek Sparse Attention (arXiv 2512.02556, section 2.1), whose heads share one
/// key a token, over `batch` causal sequences.
struct IndexShape {
  IndexStage stage = IndexStage::logits;
  std::int64_t batch = 1;
  std::int64_t heads = 1;     ///< of the indexer; target: of attention; select: 1
  std::int64_t queries = 0;   ///< of one sequence
  std::int64_t keys = 0;      ///< of one sequence, cached ones included
  std::int64_t head_dim = 1;  ///< elements of a key; select: 1
  std::int64_t selected = 0;  ///< keys that a query chooses at most; logits: 0
  DType dtype = DType::fp8;   ///< of queries and keys; scores are fp32

  bool operator==(const IndexShape&) const = default;
};

const OperatorClass& operator_class(const IndexShape& shape);

/// The same of a whole kernel.
struct IndexCounts {
  std::int64_t work_groups = 1;
  double pairs = 0;      ///< of a query and a key, of all sequences, that the stage looks at
  Flops flops;           ///< of products
  double row_share = 1;  ///< of the rows of a work group's tile, that are heads
  Bytes read, again;     ///< tensors once; what work groups load of them from L2 beside that
  Bytes written;
};

IndexCounts counts_of(const IndexShape& shape);

/// Describes a kernel of the indexer on \p gpu. Products run at attention's share of the matrix rate of the
/// type (DeepGEMM's fp8_mqa_logits, TileLang's examples/deepseek_v32), beside vector instructions for each
/// score of a head; scores are written and read again. What a choice costs was found from calls of whole
/// modules on an H100; nothing else is fitted. Wrong when: few queries leave CUs without work, since keys are
/// not split; rows are so alike that a radix round of the choice does not part them. \throws InfeasibleError
/// when an extent is < 1, there are more queries than keys, the GPU lacks the data type, or the tensors do not
/// fit into its memory.
KernelDescription describe_index(std::string name, const IndexShape& shape, const GpuSpec& gpu);

}}  // namespace c3::gpu
