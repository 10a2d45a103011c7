/// Matrix products: C[m,n] = A[m,k] B[k,n], several of them in a batch.

#include <algorithm>

#include "gpu/kernels/gemm/gemm_shape.hpp"
#include "workloads/traces/retiming/derivation.hpp"

namespace c3 { inline namespace traces {
namespace {

/// Which arguments of an operator are its factors.
struct ProductRule {
  std::string_view op;
  std::size_t left;
  std::size_t right;
  bool transposed = false;  ///< the right one is [n, k]
};

constexpr std::array kProducts{
    ProductRule{"mm", 0, 1},      ProductRule{"bmm", 0, 1},
    ProductRule{"matmul", 0, 1},  ProductRule{"mv", 0, 1},
    ProductRule{"dot", 0, 1},     ProductRule{"linear", 0, 1, true},
    ProductRule{"addmm", 1, 2},   ProductRule{"_addmm_activation", 1, 2},
    ProductRule{"baddbmm", 1, 2}, ProductRule{"addbmm", 1, 2},
    ProductRule{"addmv", 1, 2},   ProductRule{"_scaled_mm", 0, 1},
    ProductRule{"_int_mm", 0, 1},
};

/// Factors of which the left one may have leading dimensions that the right one lacks (linear, matmul).
std::optional<GemmShape> shape_of(const Dims& left, const Dims& right, bool transposed) {
  if (left.empty() || right.empty()) return std::nullopt;
  GemmShape shape;
  shape.k = left.back();
  if (right.size() == 1) {
    shape.n = 1;
    shape.m = elements(left) / std::max<std::int64_t>(shape.k, 1);
    return right.back() == shape.k ? std::optional(shape) : std::nullopt;
  }
  const std::int64_t k = right[right.size() - (transposed ? 1 : 2)];
  shape.n = right[right.size() - (transposed ? 2 : 1)];
  if (k != shape.k) return std::nullopt;
  const Dims outer(right.begin(), right.end() - 2);
  shape.batch = elements(outer);
  const std::int64_t rows = elements(left) / std::max<std::int64_t>(shape.k, 1);
  if (shape.batch < 1 || rows % shape.batch != 0) return std::nullopt;
  shape.m = rows / shape.batch;
  return shape;
}

}  // namespace

bool is_product(std::string_view op) {
  return rule_named(std::span<const ProductRule>(kProducts), op) != nullptr;
}

KernelOperator derive_product(const LaunchedKernel& kernel) {
  const ProductRule& rule = *rule_named(std::span<const ProductRule>(kProducts), kernel.op);
  if (is_helper(kernel.kernel)) return part_of_another("product: adds the parts of a split product");
  if (kernel.alike > 1) return not_found("a product that several kernels compute");
  const OpArgument& left = kernel[rule.left];
  const OpArgument& right = kernel[rule.right];
  if (!left.is_tensor() || !right.is_tensor()) return not_found("a product without the shapes of both factors");
  std::optional<GemmShape> shape = shape_of(left.tensors.front(), right.tensors.front(), rule.transposed);
  if (!shape) return not_found("a product whose factors do not fit");
  const std::optional<DType> dtype = dtype_of(left.type);
  if (!dtype) return not_found("a product in a type without a rate");
  shape->dtype = *dtype;
  return found_product(kernel, *shape, "product");
}

}}  // namespace c3::traces
