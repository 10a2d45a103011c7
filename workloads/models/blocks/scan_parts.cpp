#include "workloads/models/blocks/scan_parts.hpp"

#include "gpu/kernels/vector/vector_shape.hpp"
#include "workloads/models/lowering.hpp"
#include "workloads/models/own_part.hpp"

namespace c3 { inline namespace workloads {
namespace {

Bytes size_of(TensorShape tensor, DType dtype) {
  return element_size(dtype) * static_cast<double>(tensor.rows * tensor.cols);
}

class ConvolutionPart final : public OwnPart {
 public:
  explicit ConvolutionPart(const SequenceConvolution& convolution) : convolution_(convolution) {}

  std::int64_t parameters() const override {
    return convolution_.channels * (convolution_.window + (convolution_.has_bias ? 1 : 0));
  }
  int parameter_tensors() const override { return convolution_.has_bias ? 2 : 1; }
  std::shared_ptr<const OwnPart> share(std::int64_t ranks) const override {
    SequenceConvolution share = convolution_;
    share.channels /= ranks;
    return std::make_shared<ConvolutionPart>(share);
  }
  void write(PartWriter& writer) const override {
    const TokenBatch& batch = writer.batch();
    CausalConvShape shape{.batch = batch.sequences,
                          .length = batch.length,
                          .channels = convolution_.channels,
                          .window = convolution_.window,
                          .dtype = batch.dtype,
                          .layout = convolution_.layout};
    const Bytes result = size_of({batch.tokens(), convolution_.channels}, batch.dtype);
    writer.forward(shape, convolution_.is_kept ? result : Bytes{});
    if (!convolution_.is_kept) writer.backward(shape);  // in truth before the scan's kernels, at the same cost
    shape.pass = Pass::backward;
    writer.backward(shape).gradient = size_of({parameters(), 1}, batch.dtype);
  }

 private:
  SequenceConvolution convolution_;
};

class ScanPart final : public OwnPart {
 public:
  explicit ScanPart(const ChunkedScan& scan) : scan_(scan) {}

  std::int64_t parameters() const override { return scan_.heads * scan_.head_weights; }
  int parameter_tensors() const override { return static_cast<int>(scan_.head_weights); }
  std::shared_ptr<const OwnPart> share(std::int64_t ranks) const override {
    ChunkedScan share = scan_;
    share.heads /= ranks;
    share.key_heads /= ranks;
    return std::make_shared<ScanPart>(share);
  }

  void write(PartWriter& writer) const override {
    const TokenBatch& batch = writer.batch();
    const TensorShape numbers{batch.tokens(), scan_.heads};
    if (scan_.has_gates)
      writer.forward(vector_shape(VectorOp::exp, numbers, DType::fp32), size_of(numbers, DType::fp32) * 2.0);
    if (repeats())
      for (int tensor = 0; tensor < 2; ++tensor)  // queries and keys
        writer.forward(vector_shape(VectorOp::copy, both_sides(batch), batch.dtype));
    PartKernel* last = nullptr;
    for (const ScanStage stage : scan_stages(scan_.rule, Pass::forward))
      last = &writer.forward(shape_of(batch, stage, Pass::forward));
    last->kept += size_of({batch.tokens() * scan_.heads, scan_.kept}, batch.dtype);

    for (const ScanStage stage : scan_stages(scan_.rule, Pass::backward))
      last = &writer.backward(shape_of(batch, stage, Pass::backward));
    if (repeats())
      for (int tensor = 0; tensor < 2; ++tensor)  // sums over what was repeated
        last = &writer.backward(vector_shape(VectorOp::copy, both_sides(batch), batch.dtype));
    if (scan_.has_gates)
      last = &writer.backward(vector_shape(VectorOp::exp, numbers, DType::fp32, Pass::backward));
    last->gradient = size_of({parameters(), 1}, batch.dtype);
  }

 private:
  bool repeats() const { return scan_.repeats_keys && scan_.key_heads < scan_.heads; }
  TensorShape both_sides(const TokenBatch& batch) const {
    return {batch.tokens(), (scan_.heads + scan_.key_heads) * scan_.key_dim / 2};
  }
  ScanShape shape_of(const TokenBatch& batch, ScanStage stage, Pass pass) const {
    return {.rule = scan_.rule,
            .stage = stage,
            .batch = batch.sequences,
            .length = batch.length,
            .heads = scan_.heads,
            .key_heads = repeats() ? scan_.heads : scan_.key_heads,
            .key_dim = scan_.key_dim,
            .value_dim = scan_.value_dim,
            .chunk = scan_.chunk,
            .dtype = batch.dtype,
            .pass = pass};
  }

  ChunkedScan scan_;
};

class GatedNormPart final : public OwnPart {
 public:
  explicit GatedNormPart(const GatedNorm& norm) : norm_(norm) {}

  std::int64_t parameters() const override {
    return norm_.shares_weights ? norm_.width : norm_.groups * norm_.width;
  }
  int parameter_tensors() const override { return 1; }
  std::shared_ptr<const OwnPart> share(std::int64_t ranks) const override {
    GatedNorm share = norm_;
    share.groups /= ranks;
    return std::make_shared<GatedNormPart>(share);
  }

  // What stands between both kernels stays, and what comes out, which the projection behind multiplies.
  void write(PartWriter& writer) const override {
    const TokenBatch& batch = writer.batch();
    const TensorShape rows{batch.tokens() * norm_.groups, norm_.width};
    const Bytes kept = size_of(rows, batch.dtype);
    VectorChain gate = VectorOp::silu;
    gate.append(VectorOp::mul);
    const auto norm_of = [&](Pass pass) { return vector_shape(VectorOp::rmsnorm, rows, batch.dtype, pass); };
    const auto gate_of = [&](Pass pass) { return vector_shape(gate, rows, batch.dtype, pass); };
    writer.forward(norm_.gates_first ? gate_of(Pass::forward) : norm_of(Pass::forward), kept);
    writer.forward(norm_.gates_first ? norm_of(Pass::forward) : gate_of(Pass::forward), kept);
    writer.backward(norm_.gates_first ? norm_of(Pass::backward) : gate_of(Pass::backward));
    writer.backward(norm_.gates_first ? gate_of(Pass::backward) : norm_of(Pass::backward));
    writer.backward(vector_shape(VectorOp::reduce, {rows.cols, 2 * rows.rows}, batch.dtype)).gradient =
        size_of({parameters(), 1}, batch.dtype);
  }

 private:
  GatedNorm norm_;
};

}  // namespace

parts::Own own(const SequenceConvolution& part) { return {std::make_shared<ConvolutionPart>(part)}; }
parts::Own own(const ChunkedScan& part) { return {std::make_shared<ScanPart>(part)}; }
parts::Own own(const GatedNorm& part) { return {std::make_shared<GatedNormPart>(part)}; }

}}  // namespace c3::workloads
