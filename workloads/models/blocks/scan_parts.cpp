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
  explicit ConvolutionPart(const SequenceConvolution& of) : of_(of) {}

  std::int64_t parameters() const override { return of_.channels * (of_.window + (of_.has_bias ? 1 : 0)); }
  int parameter_tensors() const override { return of_.has_bias ? 2 : 1; }
  std::shared_ptr<const OwnPart> share(std::int64_t ranks) const override {
    SequenceConvolution share = of_;
    share.channels /= ranks;
    return std::make_shared<ConvolutionPart>(share);
  }
  void write(PartWriter& writer) const override {
    const TokenBatch& batch = writer.batch();
    CausalConvShape shape{.batch = batch.sequences,
                          .length = batch.length,
                          .channels = of_.channels,
                          .window = of_.window,
                          .dtype = batch.dtype,
                          .layout = of_.layout};
    const Bytes result = size_of({batch.tokens(), of_.channels}, batch.dtype);
    writer.forward(shape, of_.is_kept ? result : Bytes{});
    if (!of_.is_kept) writer.backward(shape);  // in truth before the scan's kernels, at the same cost
    shape.pass = Pass::backward;
    writer.backward(shape).gradient = size_of({parameters(), 1}, batch.dtype);
  }

 private:
  SequenceConvolution of_;
};

class ScanPart final : public OwnPart {
 public:
  explicit ScanPart(const ChunkedScan& of) : of_(of) {}

  std::int64_t parameters() const override { return of_.heads * of_.head_weights; }
  int parameter_tensors() const override { return static_cast<int>(of_.head_weights); }
  std::shared_ptr<const OwnPart> share(std::int64_t ranks) const override {
    ChunkedScan share = of_;
    share.heads /= ranks;
    share.key_heads /= ranks;
    return std::make_shared<ScanPart>(share);
  }

  void write(PartWriter& writer) const override {
    const TokenBatch& batch = writer.batch();
    const TensorShape numbers{batch.tokens(), of_.heads};
    if (of_.has_gates)
      writer.forward(vector_shape(VectorOp::exp, numbers, DType::fp32), size_of(numbers, DType::fp32) * 2.0);
    if (repeats())
      for (int tensor = 0; tensor < 2; ++tensor)  // queries and keys
        writer.forward(vector_shape(VectorOp::copy, both_sides(batch), batch.dtype));
    PartKernel* last = nullptr;
    for (const ScanStage stage : scan_stages(of_.rule, Pass::forward))
      last = &writer.forward(shape_of(batch, stage, Pass::forward));
    last->kept += size_of({batch.tokens() * of_.heads, of_.kept}, batch.dtype);

    for (const ScanStage stage : scan_stages(of_.rule, Pass::backward))
      last = &writer.backward(shape_of(batch, stage, Pass::backward));
    if (repeats())
      for (int tensor = 0; tensor < 2; ++tensor)  // sums over what was repeated
        last = &writer.backward(vector_shape(VectorOp::copy, both_sides(batch), batch.dtype));
    if (of_.has_gates)
      last = &writer.backward(vector_shape(VectorOp::exp, numbers, DType::fp32, Pass::backward));
    last->gradient = size_of({parameters(), 1}, batch.dtype);
  }

 private:
  bool repeats() const { return of_.repeats_keys && of_.key_heads < of_.heads; }
  TensorShape both_sides(const TokenBatch& batch) const {
    return {batch.tokens(), (of_.heads + of_.key_heads) * of_.key_dim / 2};
  }
  ScanShape shape_of(const TokenBatch& batch, ScanStage stage, Pass pass) const {
    return {.rule = of_.rule,
            .stage = stage,
            .batch = batch.sequences,
            .length = batch.length,
            .heads = of_.heads,
            .key_heads = repeats() ? of_.heads : of_.key_heads,
            .key_dim = of_.key_dim,
            .value_dim = of_.value_dim,
            .chunk = of_.chunk,
            .dtype = batch.dtype,
            .pass = pass};
  }

  ChunkedScan of_;
};

class GatedNormPart final : public OwnPart {
 public:
  explicit GatedNormPart(const GatedNorm& of) : of_(of) {}

  std::int64_t parameters() const override { return of_.shares_weights ? of_.width : of_.groups * of_.width; }
  int parameter_tensors() const override { return 1; }
  std::shared_ptr<const OwnPart> share(std::int64_t ranks) const override {
    GatedNorm share = of_;
    share.groups /= ranks;
    return std::make_shared<GatedNormPart>(share);
  }

  // What stands between both kernels stays, and what comes out, which the projection behind multiplies.
  void write(PartWriter& writer) const override {
    const TokenBatch& batch = writer.batch();
    const TensorShape rows{batch.tokens() * of_.groups, of_.width};
    const Bytes kept = size_of(rows, batch.dtype);
    VectorChain gate = VectorOp::silu;
    gate.append(VectorOp::mul);
    const auto norm_of = [&](Pass pass) { return vector_shape(VectorOp::rmsnorm, rows, batch.dtype, pass); };
    const auto gate_of = [&](Pass pass) { return vector_shape(gate, rows, batch.dtype, pass); };
    writer.forward(of_.gates_first ? gate_of(Pass::forward) : norm_of(Pass::forward), kept);
    writer.forward(of_.gates_first ? norm_of(Pass::forward) : gate_of(Pass::forward), kept);
    writer.backward(of_.gates_first ? norm_of(Pass::backward) : gate_of(Pass::backward));
    writer.backward(of_.gates_first ? gate_of(Pass::backward) : norm_of(Pass::backward));
    writer.backward(vector_shape(VectorOp::reduce, {rows.cols, 2 * rows.rows}, batch.dtype)).gradient =
        size_of({parameters(), 1}, batch.dtype);
  }

 private:
  GatedNorm of_;
};

}  // namespace

parts::Own own(const SequenceConvolution& part) { return {std::make_shared<ConvolutionPart>(part)}; }
parts::Own own(const ChunkedScan& part) { return {std::make_shared<ScanPart>(part)}; }
parts::Own own(const GatedNorm& part) { return {std::make_shared<GatedNormPart>(part)}; }

}}  // namespace c3::workloads
