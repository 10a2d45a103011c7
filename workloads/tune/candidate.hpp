#pragma once
/// What is known of a candidate before it is simulated.

#include "workloads/analysis/study.hpp"
#include "workloads/tune/objective.hpp"

namespace c3::inline workloads {

struct CandidateFacts {
  CandidateSize size = {};
  Bytes needed;      ///< memory of the fullest GPU; 0: not known
  bool fits = true;  ///< in every draw
  Seconds bound;     ///< of its fastest strategy and draw, see ModelTimes; 0 where it does not fit
  Seconds estimate;  ///< likewise, no less than the bound and above 0

  bool operator==(const CandidateFacts&) const = default;
};

/// Of the experiment \p nominal, or where it has draws, of all that \p make makes. \throws InfeasibleError as
/// model_bound() does, InterruptedError
CandidateFacts candidate_facts(const Experiment& nominal, const ExperimentFactory& make);

}  // namespace c3::workloads
