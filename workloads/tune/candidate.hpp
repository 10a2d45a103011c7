#pragma once
/// What is known of a candidate before it is simulated.

#include "workloads/analysis/study.hpp"
#include "workloads/tune/objective.hpp"

namespace c3 { inline namespace workloads {

struct CandidateFacts {
  CandidateSize size = {};
  Bytes needed;      ///< memory of the fullest GPU; 0: not known
  bool fits = true;  ///< in every draw
  Expense bound;     ///< each the least of its strategies and draws, see ModelTimes; 0 where it does not fit
  Expense estimate;  ///< likewise, no less than the bound; the time above 0

  bool operator==(const CandidateFacts&) const = default;
};

/// Facts of an experiment, or where it has draws, of all experiments that \p make makes. A training step is
/// looked at with few micro-batches where that is shorter (outlined_micro_batches()) and some more need as much
/// memory; times of the whole follow as if each further one took as long. \param outline the nominal
/// experiment as StepExtent::outline has it: its program of so many micro-batches, its family that of the whole
/// step
/// \throws InfeasibleError as model_times() does, InterruptedError
CandidateFacts candidate_facts(const Experiment& outline, const ExperimentFactory& make);

/// The same from one stage of a pipeline, see stage_times(): memory is that stage's, so that the whole may not
/// fit where it does. \param stage as StepExtent::stage has it. \throws as candidate_facts()
CandidateFacts rough_facts(const Experiment& stage);

/// Whether \p experiment is one stage of a training step.
bool is_one_stage(const Experiment& experiment);

}}  // namespace c3::workloads
