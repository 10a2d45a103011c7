#pragma once
/// Recipes of low precision: in which type the products of layers run, and which kernels cast their operands.
/// One recipe a file, listed in precision/table.cpp.

#include <optional>
#include <span>
#include <string_view>

#include "base/table_entry.hpp"
#include "gpu/kernels/gemm/gemm_shape.hpp"
#include "gpu/kernels/vector/vector_shape.hpp"
#include "gpu/spec.hpp"

namespace c3 { inline namespace workloads {

/// The kernels that make a copy of a 16-bit tensor in a recipe's type.
struct TensorCasts {
  VectorOp rows = VectorOp::quantize;       ///< a copy for products that go along the tensor's rows
  VectorOp both = VectorOp::quantize_both;  ///< and one for those that go along its columns
  bool searches = false;                    ///< a pass over the tensor finds its scale before it is cast
};

/// What a norm's kernel does for the product behind it.
enum class NormCast {
  none,
  scale,  ///< finds the scale of its output, which another kernel casts
  whole,  ///< writes its output cast
};

/// Forward, gradients of inputs and gradients of weights are products of one type. Members without a default
/// are required of recipes that have a type.
struct RecipeEntry {
  std::string_view name;
  std::optional<DType> dtype = {};  ///< of products; absent: that in which layers compute
  GemmScales scales = GemmScales::tensor;
  TensorCasts inputs = {}, weights = {}, gradients = {};
  NormCast norm = NormCast::none;    ///< where the framework's norms can do so
  bool scales_by_direction = false;  ///< copies along rows and along columns have scales of their own, so that
                                     ///< both are made from 16 bits, whichever layouts products take
  bool gathers_16_bits = false;      ///< parameters that are kept cast are gathered before they are cast
  bool needs_scaling_units = false;  ///< libraries have its products only where matrix units scale blocks
};

extern const RecipeEntry k16Bit;

class PrecisionRecipe : public TableEntry<RecipeEntry> {
 public:
  using TableEntry::TableEntry;

  static const PrecisionRecipe in_16_bits;  ///< nothing is cast
};

inline constexpr PrecisionRecipe PrecisionRecipe::in_16_bits{k16Bit};

/// All recipes that a configuration can name (precision/table.cpp), the narrowest last.
extern const std::span<const PrecisionRecipe> kPrecisionRecipes;

std::string_view name_of(PrecisionRecipe recipe);

/// Whether \p gpu has the rates, and the scaling, that \p recipe needs.
bool runs_on(PrecisionRecipe recipe, const GpuSpec& gpu);

/// The narrowest recipe before \p recipe in the table that \p gpu runs.
PrecisionRecipe nearest_that_runs(PrecisionRecipe recipe, const GpuSpec& gpu);

}}  // namespace c3::workloads
