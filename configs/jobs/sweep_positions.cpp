#include "configs/jobs/sweep_positions.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>

namespace c3 { inline namespace configs {
namespace {

using Positions = std::vector<std::vector<double>>;

/// A coordinate for each text, half of the distance between two in each of theirs.
void add_texts(const std::vector<SweepCell>& cells, Positions& positions) {
  std::set<std::string> texts;
  for (const SweepCell& cell : cells)
    texts.insert(std::get<std::string>(cell.value));
  for (const std::string& text : texts) {
    for (std::size_t i = 0; i < cells.size(); ++i)
      positions[i].push_back(std::get<std::string>(cells[i].value) == text ? 0.5 : 0.0);
  }
}

void add_numbers(const std::vector<SweepCell>& cells, Positions& positions) {
  std::set<double> numbers;
  for (const SweepCell& cell : cells)
    numbers.insert(cell.number());
  const bool has_logarithms = *numbers.begin() > 0.0;
  const auto place = [&](double number) {
    return has_logarithms ? std::log(number)
                          : static_cast<double>(std::distance(numbers.begin(), numbers.find(number)));
  };
  const double low = place(*numbers.begin()), span = place(*numbers.rbegin()) - low;
  for (std::size_t i = 0; i < cells.size(); ++i)
    positions[i].push_back(span > 0.0 ? (place(cells[i].number()) - low) / span : 0.0);
}

}  // namespace

Positions positions_of(const Sweep& sweep) {
  Positions positions(sweep.points().size());
  for (std::size_t axis = 0; axis < sweep.names().size(); ++axis) {
    std::vector<SweepCell> cells;
    for (const SweepPoint& point : sweep.points())
      cells.push_back(sweep.cells(point)[axis]);
    cells.front().is_text() ? add_texts(cells, positions) : add_numbers(cells, positions);
  }
  return positions;
}

}}  // namespace c3::configs
