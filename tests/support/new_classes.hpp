#pragma once
/// Two classes of operators that are one OperatorClass each and nothing else: a transpose, which reads and
/// writes a matrix in tiles of 32 x 32, and a syrk, which multiplies a matrix by its transpose.

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/errors.hpp"
#include "gpu/kernels/gemm/gemm_choice.hpp"
#include "gpu/kernels/operator_table.hpp"

namespace c3::test {

struct TransposeShape {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  DType dtype = DType::bf16;

  bool operator==(const TransposeShape&) const = default;
};

const OperatorClass& operator_class(const TransposeShape& shape);

inline constexpr std::array<std::string_view, 1> kTransposes = {"transpose"};

inline Operator read_transpose(const ShapeWords& words) {
  need(words, "transpose", {ShapeKey::dtype, ShapeKey::rows, ShapeKey::cols});
  return TransposeShape{.rows = extent(words, ShapeKey::rows),
                        .cols = extent(words, ShapeKey::cols),
                        .dtype = chosen<DType>(words, ShapeKey::dtype)};
}

inline std::vector<ShapeField> fields(const TransposeShape& shape) {
  return {{ShapeKey::dtype, name_of(shape.dtype)}, {ShapeKey::rows, shape.rows}, {ShapeKey::cols, shape.cols}};
}

inline std::string shape_text(const TransposeShape& shape) {
  return std::to_string(shape.rows) + " x " + std::to_string(shape.cols);
}

inline Bytes matrix(const TransposeShape& shape) {
  return element_size(shape.dtype) * (static_cast<double>(shape.rows) * static_cast<double>(shape.cols));
}

class TileTraffic final : public TrafficModel {
 public:
  explicit TileTraffic(Bytes tile) : tile_(tile) {}
  Traffic per_work_group(const CacheState&) const override { return {.l2 = tile_, .llc = tile_, .hbm = tile_}; }

 private:
  Bytes tile_;
};

inline KernelDescription describe_transpose(std::string name, const TransposeShape& shape, const GpuSpec& gpu) {
  if (shape.rows % 32 != 0 || shape.cols % 32 != 0) throw InfeasibleError("'" + name + "': needs whole tiles");
  KernelDescription kernel;
  kernel.name = std::move(name);
  kernel.work_groups = shape.rows / 32 * (shape.cols / 32);
  const Bytes tile = matrix(shape) / static_cast<double>(kernel.work_groups);
  kernel.needs = {.lds = tile, .registers = 32.0_KiB, .waves = 4};
  kernel.clock = gpu.compute.boost_clock;
  kernel.outstanding = tile;
  kernel.output = tile;
  kernel.peak = matrix_rate(gpu, DType::bf16).peak;
  kernel.compulsory = 2.0 * matrix(shape);
  kernel.traffic = std::make_shared<TileTraffic>(tile);
  return kernel;
}

inline constexpr OperatorClass kTranspose = {.name = "transpose",
                                             .operators = kTransposes,
                                             .read = read_transpose,
                                             .fields = on_shape<&fields>,
                                             .shape_text = on_shape<&shape_text>,
                                             .describe = on_shape<&describe_transpose>,
                                             .output = on_shape<&matrix>};

inline const OperatorClass& operator_class(const TransposeShape&) { return kTranspose; }

// ---

/// C[rows,rows] = A[rows,cols] A', all of it.
struct SyrkShape {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  DType dtype = DType::bf16;

  bool operator==(const SyrkShape&) const = default;
};

const OperatorClass& operator_class(const SyrkShape& shape);

inline constexpr std::array<std::string_view, 1> kSyrks = {"syrk"};

inline GemmShape product(const SyrkShape& shape) {
  return {.m = shape.rows, .n = shape.rows, .k = shape.cols, .dtype = shape.dtype};
}

inline Operator read_syrk(const ShapeWords& words) {
  need(words, "syrk", {ShapeKey::dtype, ShapeKey::rows, ShapeKey::cols});
  return SyrkShape{.rows = extent(words, ShapeKey::rows),
                   .cols = extent(words, ShapeKey::cols),
                   .dtype = chosen<DType>(words, ShapeKey::dtype)};
}

inline std::vector<ShapeField> syrk_fields(const SyrkShape& shape) {
  return {{ShapeKey::dtype, name_of(shape.dtype)}, {ShapeKey::rows, shape.rows}, {ShapeKey::cols, shape.cols}};
}

inline std::string syrk_text(const SyrkShape& shape) {
  return std::to_string(shape.rows) + " x " + std::to_string(shape.cols);
}

inline Bytes syrk_output(const SyrkShape& shape) {
  return element_size(shape.dtype) * (static_cast<double>(shape.rows) * static_cast<double>(shape.rows));
}

inline KernelDescription describe_syrk(std::string name, const SyrkShape& shape, const GpuSpec& gpu) {
  return describe_gemm(std::move(name), product(shape), gpu);
}

inline DType syrk_multiplies(const SyrkShape& shape) { return shape.dtype; }

inline std::vector<TouchedPhase> syrk_touches(const SyrkShape& shape, const GpuSpec&) {
  const auto rows = static_cast<double>(shape.rows);
  const auto cols = static_cast<double>(shape.cols);
  const Bytes element = element_size(shape.dtype);
  return {{{}, {{"A", element * (rows * cols), false, pieces(shape.rows, 64, cols, element)}}}};
}

inline constexpr OperatorClass kSyrk = {.name = "syrk",
                                        .operators = kSyrks,
                                        .read = read_syrk,
                                        .fields = on_shape<&syrk_fields>,
                                        .shape_text = on_shape<&syrk_text>,
                                        .describe = on_shape<&describe_syrk>,
                                        .output = on_shape<&syrk_output>,
                                        .multiplies = on_shape<&syrk_multiplies>,
                                        .touches = on_shape<&syrk_touches>};

inline const OperatorClass& operator_class(const SyrkShape&) { return kSyrk; }

/// The classes of the table, and these two.
inline std::vector<const OperatorClass*> with_new_classes() {
  const OperatorClasses shipped = operator_classes();
  std::vector<const OperatorClass*> all(shipped.begin(), shipped.end());
  all.push_back(&kTranspose);
  all.push_back(&kSyrk);
  return all;
}

}  // namespace c3::test
