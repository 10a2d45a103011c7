#pragma once
/// One figure of a study: a number that others published, or a limit that we set ourselves, beside ours.

#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace c3 { inline namespace studies {

/// How a figure is judged.
enum class Gate {
  band,   ///< simulated within low .. high, where both come from a tolerance
  range,  ///< the same, where both were published
  order,  ///< as band, of a figure that says which of several is best
  exact,  ///< simulated equals published
  none,   ///< shown and not judged
};
inline constexpr std::array<std::string_view, 5> kGateNames = {"band", "range", "order", "exact", "none"};
std::string_view name_of(Gate gate);

/// What simulating it took from measurements of the same thing.
enum class FigureKind {
  predicted,  ///< nothing: isolated measurements of other things, and data sheets
  fitted,     ///< parameters were set from rows of the same source and the same GPU
  input,      ///< it is an input, shown for completeness
};
std::string_view name_of(FigureKind kind);

/// What is known of a figure before anything is simulated: a row of studies/STUDY/published.csv.
struct PublishedFigure {
  std::string id;    ///< words with dots between, the most general first
  std::string unit;  ///< of all its numbers
  std::optional<double> published = {};
  std::optional<double> low = {};  ///< of the gate; absent: no limit on this side
  std::optional<double> high = {};
  Gate gate = Gate::none;
  std::string known_miss = {};  ///< why it cannot be met, or what is wrong with it; empty: nothing known
  std::string source;           ///< citation
};

struct Figure {
  PublishedFigure reference;
  FigureKind kind = FigureKind::predicted;
  std::optional<double> simulated = {};  ///< absent: could not be computed
  std::optional<double> p5 = {},
                        p95 = {};  ///< percentiles of `simulated`, under what is uncertain in the study
};

/// Absent without a gate. A gated figure that could not be computed has not passed.
std::optional<bool> passes(const Figure& figure);

}}  // namespace c3::studies
