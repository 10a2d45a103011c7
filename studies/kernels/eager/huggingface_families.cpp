#include "studies/kernels/eager/huggingface_families.hpp"

namespace c3 { inline namespace studies {

const FamilyKernels& kernels_of(EagerFamily family) {
  // Divided by the root, mask added (broadcast over heads and queries).
  static const FamilyKernels kBert = {.drops_scores = true,
                                      .on_scores = {VectorOp::div_scalar, VectorOp::add_scalar}};
  // Divided; `where` with the causal mask, which is shared by all heads and sequences.
  static const FamilyKernels kGpt2 = {
      .one_projection = true, .drops_scores = true, .on_scores = {VectorOp::div_scalar, VectorOp::copy}};
  // Mask added, the sum bounded from below.
  static const FamilyKernels kOpt = {
      .scales_queries = true, .always_copies = true, .on_scores = {VectorOp::add_scalar, VectorOp::copy}};
  // Bias of relative positions added, one for each score; no scale.
  static const FamilyKernels kT5 = {
      .drops_scores = true, .drops_ffn = true, .scales_output = true, .on_scores = {VectorOp::add}};
  switch (family) {
    case EagerFamily::bert:
      return kBert;
    case EagerFamily::gpt2:
      return kGpt2;
    case EagerFamily::opt:
      return kOpt;
    case EagerFamily::t5:
      break;
  }
  return kT5;
}

}}  // namespace c3::studies
