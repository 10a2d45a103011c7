// Operators written as PyTorch's, in a trace around a launch, and read back by the rules for anybody's traces.

#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include "gpu/kernels/attention/attention_shape.hpp"
#include "gpu/kernels/gemm/gemm_shape.hpp"
#include "gpu/kernels/vector/vector_shape.hpp"
#include "tests/support/trace_text.hpp"
#include "workloads/traces/replay/torch_operator.hpp"
#include "workloads/traces/retiming/kernel_operators.hpp"

namespace c3::traces_torch_operator_test {

namespace {

std::int64_t extent() { return *rc::gen::inRange<std::int64_t>(1, 5000); }

template <class E>
E any_of(std::vector<E> values) {
  return *rc::gen::elementOf(values);
}

DType any_type() { return any_of<DType>({DType::bf16, DType::fp16, DType::fp8, DType::fp32}); }

/// Names that users give kernels, some of which are words of other classes in names of libraries' kernels.
std::string any_name() {
  return any_of<std::string>({"mlp.gate_up", "attn_qkv", "norm.reduce", "conv_out", "embed gemm", "x"});
}

/// What is found for a kernel of this name that \p op launched.
KernelOperator read_back(const Operator& op, const std::string& name) {
  const TorchOperator written = torch_operator(op);
  TraceText text;
  text.op(written.name, 0, 100, written.args.substr(1, written.args.size() - 2)).launch(name, 20, 40, 30, 5);
  const Rank rank(text.read());
  return KernelOperators(rank).of(0);
}

void must_be(const Operator& op, WorkClass work) {
  const KernelOperator found = read_back(op, any_name());
  RC_ASSERT(found.op.has_value());
  RC_ASSERT(*found.op == op);
  RC_ASSERT(found.work == work);
}

}  // namespace

TEST_CASE("property: a product that is written as PyTorch's is read back whole") {
  CHECK(rc::check([] {
    const GemmShape shape{.m = extent(),
                          .n = extent(),
                          .k = extent(),
                          .dtype = any_type(),
                          .batch = any_of<std::int64_t>({1, 1, 2, 48}),
                          .traffic = any_of<GemmTraffic>({GemmTraffic::tiled, GemmTraffic::streamed})};
    must_be(shape, WorkClass::gemm);
  }));
}

TEST_CASE("property: attention that is written as PyTorch's is read back whole") {
  CHECK(rc::check([] {
    AttentionShape shape;
    shape.batch = extent();
    shape.kv_heads = *rc::gen::inRange<std::int64_t>(1, 16);
    shape.heads = shape.kv_heads * *rc::gen::inRange<std::int64_t>(1, 8);
    shape.queries = extent();
    shape.keys = shape.queries + extent() - 1;
    shape.head_dim = any_of<std::int64_t>({64, 80, 128});
    shape.causal = any_of<bool>({false, true});
    shape.dtype = any_of<DType>({DType::bf16, DType::fp16});
    shape.pass = any_of<Pass>({Pass::forward, Pass::backward});
    shape.kernel = any_of<AttentionKernel>({AttentionKernel::cudnn, AttentionKernel::flash2});
    must_be(shape, WorkClass::attention);
  }));
}

// What of an elementwise kernel decides its time is bytes and type: its rows are read back as one.
TEST_CASE("property: a vector kernel that is written as PyTorch's is read back with its bytes and type") {
  std::vector<VectorOp> ops;
  for (const VectorOpTraits& traits : kVectorOps)
    ops.push_back(traits.op);
  CHECK(rc::check([&] {
    VectorShape shape{.chain = any_of(ops),
                      .rows = extent(),
                      .cols = extent(),
                      .dtype = any_of<DType>({DType::bf16, DType::fp16, DType::fp32}),
                      .pass = any_of<Pass>({Pass::forward, Pass::backward})};
    const VectorOp first = shape.chain.first();
    if (first == VectorOp::sgd || first == VectorOp::adam) shape.pass = Pass::forward;
    const std::string_view name = traits(first).name;
    if (name.starts_with("quantize_mx9") || name.starts_with("quantize_mx6")) {  // which cast fp32 alone
      shape.dtype = DType::fp32;
      shape.pass = Pass::forward;
    }
    const bool knows_rows = traits(first).row_passes > 0 || shape.pass == Pass::backward;
    if (knows_rows) return must_be(shape, WorkClass::vector);
    const KernelOperator found = read_back(shape, any_name());
    RC_ASSERT(found.op.has_value());
    const VectorShape* const read = found.op->as<VectorShape>();
    RC_ASSERT(read != nullptr);
    RC_ASSERT(found.work == WorkClass::vector);
    RC_ASSERT(read->chain == shape.chain);
    RC_ASSERT(read->dtype == shape.dtype);
    RC_ASSERT(read->rows * read->cols == shape.rows * shape.cols);
  }));
}

TEST_CASE(
    "a chain that a compiler fused is no operator of PyTorch, and is read back from the words of tables") {
  VectorShape shape{.rows = 4096, .cols = 512, .dtype = DType::bf16};
  shape.chain = VectorOp::gelu;
  shape.chain.append(VectorOp::mul);
  CHECK(torch_operator(shape).name == "c3sim::gelu+mul");
  const KernelOperator found = read_back(shape, "act");
  REQUIRE(found.op);
  CHECK(*found.op == Operator(shape));
}

TEST_CASE("an operator of c3sim with words that no table has is not known, and its reason says why") {
  const auto note_for = [](const std::string& values) {
    TraceText text;
    text.op("c3sim::add", 0, 100, R"("Input Dims":[[],[]],"Input type":["",""],"Concrete Inputs":)" + values)
        .launch("x", 20, 40, 30, 5);
    const Rank rank(text.read());
    const KernelOperator found = KernelOperators(rank).of(0);
    CHECK(!found.op);
    return found.note;
  };
  CHECK(note_for(R"(["op=add","size=4"])") ==
        "an operator of c3sim with an argument that tables of kernels do not have");
  CHECK(note_for(R"(["op=add","rows=-4"])").starts_with("an operator of c3sim: "));
}

}  // namespace c3::traces_torch_operator_test
