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
  Seconds estimate;  ///< likewise

  bool operator==(const CandidateFacts&) const = default;
};

/// Of the experiment that \p make makes, in all of its draws, or with nominal values where it has none.
/// \throws InfeasibleError as model_bound() does, InterruptedError
CandidateFacts candidate_facts(const ExperimentFactory& make);

}  // namespace c3::workloads
