#pragma once
/// Whole models as sums of kernels, against the steps that NeuSight measured. No coefficient is fitted to them.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "gpu/kernel_time.hpp"
#include "studies/jobs.hpp"
#include "studies/kernels/eager/step_operators.hpp"
#include "studies/kernels/measured_models.hpp"
#include "studies/study.hpp"

namespace c3 { inline namespace studies {

/// Sum of the times of \p list on \p gpu, one kernel after another in a queue that is never empty.
Seconds time_of(const OperatorList& list, const GpuSpec& gpu);

/// How the step of \p row was run. \param attention_kernel whether PyTorch's compiler finds BERT's attention
/// and puts one kernel in its place; it knows no pattern of the other models.
StepSetup setup_of(const MeasuredModel& row, bool attention_kernel);

class ModelsPart {
 public:
  explicit ModelsPart(const std::filesystem::path& kernels);
  void plan(Jobs& jobs);
  StudyReport sections(const PublishedFigures& published) const;

 private:
  struct Row {
    MeasuredModel of;
    std::optional<StepTimes> here = {};         ///< absent: the GPU cannot hold an operator
    std::optional<StepTimes> scores_kept = {};  ///< the same without an attention kernel
  };

  /// The first row of \p model: rows of one model mostly err alike.
  std::uint64_t model_index(const std::string& model) const;
  StudySection summary(const PublishedFigures& published) const;
  StudySection inference_rows(const PublishedFigures& published) const;
  StudySection training_rows(const PublishedFigures& published) const;

  std::vector<Row> rows_;
};

}}  // namespace c3::studies
