#pragma once
/// Kernels of other units and libraries than those that the shipped fits saw: FP32 products of a newer library
/// on H100 and on MI100's matrix units, attention on MI300X.

#include <filesystem>
#include <vector>

#include "studies/jobs.hpp"
#include "studies/kernels/measured_rows.hpp"
#include "studies/study.hpp"

namespace c3 { inline namespace studies {

class NewerPart {
 public:
  explicit NewerPart(const std::filesystem::path& kernels);
  void plan(Jobs& jobs);
  StudyReport sections(const PublishedFigures& published) const;

 private:
  /// A shape of attention and its rates, of which a table has both passes.
  struct Attention {
    Operator op;
    Seconds measured;
    std::size_t kind;  ///< of kAttentionKinds
    Seconds predicted = {};
  };

  void read_attention(const std::filesystem::path& file);

  MeasuredRows fp32_;
  Predictions shipped_;
  GpuSpec mi300x_;
  std::vector<Attention> attention_;
};

}}  // namespace c3::studies
