#pragma once
/// FP8 products of ROCm/aiter on MI300X and MI308X: of each shape the fastest of its kernels.

#include <filesystem>
#include <string>
#include <vector>

#include "gpu/kernels/gemm/gemm_shape.hpp"
#include "gpu/spec.hpp"
#include "studies/jobs.hpp"
#include "studies/study.hpp"

namespace c3 { inline namespace studies {

class TunedPart {
 public:
  explicit TunedPart(const std::filesystem::path& kernels);
  void plan(Jobs& jobs);
  StudyReport sections(const PublishedFigures& published) const;

 private:
  struct Row {
    GemmShape shape;
    Seconds measured;
    std::size_t gpu;  ///< of gpus_
    Seconds predicted = {};
  };

  std::vector<GpuSpec> gpus_;
  std::vector<Row> rows_;
};

}}  // namespace c3::studies
