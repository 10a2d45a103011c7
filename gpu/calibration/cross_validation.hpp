#pragma once
/// Predictions of rows that the fit has not seen: the error to report is theirs.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "engine/units.hpp"
#include "gpu/calibration/row_groups.hpp"

namespace c3 {

/// What a fit may see, and what it is then asked to predict. No row is in both.
struct Split {
  Rows fitted;
  Rows held_out;
};

/// \p folds splits that hold out each row once, all rows of a key (a hash of the kernel's shape) together, so
/// that no shape is predicted from its own measurement on another GPU. \p keys: shape [rows]. Keys are dealt in
/// random order, each to the fold with the fewest rows so far. Same seed, same splits.
/// \throws std::invalid_argument when folds < 2 or there are fewer keys than folds.
std::vector<Split> folds_by_key(std::span<const std::uint64_t> keys, std::size_t folds, std::uint64_t seed);

/// A split for each group (a GPU, in order of rising id) that holds out its rows and shows the fit all others.
/// \throws std::invalid_argument when there are fewer than two groups.
std::vector<Split> leave_one_group_out(std::span<const std::uint64_t> groups);

/// \p draws splits that show the fit \p count random rows of \p rows and hold out the rest: how good is a
/// calibration (scale_of) from so few? Unlike folds, splits overlap.
/// \throws std::invalid_argument unless 1 <= count < rows.
std::vector<Split> few_rows(std::size_t rows, std::size_t count, std::size_t draws, std::uint64_t seed);

/// Parameters from the given rows and no others.
using FitRows = std::function<std::vector<double>(std::span<const std::size_t> rows)>;
/// Times of the given rows under the given parameters; `predicted` has the length of `rows`.
using PredictRows = std::function<void(std::span<const double> parameters, std::span<const std::size_t> rows,
                                       std::span<Seconds> predicted)>;

struct HeldOutPredictions {
  std::vector<Seconds> times;                   ///< shape [rows]: of each row by the fit that did not see it
  std::vector<std::vector<double>> parameters;  ///< shape [splits][parameters]: their spread is the fit's doubt
};

/// Fits once a split and predicts what it holds out. \p rows: of the whole table.
/// \throws std::invalid_argument when \p splits do not hold out each row exactly once; whatever \p fit and
/// \p predict throw.
HeldOutPredictions predict_held_out(std::span<const Split> splits, std::size_t rows, const FitRows& fit,
                                    const PredictRows& predict);

}  // namespace c3
