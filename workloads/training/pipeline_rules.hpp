#pragma once
/// What a pipeline requires of the rest of a training step, and its schedule.

#include <string>

#include "workloads/training/broken_rules.hpp"
#include "workloads/training/setup.hpp"

namespace c3 { inline namespace workloads {

/// Rules for pipelines that \p setup breaks on \p ranks ranks.
BrokenRules broken_pipeline_rules(const TrainingSetup& setup, int ranks);

/// Why the streams of a step of \p setup cannot run one after another: a receive that is launched ahead of the
/// passes that it overlaps would wait for what they make. Empty: they can.
std::string why_never_serial(const TrainingSetup& setup);

/// \pre \p setup breaks no rule
PipelineSchedule schedule_of(const TrainingSetup& setup);

/// How many micro-batches of \p setup do together what the next ones do, see ProgramFamily.
std::int64_t micro_batch_period(const TrainingSetup& setup);

}}  // namespace c3::workloads
