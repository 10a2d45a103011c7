#pragma once
/// The schedule of a step: between processes as text, and as a section of a page.

#include <string>

#include "workloads/explain/rank_schedule.hpp"

namespace c3 { inline namespace app {

std::string schedule_json(const StepSchedule& schedule);
StepSchedule schedule_of_json(const std::string& text);

/// \param part of a step that was recorded; empty: all. Empty where nothing is scheduled.
std::string schedule_section(const StepSchedule& schedule, const std::string& part);
extern const char* const kScheduleStyle;

}}  // namespace c3::app
