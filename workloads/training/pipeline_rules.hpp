#pragma once
/// What a pipeline requires of the rest of a training step, and its schedule.

#include <optional>
#include <string>

#include "workloads/training/setup.hpp"

namespace c3::inline workloads {

/// A rule of layouts that a step breaks.
struct BrokenRule {
  std::string key;  ///< of [training], at which to say so
  std::string what;
};

/// The first one that \p setup breaks on \p ranks ranks; nullopt: none.
std::optional<BrokenRule> broken_pipeline_rule(const TrainingSetup& setup, int ranks);

/// Why the streams of a step of \p setup cannot run one after another: a receive that is launched ahead of the
/// passes that it overlaps would wait for what they make. Empty: they can.
std::string why_never_serial(const TrainingSetup& setup);

/// \pre \p setup breaks no rule
PipelineSchedule schedule_of(const TrainingSetup& setup);

}  // namespace c3::workloads
