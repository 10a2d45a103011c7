#pragma once
/// LLaMA 3.1 8B by FSDP on 8 H100, as torchtitan publishes it: speed and memory, eager and compiled.

#include <string_view>
#include <vector>

#include "configs/jobs/experiment_reader.hpp"
#include "studies/simulations.hpp"
#include "studies/study.hpp"
#include "studies/training/step_scores.hpp"

namespace c3 { inline namespace studies {

class PublishedStepsPart {
 public:
  /// Reads `training/llama3_8b_fsdp8.toml` with either framework. \throws ConfigError, IoError
  PublishedStepsPart();
  void plan(SimulationJobs& jobs);
  /// Set "titan8", rows "eager" and "compiled", as tables have steps.
  std::vector<MeasuredStep> measured(const PublishedFigures& published) const;
  /// Set "titan8", rows "eager" and "compiled".
  std::vector<SimulatedStep> results(const PublishedFigures& published, const FirstTable& first) const;
  StudySection section(const PublishedFigures& published, const FirstTable& first) const;

 private:
  struct Sample {
    Seconds time, exposed, idle;
  };
  struct Variant {
    std::string_view name;  ///< "eager"
    ExperimentFile file;
    Experiment experiment;             ///< nominal
    std::vector<Sample> samples = {};  ///< by seed
    std::vector<double> drawn = {};    ///< seconds, by draw of everything that is a range
  };

  static void plan_draws(Variant& variant, SimulationJobs& jobs);

  std::vector<Variant> variants_;
};

}}  // namespace c3::studies
