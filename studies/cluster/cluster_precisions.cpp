// Which of two recipes of precision is faster, here and measured.

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "studies/cluster/cluster_part.hpp"
#include "studies/training/step_numbers.hpp"
#include "workloads/models/precision/recipe.hpp"

namespace c3 { inline namespace studies {
namespace {

/// A row's name in two: "26.02 GB300" and "nvfp4"; without a recipe at its end it is one of 16 bits.
struct NamedRow {
  std::string_view layout, recipe;
};
NamedRow named(std::string_view row) {
  const std::size_t space = row.rfind(' ');
  const std::string_view last = space == std::string_view::npos ? std::string_view() : row.substr(space + 1);
  for (const PrecisionRecipe recipe : kPrecisionRecipes)
    if (name_of(recipe) == last) return {row.substr(0, space), last};
  return {row, name_of(PrecisionRecipe::in_16_bits)};
}

}  // namespace

StudySection ClusterStepsPart::precisions(const PublishedFigures& published) const {
  StudySection section{.heading = "Recipes of precision: speed over that of the other",
                       .lines = {},
                       .notes = {"published: measured; layouts differ where the table's do."},
                       .value = "here",
                       .decimals = 3};
  std::size_t pairs = 0, right = 0;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    for (std::size_t j = i + 1; j < rows_.size(); ++j) {
      const Row &one = rows_[i], &other = rows_[j];
      const NamedRow first = named(one.reference.row), second = named(other.reference.row);
      const bool is_pair = one.reference.set == other.reference.set && first.layout == second.layout &&
                           first.recipe != second.recipe;
      if (!is_pair || !one.here || !other.here) continue;
      const double measured = other.reference.measured / one.reference.measured,
                   here = other.here->time / one.here->time;
      ++pairs;
      if ((measured > 1.0) == (here > 1.0)) ++right;
      StudyLine line{.figure = {.reference = published.find(fmt::format("precision.{}.{}", i, j))},
                     .label = fmt::format("{}, {}: {} over {}", one.reference.set, first.layout, first.recipe,
                                          second.recipe),
                     .rows = 2};
      line.figure.simulated = here;
      line.beside.emplace_back("measured", measured);
      section.lines.push_back(std::move(line));
    }
  }
  if (pairs == 0) return section;
  StudyLine line{.figure = {.reference = published.find("precision.ranked")},
                 .label = "pairs that are ranked as measured [%]",
                 .rows = pairs};
  line.figure.simulated = kPercent * static_cast<double>(right) / static_cast<double>(pairs);
  section.lines.insert(section.lines.begin(), std::move(line));
  return section;
}

}}  // namespace c3::studies
