#pragma once
/// The parts of the study. Each reads its tables when made, does its work in jobs, and then has sections.

#include <filesystem>
#include <string>
#include <vector>

#include "studies/jobs.hpp"
#include "studies/kernels/measured_rows.hpp"
#include "studies/study.hpp"

namespace c3 { inline namespace studies {

/// NeuSight's kernels in fp32 on five GPUs, measured in more than 100 us: rows marked `train` are fitted, rows
/// marked `test` scored.
class Fp32Part {
 public:
  explicit Fp32Part(const std::filesystem::path& kernels);
  void plan(Jobs& jobs);
  StudyReport sections(const PublishedFigures& published) const;

 private:
  void plan_unseen(const std::string& kernel_class, std::size_t gpu, Jobs& jobs);
  StudySection section(const PublishedFigures& published, const std::string& id, FigureKind kind,
                       const Predictions& predictions) const;

  MeasuredRows table_;
  Predictions shipped_;
  Predictions unseen_;
};

/// Matrix products in bf16 and fp8 on A100 and H100.
class MatrixPart {
 public:
  explicit MatrixPart(const std::filesystem::path& kernels);
  void plan(Jobs& jobs);
  StudyReport sections(const PublishedFigures& published) const;

 private:
  MeasuredRows table_;
  Predictions shipped_;
  Predictions other_gpu_;
  Predictions unseen_shapes_;
};

/// Causal attention, forward, on A100 and H100.
class AttentionPart {
 public:
  explicit AttentionPart(const std::filesystem::path& kernels);
  void plan(Jobs& jobs);
  StudyReport sections(const PublishedFigures& published) const;

 private:
  MeasuredRows table_;
  Predictions shipped_;
  Predictions unseen_shapes_;
};

}}  // namespace c3::studies
