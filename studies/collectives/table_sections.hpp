#pragma once
/// What tables of measured collectives come to.

#include <deque>
#include <string>
#include <vector>

#include "studies/collectives/table_run.hpp"
#include "studies/study.hpp"

namespace c3 { inline namespace studies {

/// The median of \p errors (in percent, signed) without their signs; the 90th percentile and the bias stand
/// beside it. Without errors there is no figure.
StudyLine error_line(PublishedFigure reference, FigureKind kind, std::string label,
                     const std::vector<double>& errors);

/// Times and peak bus bandwidths by table; over all tables that set nothing, over groups of these and over
/// all that set a parameter; how far measurements of the same hardware in two files are apart: what predicts
/// both is off by half of that from one of them; and what libraries' choices cost, where a map leaves the
/// choice to them. Sections without lines are left out.
StudyReport table_sections(const std::deque<TableRun>& tables, const PublishedFigures& published);

}}  // namespace c3::studies
