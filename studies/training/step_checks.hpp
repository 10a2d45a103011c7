#pragma once
/// What must hold of simulated steps, whatever was measured: interference adds up, memory is a count of
/// tensors, engines gather beside computation.

#include <string>
#include <vector>

#include "studies/simulations.hpp"
#include "studies/study.hpp"
#include "workloads/analysis/study.hpp"
#include "workloads/experiment.hpp"
#include "workloads/training/setup.hpp"

namespace c3 { inline namespace studies {

/// A step with everything shared, with nothing shared, and what its loss split says of the difference.
class InterferencePart {
 public:
  InterferencePart();
  void plan(SimulationJobs& jobs);
  StudySection section(const PublishedFigures& published) const;

 private:
  Experiment experiment_;
  Seconds shared_, unshared_;
  LossSplit loss_;
};

/// All-gathers of FSDP on 8 MI300X by channels, under every strategy, and by copy engines.
class GathersPart {
 public:
  GathersPart();
  void plan(SimulationJobs& jobs);
  StudySection section(const PublishedFigures& published) const;

 private:
  struct Run {
    std::string strategy;
    std::vector<Seconds> times = {};  ///< by seed
  };

  const Run& run_of(std::string_view strategy) const;

  Experiment experiment_;
  std::vector<Run> runs_;
};

/// Memory of LLaMA 3 8B under FSDP with full recomputation against a count of its tensors.
StudySection memory_section(const PublishedFigures& published);

/// What one rank holds when the gradient of the logits is made, every layer recomputed: shards of parameters
/// and moments in fp32, the root's parameters gathered and the gradients that it will make, layers' inputs, the
/// last layer's parameters, the final norm's tensors, and three tensors of logits in fp32.
Bytes closed_form_memory(const TrainingSetup& setup, int ranks);

}}  // namespace c3::studies
