#pragma once
/// Sections of a study with code: the code finds numbers, under every draw of what is uncertain, and tables of
/// the study's card make figures of them.

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "configs/presets/study_card.hpp"
#include "studies/cases/cells.hpp"
#include "studies/figure.hpp"
#include "studies/published_figures.hpp"
#include "studies/study.hpp"

namespace c3 { inline namespace studies {

using NamedNumbers = std::map<std::string, double>;

struct Found {
  std::vector<NamedNumbers> nominal;     ///< under nominal values, by seed: at least one, whose mean is shown
  std::vector<NamedNumbers> draws = {};  ///< under each draw, whose median is shown; may be empty
  Places texts = {};                     ///< that headings, labels and notes may name beside columns
  std::size_t rows = 0;                  ///< measurements that it is made of
};
/// What was found, by the name that a table's `found` has.
using FoundNumbers = std::map<std::string, Found>;

/// What all figures of some found numbers have in common.
struct FoundRole {
  std::string id = {}, heading = {};  ///< stand before ids and headings
  FigureKind kind = FigureKind::predicted;
};

/// A value for the nominal case and for each draw.
struct DrawnValue {
  double nominal = 0.0;
  std::vector<double> by_draw = {};  ///< empty without draws

  double median() const;  ///< over draws; without draws the nominal value
};

/// A line of \p value, with percentiles and the nominal value where there are draws.
StudyLine drawn_line(Figure figure, std::string label, const DrawnValue& value);

/// The sections of those tables of \p study whose `found` is there, in their order. Rows of which nothing was
/// found are left out, and columns beside figures that name a number which is not there.
/// \throws ConfigError for a row, a formula or an id that is wrong, with its place
StudyReport found_sections(const StudyCard& study, const FoundNumbers& found, const PublishedFigures& published,
                           const FoundRole& role = {});

}}  // namespace c3::studies
