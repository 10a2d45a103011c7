#include "workloads/models/blocks/output_gate.hpp"

#include "gpu/kernels/vector/vector_shape.hpp"
#include "workloads/models/lowering.hpp"
#include "workloads/models/own_part.hpp"

namespace c3 { inline namespace workloads {
namespace {

/// One kernel each way: 1 / (1 + exp(-gate)) times the output, which attention keeps. The gate stays for the
/// backward pass, and what comes out, which the projection behind multiplies.
class OutputGate final : public OwnPart {
 public:
  explicit OutputGate(std::int64_t width) : width_(width) {}

  std::int64_t parameters() const override { return 0; }
  int parameter_tensors() const override { return 0; }
  std::shared_ptr<const OwnPart> share(std::int64_t ranks) const override {
    return std::make_shared<OutputGate>(width_ / ranks);
  }
  void write(PartWriter& writer) const override {
    VectorChain chain = VectorOp::silu;  // as many instructions as the logistic function
    chain.append(VectorOp::mul);
    const TensorShape tensor{writer.batch().tokens(), width_};
    const DType dtype = writer.batch().dtype;
    const Bytes size = element_size(dtype) * static_cast<double>(tensor.rows * tensor.cols);
    writer.forward(vector_shape(chain, tensor, dtype), size * 2.0);
    writer.backward(vector_shape(chain, tensor, dtype, Pass::backward));
  }

 private:
  std::int64_t width_;
};

}  // namespace

parts::Own output_gate(std::int64_t width) { return {std::make_shared<OutputGate>(width)}; }

}}  // namespace c3::workloads
