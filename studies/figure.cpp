#include "studies/figure.hpp"

namespace c3 { inline namespace studies {

std::string_view name_of(Gate gate) { return kGateNames.at(static_cast<std::size_t>(gate)); }

std::string_view name_of(FigureKind kind) {
  switch (kind) {
    case FigureKind::predicted:
      return "predicted";
    case FigureKind::fitted:
      return "fitted";
    case FigureKind::input:
      return "input";
  }
  return "";
}

std::optional<bool> passes(const Figure& figure) {
  const PublishedFigure& reference = figure.reference;
  if (reference.gate == Gate::none) return std::nullopt;
  if (!figure.simulated) return false;
  if (reference.gate == Gate::exact) return figure.simulated == reference.published;
  return (!reference.low || *figure.simulated >= *reference.low) &&
         (!reference.high || *figure.simulated <= *reference.high);
}

}}  // namespace c3::studies
