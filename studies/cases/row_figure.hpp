#pragma once
/// What a row of cases is a figure of.

#include <string>

#include "configs/presets/study_card.hpp"
#include "studies/cases/cells.hpp"
#include "studies/figure.hpp"
#include "studies/published_figures.hpp"

namespace c3 { inline namespace studies {

/// Whether the `where` of \p table leaves the row out: filled with \p cells it is empty, or a comparison of
/// texts that is false. \throws ConfigError
bool is_left_out(const StudyTable& table, const Cells& cells);

/// \throws ConfigError at the row for an id that no row of the published figures begins with
PublishedFigure figure_of(const PublishedFigures& published, const std::string& id, const Cells& cells);

/// What the card says of figures with this label; \p otherwise where it says nothing.
FigureKind kind_of(const StudyTable& table, const std::string& label,
                   FigureKind otherwise = FigureKind::predicted);

}}  // namespace c3::studies
