// Delayed scaling: a tensor's scale follows from its maxima of steps before, so that one kernel casts it,
// writes its transposed copy and finds its maximum for later. Norms write their output cast. Source:
// NVIDIA/TransformerEngine
// @d0067d0d, common/recipe (DelayedScaling), pytorch/csrc/extensions/normalization.cpp (Float8Quantizer is
// FULLY_FUSED), pytorch/csrc/quantizer.cpp. Wrong when: the all-reduce of maxima, once each pass, which is left
// out, takes long.

#include "workloads/models/precision/recipe.hpp"

namespace c3 { inline namespace workloads {

extern constexpr RecipeEntry kFp8Delayed = {
    .name = "fp8_delayed", .dtype = DType::fp8, .norm = NormCast::whole};

}}  // namespace c3::workloads
