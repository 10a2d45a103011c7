#pragma once
/// Kernels of embedding bags. They wait for memory, and their rows reuse the caches.

#include <string>

#include "gpu/kernel.hpp"
#include "gpu/kernels/embedding/embedding_shape.hpp"

namespace c3 { inline namespace gpu {

/// Describes \p shape on \p gpu as batched kernels do it (FBGEMM, table_batched_embeddings): table after table,
/// a wavefront of 32 threads a bag, four in a work group; of an exact update, a wavefront for each row that was
/// looked up. Indices have 8 bytes, offsets 8.
///
/// Forward, L lookups of R bytes a bag: L R through L2, of which the caches' misses come from HBM (RowReuse):
/// the tables that are under way at a time share a cache, and indices, results and other kernels' insertions
/// pass through it. Backward with `sgd`: the bag's gradient once, L rows read and written, each written to HBM
/// as often as it is fetched from there. Exact: 12 bytes of each sorted lookup and the gradient of its bag,
/// which may hit, then each distinct row read and written once, with a sector for its moment. The sort is not
/// in it (embedding_sort). Narrow rows reach less of HBM's rate: 1 / 1.55 up to 128 bytes, 1 / 1.1 up to 256
/// (measured on V100 by Lin et al., arXiv 2201.07821; taken for all GPUs). Wrong when: bags are unequally long;
/// a library keeps hot rows in LDS; replacement is far from LRU. \throws InfeasibleError when an extent is < 1
/// or the tables do not fit into the GPU's memory.
KernelDescription describe_embedding(std::string name, const EmbeddingShape& shape, const GpuSpec& gpu);

/// One of the passes of the radix sort that brings the lookups of an exact update into the order of their rows:
/// keys of 8 bytes and values of 4 are read and written once.
Operator embedding_sort_pass(const EmbeddingShape& shape);
/// How many passes, of 8 bits each, number the rows of all tables.
int embedding_sort_passes(const EmbeddingShape& shape);

}}  // namespace c3::gpu
