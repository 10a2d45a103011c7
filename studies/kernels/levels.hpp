#pragma once
/// What a study says of many products that were taken from tables; their GPUs were in the fits.

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "studies/kernels/protocol.hpp"
#include "studies/study.hpp"

namespace c3 { inline namespace studies {

using TakenFilter = std::function<bool(const TakenRow&)>;

/// The mean absolute error of the rows that \p filter accepts.
StudyLine mean_error(PublishedFigure reference, std::string label, std::span<const TakenRow> rows,
                     const TakenFilter& filter);

/// The mean of predicted / measured - 1, in percent; p5 and p95 by a bootstrap over rows. Absent without rows.
StudyLine signed_error(PublishedFigure reference, std::string label, std::span<const TakenRow> rows,
                       const TakenFilter& filter);

struct Medians {
  std::vector<double> here;      ///< computed
  std::vector<double> measured;  ///< as many
};
/// How far the median of what was computed lies above the measured one, in percent of the latter (\p relative)
/// or in points. The two go row by row, as does the bootstrap that gives p5 and p95.
StudyLine median_against(PublishedFigure reference, std::string label, const Medians& medians, bool relative);

}}  // namespace c3::studies
