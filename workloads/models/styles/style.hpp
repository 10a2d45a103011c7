#pragma once
/// The styles in which frameworks write the kernels of a layer: one file each, listed in styles/table.cpp.

#include <memory>
#include <string_view>

#include "workloads/models/training_lowering.hpp"

namespace c3 { inline namespace workloads {

/// A style of kernels, and what it means for a step beyond them.
struct StyleEntry {
  std::string_view name;
  /// A class derived from TrainingLowering.
  std::unique_ptr<TrainingLowering> (*lowering)(const Framework& framework, const TokenBatch& batch);
  /// Recomputation runs a layer to its end; else to the last tensor that the backward pass needs.
  bool recomputes_to_end = false;
  /// With sequence parallelism, gathered inputs of products are not kept but gathered again (arXiv 2205.05198,
  /// section 4.2.2).
  bool gathers_again = false;
  /// Backward passes use casts of inputs and weights that forward passes have made and kept
  /// (TransformerEngine); else they keep 16 bits and cast again (torchao).
  bool keeps_casts = false;
  /// The most that its norms do for a cast.
  NormCast norm_cast = NormCast::none;
};

/// Makes a lowering of class \p Style.
template <typename Style>
std::unique_ptr<TrainingLowering> make_style(const Framework& framework, const TokenBatch& batch) {
  return std::make_unique<Style>(framework, batch);
}

}}  // namespace c3::workloads
