#include "studies/figure_line.hpp"

namespace c3 { inline namespace studies {

StudyLine figure_line(const PublishedFigures& published, std::string_view id, std::string label,
                      std::optional<double> value, std::vector<std::pair<std::string, double>> beside) {
  return {.figure = {.reference = published.find(id), .simulated = value},
          .label = std::move(label),
          .beside = std::move(beside)};
}

}}  // namespace c3::studies
