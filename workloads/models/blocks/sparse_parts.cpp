#include "workloads/models/blocks/sparse_parts.hpp"

#include <array>

#include "gpu/kernels/attention/attention_shape.hpp"
#include "gpu/kernels/gemm/gemm_shape.hpp"
#include "gpu/kernels/index/index_shape.hpp"
#include "gpu/kernels/vector/vector_shape.hpp"
#include "workloads/models/lowering.hpp"
#include "workloads/models/own_part.hpp"

namespace c3 { inline namespace workloads {
namespace {

Bytes bytes_of(DType dtype, auto... extents) {
  return element_size(dtype) * (... * static_cast<double>(extents));
}

/// A part without weights, but for those that it says.
template <class Sizes>
class SparsePart : public OwnPart {
 public:
  explicit SparsePart(const Sizes& sizes) : sizes_(sizes) {}
  std::int64_t parameters() const override { return 0; }
  int parameter_tensors() const override { return 0; }

 protected:
  const Sizes& its() const { return sizes_; }

 private:
  Sizes sizes_;
};

/// A tensor of \p width numbers a token, turned by angles or a matrix of few additions.
VectorShape turned(const TokenBatch& batch, std::int64_t width, Pass pass) {
  return vector_shape(VectorOp::mul_scalar, {batch.tokens(), width}, batch.dtype, pass);
}

/// A product of each head with weights of its own, both ways.
void write_product_of_heads(PartWriter& writer, const GemmShape& product, Bytes kept) {
  writer.forward(product, kept);
  const auto [of_input, of_weights] = backward(product);
  writer.backward(of_input);
  writer.backward(of_weights).gradient = bytes_of(product.dtype, product.batch, product.n, product.k);
}

class IndexerPart final : public SparsePart<Indexer> {
 public:
  using SparsePart::SparsePart;

  std::int64_t parameters() const override {
    return its().query_inputs * its().heads * its().dim + its().inputs * (its().dim + its().heads) +
           2 * its().dim;
  }
  int parameter_tensors() const override { return 5; }  // of queries, keys, weights, and two of a norm
  /// Ranks that share attention's heads choose the same tokens, each for itself.
  std::shared_ptr<const OwnPart> share(std::int64_t ranks) const override {
    Indexer share = its();
    share.attention_heads /= ranks;
    return std::make_shared<IndexerPart>(share);
  }

  void write(PartWriter& writer) const override {
    const TokenBatch& batch = writer.batch();
    const auto projections = std::to_array<GemmShape>(
        {product_of(batch, its().heads * its().dim, its().query_inputs),
         product_of(batch, its().dim, its().inputs), product_of(batch, its().heads, its().inputs)});
    for (const GemmShape& projection : projections)
      writer.forward(projection, bytes_of(batch.dtype, projection.m, projection.n));
    writer.forward(norm_of(batch, Pass::forward), bytes_of(batch.dtype, batch.tokens(), its().dim));
    write_scores(writer);

    IndexShape learned = shape_of(batch, IndexStage::target);
    learned.heads = its().attention_heads;
    learned.head_dim = its().attention_width;
    writer.backward(learned);
    writer.backward(shape_of(batch, IndexStage::gradient));
    for (const std::int64_t width : turned_widths())
      writer.backward(turned(batch, width, Pass::backward));
    writer.backward(norm_of(batch, Pass::backward));
    PartKernel* last = nullptr;
    for (const GemmShape& projection : projections)
      last = &writer.backward(backward(projection)[1]);
    last->gradient = bytes_of(batch.dtype, parameters());
  }

 private:
  static GemmShape product_of(const TokenBatch& batch, std::int64_t outputs, std::int64_t inputs) {
    return {.m = batch.tokens(), .n = outputs, .k = inputs, .dtype = batch.dtype};
  }
  VectorShape norm_of(const TokenBatch& batch, Pass pass) const {
    return vector_shape(VectorOp::layernorm, {batch.tokens(), its().dim}, batch.dtype, pass);
  }
  IndexShape shape_of(const TokenBatch& batch, IndexStage stage) const {
    return {.stage = stage,
            .batch = batch.sequences,
            .heads = its().heads,
            .queries = batch.length,
            .keys = batch.length,
            .head_dim = its().dim,
            .selected = its().selected,
            .dtype = batch.dtype};
  }

  /// Queries and the key are rotated, and turned by a Hadamard matrix.
  std::array<std::int64_t, 4> turned_widths() const {
    return {its().heads * its().rotated_dim, its().rotated_dim, its().heads * its().dim, its().dim};
  }

  /// Turned, scored and chosen. Scores are not kept: what is chosen has them made
  /// again.
  void write_scores(PartWriter& writer) const {
    const TokenBatch& batch = writer.batch();
    const bool narrows = batch.precision.recipe->dtype.has_value();
    for (const std::int64_t width : turned_widths())
      writer.forward(turned(batch, width, Pass::forward));
    if (narrows)
      for (const std::int64_t heads : {its().heads, std::int64_t{1}})
        writer.forward(vector_shape(VectorOp::quantize_rows, {batch.tokens(), heads * its().dim}, batch.dtype));
    IndexShape logits = shape_of(batch, IndexStage::logits);
    logits.selected = 0;
    if (narrows) logits.dtype = DType::fp8;
    writer.forward(logits).survives = true;
    IndexShape choice = shape_of(batch, IndexStage::select);
    choice.heads = choice.head_dim = 1;
    choice.dtype = DType::fp32;
    writer.forward(choice, output_bytes(choice)).survives = true;
  }
};

class AbsorbedQueriesPart final : public SparsePart<AbsorbedQueries> {
 public:
  using SparsePart::SparsePart;

  std::int64_t parameters() const override { return its().heads * its().plain_dim * its().kv_rank; }
  int parameter_tensors() const override { return 1; }
  std::shared_ptr<const OwnPart> share(std::int64_t ranks) const override {
    AbsorbedQueries share = its();
    share.heads /= ranks;
    return std::make_shared<AbsorbedQueriesPart>(share);
  }
  // Kept are the queries that it multiplies.
  void write(PartWriter& writer) const override {
    const TokenBatch& batch = writer.batch();
    write_product_of_heads(writer,
                           {.m = batch.tokens(),
                            .n = its().kv_rank,
                            .k = its().plain_dim,
                            .dtype = batch.dtype,
                            .batch = its().heads},
                           bytes_of(batch.dtype, batch.tokens(), its().heads, its().plain_dim));
  }
};

class SharedKeyRotationPart final : public SparsePart<SharedKeyRotation> {
 public:
  using SparsePart::SparsePart;

  std::shared_ptr<const OwnPart> share(std::int64_t ranks) const override {
    SharedKeyRotation share = its();
    share.heads /= ranks;
    return std::make_shared<SharedKeyRotationPart>(share);
  }
  // Attention needs the whole queries and keys again.
  void write(PartWriter& writer) const override {
    const TokenBatch& batch = writer.batch();
    const std::int64_t width = its().kv_rank + its().rotated_dim;
    for (const std::int64_t heads : {its().heads, std::int64_t{1}})
      writer.forward(turned(batch, heads * its().rotated_dim, Pass::forward),
                     bytes_of(batch.dtype, batch.tokens(), heads, width));
    const TensorShape queries{batch.tokens(), its().heads * width};
    writer.forward(vector_shape(VectorOp::copy, queries, batch.dtype));
    writer.backward(vector_shape(VectorOp::copy, queries, batch.dtype));
    for (const std::int64_t heads : {its().heads, std::int64_t{1}})
      writer.backward(turned(batch, heads * its().rotated_dim, Pass::backward));
  }
};

class SelectedAttentionPart final : public SparsePart<SelectedAttention> {
 public:
  using SparsePart::SparsePart;

  std::shared_ptr<const OwnPart> share(std::int64_t ranks) const override {
    SelectedAttention share = its();
    share.heads /= ranks;
    return std::make_shared<SelectedAttentionPart>(share);
  }
  // Kept are the results, and a sum of exponentials for each row.
  void write(PartWriter& writer) const override {
    const TokenBatch& batch = writer.batch();
    AttentionShape shape{.batch = batch.sequences,
                         .heads = its().heads,
                         .kv_heads = 1,
                         .queries = batch.length,
                         .keys = batch.length,
                         .head_dim = its().kv_rank + its().rotated_dim,
                         .causal = true,
                         .dtype = batch.dtype,
                         .value_dim = its().kv_rank,
                         .values = AttentionValues::in_keys,
                         .selected = its().selected};
    writer
        .forward(shape, bytes_of(batch.dtype, batch.tokens(), its().heads, its().kv_rank) +
                            bytes_of(DType::fp32, batch.tokens(), its().heads))
        .survives = true;
    shape.pass = Pass::backward;
    writer.backward(shape);
  }
};

class LatentValuesPart final : public SparsePart<LatentValues> {
 public:
  using SparsePart::SparsePart;

  std::int64_t parameters() const override { return its().heads * its().value_dim * its().kv_rank; }
  int parameter_tensors() const override { return 1; }
  std::shared_ptr<const OwnPart> share(std::int64_t ranks) const override {
    LatentValues share = its();
    share.heads /= ranks;
    return std::make_shared<LatentValuesPart>(share);
  }
  // Kept is what comes out, which the projection behind multiplies.
  void write(PartWriter& writer) const override {
    const TokenBatch& batch = writer.batch();
    write_product_of_heads(writer,
                           {.m = batch.tokens(),
                            .n = its().value_dim,
                            .k = its().kv_rank,
                            .dtype = batch.dtype,
                            .batch = its().heads},
                           bytes_of(batch.dtype, batch.tokens(), its().heads, its().value_dim));
  }
};

}  // namespace

parts::Own own(const Indexer& part) { return {std::make_shared<IndexerPart>(part)}; }
parts::Own own(const AbsorbedQueries& part) { return {std::make_shared<AbsorbedQueriesPart>(part)}; }
parts::Own own(const SharedKeyRotation& part) { return {std::make_shared<SharedKeyRotationPart>(part)}; }
parts::Own own(const SelectedAttention& part) { return {std::make_shared<SelectedAttentionPart>(part)}; }
parts::Own own(const LatentValues& part) { return {std::make_shared<LatentValuesPart>(part)}; }

}}  // namespace c3::workloads
