#pragma once
/// The parts of the study of BERT-Large.

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "configs/jobs/experiment_reader.hpp"
#include "studies/bert/step_profile.hpp"
#include "studies/simulations.hpp"
#include "studies/study.hpp"

namespace c3 { inline namespace studies {

/// A step of one GPU.
struct BertCell {
  std::string_view gpu;  ///< "mi100", "a100": of the frame's file
  int phase = 1;         ///< 1: 128 tokens, 20 predicted words; 2: 512 and 80
  std::int64_t batch = 32;
  bool is_mixed = true;  ///< fp16 with fp32 masters; else FP32

  std::string label() const;
  bool operator==(const BertCell&) const = default;
};

/// The experiment of \p cell with overrides.
Experiment experiment_of(const BertCell& cell, std::vector<std::string> sets = {});

/// Operator by operator.
class BreakdownPart {
 public:
  BreakdownPart();

  void plan(SimulationJobs& jobs);
  StudyReport sections(const PublishedFigures& published) const;
  /// A row for each unlike kernel of MI100's steps: what it computes and moves, and its time.
  std::string rows_csv() const;

 private:
  struct Row {
    BertCell cell;
    std::vector<double> values;  ///< see BreakdownPart::Value
  };
  const std::vector<double>& of(const BertCell& cell) const;
  StudySection figures(const PublishedFigures& published) const;
  StudySection cells(const PublishedFigures& published) const;

  std::vector<Row> rows_;
};

}}  // namespace c3::studies
