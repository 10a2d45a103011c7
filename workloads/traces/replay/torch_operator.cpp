#include "workloads/traces/replay/torch_operator.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/json.hpp"
#include "gpu/kernels/attention/attention_shape.hpp"
#include "gpu/kernels/gemm/gemm_shape.hpp"
#include "gpu/kernels/vector/vector_shape.hpp"
#include "workloads/traces/replay/operator_words.hpp"

namespace c3 { inline namespace traces {
namespace {

using Dims = std::vector<std::int64_t>;

/// Arguments in the order of an operator's schema, as the profiler records them: a tensor by its shape and
/// type, a scalar by its value.
class Arguments {
 public:
  Arguments& tensor(const Dims& dims, std::string_view type) { return add(Json(dims), type, ""); }
  Arguments& scalar(std::string_view value) { return add(Json::array(), "Scalar", value); }
  Arguments& list(std::string_view value) { return add(Json::array(), "ScalarList", value); }
  /// Stands for tensors whose shapes follow from others, and for optional arguments.
  Arguments& nothing(int count = 1) {
    for (int i = 0; i < count; ++i)
      add(Json::array(), "", "");
    return *this;
  }

  TorchOperator of(std::string name) const {
    const Json args = {{"Input Dims", dims_}, {"Input type", types_}, {"Concrete Inputs", values_}};
    return {std::move(name), args.dump()};
  }

 private:
  Arguments& add(Json dims, std::string_view type, std::string_view value) {
    dims_.push_back(std::move(dims));
    types_.push_back(type);
    values_.push_back(value);
    return *this;
  }

  Json dims_ = Json::array(), types_ = Json::array(), values_ = Json::array();
};

std::string_view torch_type(DType dtype) {
  switch (dtype) {
    case DType::bf16:
      return "c10::BFloat16";
    case DType::fp16:
      return "c10::Half";
    case DType::fp8:
      return "c10::Float8_e4m3fn";
    case DType::fp4:
      return "c10::Float4_e2m1fn_x2";
    case DType::fp32:
      return "float";
  }
  throw std::logic_error("torch_type: unknown data type");
}

/// Writes the operator in the words of tables of kernels.
TorchOperator in_words(const Operator& op) {
  const OperatorWords words = words_of(op);
  Arguments arguments;
  for (std::size_t place = 0; place < kShapeKeys.size(); ++place) {
    if (!words.texts.at(place).empty())
      arguments.scalar(fmt::format("{}={}", kShapeKeys.at(place), words.texts.at(place)));
    if (words.numbers.at(place) != OperatorWords::kNotGiven)
      arguments.scalar(fmt::format("{}={}", kShapeKeys.at(place), words.numbers.at(place)));
  }
  return arguments.of(fmt::format("c3sim::{}", words.texts.front()));
}

TorchOperator product(const GemmShape& shape) {
  const std::string_view type = torch_type(shape.dtype);
  Arguments arguments;
  if (shape.batch > 1) {
    arguments.tensor({shape.batch, shape.m, shape.k}, type).tensor({shape.batch, shape.k, shape.n}, type);
    return arguments.of("aten::bmm");
  }
  arguments.tensor({shape.m, shape.k}, type).tensor({shape.k, shape.n}, type);
  return arguments.of(shape.dtype == DType::fp8 ? "aten::_scaled_mm" : "aten::mm");
}

/// The others were extensions of their own.
bool has_torch_name(AttentionKernel kernel) {
  using enum AttentionKernel;
  return kernel == newest || kernel == cudnn || kernel == flash2;
}

/// Follows the schemas of PyTorch 2.1 to 2.8: [batch, heads, tokens, head_dim]; the backward pass takes the
/// output's gradient first.
TorchOperator attention(const AttentionShape& shape) {
  const std::string_view type = torch_type(shape.dtype);
  const bool is_backward = shape.pass == Pass::backward;
  const bool is_flash = shape.kernel == AttentionKernel::flash2;
  const Dims queries{shape.batch, shape.heads, shape.queries, shape.head_dim};
  const Dims keys{shape.batch, shape.kv_heads, shape.keys, shape.head_dim};
  Arguments arguments;
  if (is_backward) arguments.tensor(queries, type);
  arguments.tensor(queries, type).tensor(keys, type).tensor(keys, type);
  const int before_causal = is_backward ? (is_flash ? 7 : 10) : (is_flash ? 1 : 3);
  arguments.nothing(before_causal).scalar(shape.causal ? "True" : "False");
  return arguments.of(fmt::format("aten::_scaled_dot_product_{}_attention{}", is_flash ? "flash" : "cudnn",
                                  is_backward ? "_backward" : ""));
}

/// An elementwise operator of PyTorch that reads as many tensors, and none but the last ones.
struct ElementwiseName {
  VectorOp op;
  std::string_view name;
};
constexpr std::array kElementwise{
    ElementwiseName{VectorOp::add, "aten::add"},    ElementwiseName{VectorOp::sub, "aten::sub"},
    ElementwiseName{VectorOp::mul, "aten::mul"},    ElementwiseName{VectorOp::div, "aten::div"},
    ElementwiseName{VectorOp::pow, "aten::pow"},    ElementwiseName{VectorOp::mul_scalar, "aten::mul"},
    ElementwiseName{VectorOp::relu, "aten::relu"},  ElementwiseName{VectorOp::gelu, "aten::gelu"},
    ElementwiseName{VectorOp::tanh, "aten::tanh"},  ElementwiseName{VectorOp::exp, "aten::exp"},
    ElementwiseName{VectorOp::copy, "aten::copy_"}, ElementwiseName{VectorOp::silu, "aten::silu"},
};

/// Softmax and norms, forward and backward.
std::optional<TorchOperator> along_rows(const VectorShape& shape) {
  if (has_eager_kernel(shape.chain.first()) && !shape.is_eager) return std::nullopt;  // no kernel of PyTorch's
  const bool is_backward = shape.pass == Pass::backward;
  const std::string_view type = torch_type(shape.dtype);
  const Dims dims{shape.rows, shape.cols};
  Arguments arguments;
  arguments.tensor(dims, type);
  if (is_backward) arguments.tensor(dims, type);
  switch (shape.chain.first()) {
    case VectorOp::softmax:
      return arguments.scalar("-1").of(is_backward ? "aten::_softmax_backward_data" : "aten::_softmax");
    case VectorOp::layernorm:
      return arguments.list(fmt::format("[{}]", shape.cols))
          .of(is_backward ? "aten::native_layer_norm_backward" : "aten::native_layer_norm");
    case VectorOp::rmsnorm:
      return arguments.list(fmt::format("[{}]", shape.cols))
          .of(is_backward ? "aten::_fused_rms_norm_backward" : "aten::_fused_rms_norm");
    default:
      return std::nullopt;
  }
}

std::optional<TorchOperator> vector(const VectorShape& shape) {
  const VectorOp op = shape.chain.first();
  const bool is_chain = shape.chain.begin() + 1 != shape.chain.end();
  if (is_chain || shape.dtype == DType::fp8) return std::nullopt;
  if (std::optional<TorchOperator> rows = along_rows(shape)) return rows;
  const auto* const named = std::ranges::find(kElementwise, op, &ElementwiseName::op);
  if (named == kElementwise.end() || shape.pass == Pass::backward) return std::nullopt;
  Arguments arguments;
  const Dims dims{shape.rows, shape.cols};
  const bool writes_first = op == VectorOp::copy;  // copy_(self, source)
  for (int i = 0; i < (traits(op).reads > 1 || writes_first ? 2 : 1); ++i)
    arguments.tensor(dims, torch_type(shape.dtype));
  if (op == VectorOp::mul_scalar) arguments.scalar("2");
  return arguments.of(std::string(named->name));
}

/// Whether dimensions and type are all that \p shape says.
bool is_plain(const GemmShape& shape) {
  return shape ==
         GemmShape{.m = shape.m, .n = shape.n, .k = shape.k, .dtype = shape.dtype, .batch = shape.batch};
}

}  // namespace

TorchOperator torch_operator(const Operator& op) {
  if (const auto* shape = op.as<GemmShape>(); shape != nullptr && is_plain(*shape)) return product(*shape);
  if (const auto* shape = op.as<AttentionShape>();
      shape != nullptr && has_torch_name(shape->kernel) && shape->values == AttentionValues::apart)
    return attention(*shape);
  if (const auto* shape = op.as<VectorShape>()) {
    if (std::optional<TorchOperator> written = vector(*shape)) return *std::move(written);
  }
  return in_words(op);
}

}}  // namespace c3::traces
