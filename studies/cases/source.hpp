#pragma once
/// The sources of the numbers of a row of cases: an experiment that is simulated, or a command of c3sim.

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "configs/presets/study_card.hpp"
#include "studies/cases/cells.hpp"

namespace c3 { inline namespace studies {

/// What the row \p cells of \p table simulates or asks; empty where the table does neither.
/// An experiment gives what `c3sim run` prints, see numbers_of_run. A command gives what its JSON answer has,
/// see numbers_of_answer. \param data folder of the measured tables. \throws ConfigError for a wrong experiment
NumberSource source_of(const StudyCard& study, const StudyTable& table, const Cells& cells,
                       const std::filesystem::path& data);

/// Numbers of a JSON text: each by the keys that lead to it, `rows.0.time_us`; true is 1 and false 0. An
/// element of an array is called by its `name` where it has one, else by its place from 0; one that
/// begins with a text also by that, `classes.gemm.count`. Letters that formulas cannot have in names are `_`.
/// \throws JsonError
std::map<std::string, double> numbers_of_answer(std::string_view json);

}}  // namespace c3::studies
