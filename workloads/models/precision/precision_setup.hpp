#pragma once
/// How a training step uses a recipe of low precision.

#include <cstdint>

#include "workloads/models/precision/recipe.hpp"

namespace c3 { inline namespace workloads {

struct PrecisionSetup {
  PrecisionRecipe recipe = PrecisionRecipe::in_16_bits;
  bool parameters = false;       ///< weights of these products are kept, and gathered, in its type alone
  bool weight_gradients = true;  ///< gradients of weights are products of its type, too; else of 16 bits
  bool transposes = true;    ///< copies of weights along their columns stay; else each backward pass makes them
  bool attention = false;    ///< attention reads and writes 8 bits, cast before and behind it
  bool activations = false;  ///< inputs of activation functions are kept in 8 bits, for their backward pass
  std::int64_t first_layers = 0;  ///< of the model, whose products stay in 16 bits
  std::int64_t last_layers = 0;   ///< the same
  bool takes_any_layout = false;  ///< of the GPU: takes_any_layout(gpu, recipe->dtype)

  /// Whether products of \p layer, of a model's \p layers, run in the recipe's type.
  bool casts_layer(std::int64_t layer, std::int64_t layers) const {
    return recipe->dtype && layer >= first_layers && layer < layers - last_layers;
  }
  /// Whether a tensor has a copy for products along its rows and another for those along its columns.
  bool needs_two_copies() const { return recipe->scales_by_direction || !takes_any_layout; }
  /// Whether a weight has both between passes.
  bool keeps_two_copies() const { return needs_two_copies() && transposes; }
  /// Whether what a layer needs of other ranks' parameters is gathered in the recipe's type.
  bool gathers_cast() const { return recipe->dtype && parameters && !recipe->gathers_16_bits; }

  bool operator==(const PrecisionSetup&) const = default;
};

/// Mean bytes of a number of a tensor that \p cast has made, in all copies, scales of whole blocks included.
double bytes_of_number(VectorOp cast);

/// Bytes of the copies of a number of a weight of these products that stay between a step's passes.
double copied_bytes_of_weight(const PrecisionSetup& precision);

/// Bytes of a number of such a weight as it is gathered.
double gathered_bytes_of_weight(const PrecisionSetup& precision, Bytes in_16_bits);

}}  // namespace c3::workloads
