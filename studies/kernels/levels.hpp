#pragma once
/// What a study says of many rows besides their mean absolute error.

#include <span>
#include <string>

#include "engine/units.hpp"
#include "studies/study.hpp"

namespace c3 { inline namespace studies {

/// Measured times and predicted ones, row by row.
struct TimePairs {
  std::vector<Seconds> measured;
  std::vector<Seconds> predicted;

  void add(Seconds is, Seconds here) {
    measured.push_back(is);
    predicted.push_back(here);
  }
};

/// The mean of predicted / measured - 1, in percent; p5 and p95 by a bootstrap over rows. Absent without rows.
StudyLine signed_error(PublishedFigure of, FigureKind kind, std::string label, const TimePairs& pairs);

/// By how much the median of \p values lies above that of \p beside, times \p unit: 100 for percent of the
/// latter
/// (\p relative) or for points. The two go row by row, as does the bootstrap that gives p5 and p95.
struct Medians {
  std::vector<double> here;      ///< computed
  std::vector<double> measured;  ///< as many
};
StudyLine median_against(PublishedFigure of, FigureKind kind, std::string label, const Medians& medians,
                         bool relative);

}}  // namespace c3::studies
