#pragma once
/// Whether steps have room where they ran, and none where a count of tensors says so; memory beside what was
/// measured.

#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "studies/published_figures.hpp"
#include "studies/study.hpp"
#include "studies/training/measured_gpts.hpp"
#include "studies/training/measured_steps.hpp"
#include "workloads/program/step_facts.hpp"

namespace c3 { inline namespace studies {

/// A step that somebody ran: it had room.
struct RanStep {
  std::string name;                                 ///< "simumax tp2 m4"
  StepFacts facts;                                  ///< unsimulated
  std::optional<Bytes> in_use = {}, reserved = {};  ///< measured
};

/// \param gpts rows of tables of GPTs, each the step that step_of makes of \p frame
/// \throws ConfigError, IoError
std::vector<RanStep> steps_that_ran(const std::vector<MeasuredStep>& steps,
                                    std::initializer_list<const std::vector<MeasuredGpt>*> gpts,
                                    const Experiment& frame);

StudySection memory_verdicts(const std::vector<RanStep>& ran, const PublishedFigures& published);

}}  // namespace c3::studies
